//! Gaps that the peer has told of, and that it therefore need not tell again: each STAT then carries what is
//! new and what was repeated in vain, instead of every gap until its repeat has arrived (`docs/spec/stp.md`,
//! 6.5).

use super::{Missing, PollRecord};

/// Reach of the STATs that were read, without a hole.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportedGaps {
    /// Number below which whatever was missing has been told.
    to: u64,
    /// Parts of a STAT that were read in order: its echo, and how far they reach.
    parts: Option<(u32, u64)>,
    /// A STAT was lost that told of packets from `to` on. The next one is to tell everything.
    has_hole: bool,
}

impl ReportedGaps {
    /// Reach before the first STAT about packets from `initial` on.
    pub(super) fn new(initial: u64) -> Self {
        Self { to: initial, parts: None, has_hole: false }
    }

    /// Takes the answer to `poll`, or a part of it.
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

    /// Number below which everything that was told to be missing was sent again, if `first_queued` is the
    /// first packet that waits for it; `None`: all has to be told.
    pub(super) fn settled(&self, first_queued: Option<u64>) -> Option<u64> {
        (!self.has_hole).then(|| first_queued.map_or(self.to, |queued| queued.min(self.to)))
    }
}

#[cfg(test)]
#[path = "reported_gaps_tests.rs"]
mod tests;
