//! What the peer has told of missing packets, and what it therefore need not tell again: each STAT then carries what is
//! new and what was repeated in vain, instead of every gap until its repeat has arrived (`docs/spec/stp.md`, 6.5).

use super::Connection;
use super::reports::Missing;
use crate::config::RetransmitRule;
use crate::segment::{POLL_BYTES, Poll, SETTLED_BYTES};
use crate::send::PollRecord;

/// How far the STATs that were read reach without a hole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// Whatever was missing below this number has been told.
    to: u64,
    /// Parts of a STAT that were read in order: its echo, and how far they reach.
    parts: Option<(u32, u64)>,
    /// A STAT was lost that told of packets from `to` on. The next one is to tell everything.
    has_hole: bool,
}

impl Told {
    /// Before the first STAT about packets from `initial` on.
    pub(super) fn new(initial: u64) -> Self {
        Self { to: initial, parts: None, has_hole: false }
    }

    /// The answer to `poll` was read, or a part of it.
    pub(super) fn take(&mut self, poll: &PollRecord, missing: &Missing<'_>) {
        if missing.silent.packets > 0 {
            let resumes_at = missing.silent.first + missing.silent.packets;
            self.has_hole |= resumes_at > self.to;
        } else if missing.is_first_part() {
            self.has_hole = false;
        } else if self.parts != Some((poll.timestamp, missing.first_run)) {
            return;
        }
        self.parts = Some((poll.timestamp, missing.listed_to()));
        if !missing.report.more && !self.has_hole {
            self.to = poll.next;
        }
    }

    /// Below this number everything that was told to be missing was sent again, if `first_queued` is the first packet
    /// that waits for it; `None`: all has to be told.
    fn settled(&self, first_queued: Option<u64>) -> Option<u64> {
        (!self.has_hole).then(|| first_queued.map_or(self.to, |queued| queued.min(self.to)))
    }
}

impl Connection {
    /// Under a window the order of packets excuses some that are called missing: these have to be told again. While
    /// probing, every answer is evidence. And while the window holds repeats back, what became of others under way
    /// must be told, or neither would ever move.
    fn settled(&self) -> Option<u64> {
        let is_held_back =
            self.cache.queued_outside(self.coded_packets()).is_some() && self.queued_packet().is_none();
        let is_exact =
            self.is_rate_paced() && !is_held_back && self.config.retransmit == RetransmitRule::SentBeforePoll;
        let asks =
            self.config.incremental_stats && self.peer_takes_increments && is_exact && self.cycle.is_none();
        if asks { self.told.settled(self.cache.first_queued()) } else { None }
    }

    /// The body of a POLL that leaves now.
    pub(super) fn make_poll(&self, timestamp: u32) -> Poll {
        Poll {
            timestamp,
            next: skyhaul_core::wire(self.cache.next()),
            settled: self.settled().map(skyhaul_core::wire),
            spares_ustats: self.spares_ustats_here(),
        }
    }

    /// Losses cost repeats and, at the end, symbols; before the peer's opening is known it is taken to know these.
    fn spares_ustats_here(&self) -> bool {
        let codes = if self.opened { self.both_code } else { self.config.coded_tail };
        self.config.spares_ustats && self.is_rate_paced() && codes
    }

    /// Its length.
    pub(super) fn poll_bytes(&self) -> usize {
        POLL_BYTES + if self.settled().is_some() { SETTLED_BYTES } else { 0 }
    }
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
