//! Openings with data that were reset before they were acknowledged.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, SECOND};

/// Time for which such an opening counts as pending.
const COUNTED_FOR_NS: u64 = 60 * SECOND;

/// Openings whose data was taken, and that a reset ended: the host at that address may have sent none, and
/// know nothing of the connection. If its resets made room, whoever has its cookie and forges its address
/// would meet no bound. So they count among the pending ones for a while [RFC 7413 5.1]; therefore there are
/// no more of them than pending ones at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Disowned(VecDeque<Instant>);

impl Disowned {
    /// One more was reset now.
    pub(super) fn add(&mut self, now: Instant) {
        self.0.push_back(now);
    }

    /// Number of those that count still.
    pub(super) fn count(&mut self, now: Instant) -> usize {
        while self.0.front().is_some_and(|&at| now.since(at) >= COUNTED_FOR_NS) {
            self.0.pop_front();
        }
        self.0.len()
    }
}
