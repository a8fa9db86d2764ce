//! Persist timer: probes of a closed window, or of one too small to bother [RFC 9293 3.8.6.1].

use skyhaul_core::Instant;

/// Timer of what waits for the peer's window.
#[derive(Clone, Debug, Default)]
pub(super) struct Persist {
    due: Option<Instant>,
    tries: u32,
    /// Probes since the peer was heard, and the moment of the first of them.
    unanswered: u32,
    asked_at: Option<Instant>,
}

impl Persist {
    /// Moment of the next probe, if it runs.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Moment at which the peer is given up: more than `max_repeats` probes were not answered.
    pub(super) fn gives_up_at(&self, max_repeats: u32) -> Option<Instant> {
        self.due.filter(|_| self.unanswered > max_repeats)
    }

    /// Moment of the first probe that was not answered.
    pub(super) fn asked_at(&self) -> Option<Instant> {
        self.asked_at
    }

    /// Starts, unless it runs; true if it did.
    pub(super) fn arm(&mut self, due: Instant) -> bool {
        let starts = self.due.is_none();
        self.due.get_or_insert(due);
        starts
    }

    /// Stops; true if it ran.
    pub(super) fn stop(&mut self) -> bool {
        self.tries = 0;
        self.due.take().is_some()
    }

    /// An acknowledgement came.
    pub(super) fn heard(&mut self) {
        (self.unanswered, self.asked_at) = (0, None);
    }

    /// A probe was sent: twice as long to the next.
    pub(super) fn tried(&mut self, now: Instant, first_ns: u64, max_ns: u64) {
        self.tries = (self.tries + 1).min(20);
        self.unanswered += 1;
        self.asked_at.get_or_insert(now);
        self.due = Some(now.after(first_ns.saturating_mul(1 << self.tries).min(max_ns)));
    }
}
