//! Replies of the receiver, gathered: its way back may be as thin as 1 kbit/s.
//!
//! News of delivered files goes out at most once a second, for all files that were delivered since. The
//! first is told at once, so is the last, and so is half a window, so that the sender is not held up.

use std::time::Duration;

use tokio::time::Instant;

use crate::codec::{ChunkRange, Reply, receipt};
use crate::digest::Digest;
use crate::limits::WINDOW_FILES;
use crate::outbox::Outbox;
use crate::reason::Reason;

/// The least time between two records that tell of delivered files.
const SPACING: Duration = Duration::from_secs(1);

/// Replies that wait to be sent.
#[derive(Default)]
pub(crate) struct Replies {
    pub(crate) out: Outbox,
    delivered: Vec<(u32, Digest)>,
    next_allowed: Option<Instant>,
    hurry: bool,
}

impl Replies {
    /// A file is verified and stored.
    pub(crate) fn delivered(&mut self, file: u32, digest: Digest) {
        self.delivered.push((file, digest));
        self.hurry |= self.delivered.len() >= WINDOW_FILES / 2;
    }

    /// A file is refused or failed.
    pub(crate) fn failed(&mut self, file: u32, reason: Reason) {
        self.out.put(&Reply::Failed { reason }.encode(file));
    }

    /// Chunks are wanted again.
    pub(crate) fn again(&mut self, file: u32, ranges: Vec<ChunkRange>) {
        self.out.put(&Reply::Again { ranges }.encode(file));
    }

    /// The session is over.
    pub(crate) fn stop(&mut self, reason: Reason) {
        self.release(Instant::now());
        self.out.put(&Reply::Stop { reason }.encode(0));
    }

    /// Every file has its result: nothing is held back any more.
    pub(crate) fn hurry(&mut self) {
        self.hurry = true;
    }

    /// True if no reply waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.delivered.is_empty() && !self.out.wants()
    }

    /// When [`Replies::release`] is due, if it is at all.
    pub(crate) fn due(&self) -> Option<Instant> {
        let allowed = self.next_allowed.filter(|_| !self.hurry);
        (!self.delivered.is_empty()).then(|| allowed.unwrap_or_else(Instant::now))
    }

    /// Tells of the files that were delivered: one record for each run of neighbours.
    pub(crate) fn release(&mut self, now: Instant) {
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.sort_unstable_by_key(|(file, _)| *file);
        for run in delivered.chunk_by(|(one, _), (next, _)| one + 1 == *next) {
            let receipt = receipt(run.iter().map(|(_, digest)| digest));
            self.out.put(&Reply::Delivered { count: run.len() as u32, receipt }.encode(run[0].0));
        }
        self.next_allowed = Some(now + SPACING);
        self.hurry = false;
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
