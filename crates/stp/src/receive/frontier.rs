//! Frontier of the peer's numbers: how far it has come as far as that is known, and what lies so far beyond
//! that a stranger who guesses may have made it up.

use super::Assembly;
use crate::segment::{Poll, is_newer};

/// Packets in front of a number that may have been lost: as many as leave 2^32 guesses to whoever sees
/// nothing.
const MAX_UNSEEN: u64 = 256;

/// Newest POLL, and how far it says that the peer has come.
#[derive(Clone, Debug)]
pub(super) struct Frontier {
    newest_poll: Option<u32>,
    /// Next number of the newest POLL.
    asked_to: u64,
}

impl Frontier {
    /// Frontier before packet `initial`.
    pub(super) fn new(initial: u64) -> Self {
        Self { newest_poll: None, asked_to: initial }
    }

    /// One past the highest number that the peer is known to have given out.
    pub(super) fn known(&self, assembly: &Assembly) -> u64 {
        assembly.known_to().max(self.asked_to)
    }

    /// True if a number is no further beyond the known ones than a few losses explain.
    pub(super) fn reaches(&self, number: u64, assembly: &Assembly) -> bool {
        number < self.known(assembly) + MAX_UNSEEN
    }

    /// True if the POLL is newer than those before.
    pub(super) fn is_newer(&self, poll: &Poll) -> bool {
        self.newest_poll.is_none_or(|newest| is_newer(poll.timestamp, newest))
    }

    /// True if the peer's next new number was higher before: a newer POLL, or an END, cannot say so.
    pub(super) fn is_behind(&self, next: u64) -> bool {
        next < self.asked_to
    }

    /// Takes a newer POLL, whose next number is `next`.
    pub(super) fn note_poll(&mut self, poll: &Poll, next: u64) {
        self.newest_poll = Some(poll.timestamp);
        self.asked_to = next;
    }
}
