//! POLLs: when the receiver is asked for a status at once, and asked again.

use skyhaul_core::Instant;

/// Questions of a stopped sender take one part in so many of the declared rate at most: data waits for what
/// they took.
const STOPPED_PART: u64 = 20;

/// Policy of POLLs. The paper's window is that of UTL, which no relay sees: the window here is that of the
/// satellite hop itself. A sender that is stopped polls, too: a lost RESUME_TX stops nothing for ever.
#[derive(Clone, Debug)]
pub(super) struct Polling {
    /// Part of the window in use from which on it asks, percent.
    percent: Option<u8>,
    /// Time after which it asks again: `RTT_sat`.
    rtt_ns: u64,
    /// When it asks again, while a POLL is not answered.
    again_at: Option<Instant>,
    /// When the last POLL left.
    last_at: Option<Instant>,
}

impl Polling {
    pub(super) fn new(percent: Option<u8>, rtt_ns: u64) -> Self {
        Self { percent, rtt_ns, again_at: None, last_at: None }
    }

    /// True if so much of the window is in use that the receiver is asked.
    pub(super) fn is_window_short(&self, used_pdus: usize, window_pdus: usize) -> bool {
        self.percent.is_some_and(|percent| used_pdus * 100 > window_pdus * usize::from(percent))
    }

    /// When the next POLL is due. `wants`: there is a reason to ask; `waits`: something is not confirmed.
    pub(super) fn due(&self, now: Instant, wants: bool, waits: bool) -> Option<Instant> {
        match self.again_at {
            Some(at) => (wants || waits).then(|| at.max(now)),
            None => wants.then_some(now),
        }
    }

    /// Earliest moment for a POLL of a stopped sender, whether the last one is answered or not. A POLL takes
    /// `poll_ns` at the declared rate, which has room for one from `grant` on: it is a round trip ahead of
    /// that at most.
    pub(super) fn stopped_at(&self, poll_ns: u64, grant: Option<Instant>) -> Instant {
        let apart_ns = self.rtt_ns.max(poll_ns.saturating_mul(STOPPED_PART));
        let after_last = self.last_at.map_or(Instant::ZERO, |at| at.after(apart_ns));
        grant.map_or(after_last, |grant| after_last.max(grant.before(self.rtt_ns)))
    }

    /// Takes in that a POLL leaves now.
    pub(super) fn on_polled(&mut self, now: Instant) {
        self.last_at = Some(now);
        self.again_at = Some(now.after(self.rtt_ns));
    }

    /// Takes in a solicited status, whichever POLL it answers.
    pub(super) fn on_solicited(&mut self) {
        self.again_at = None;
    }
}
