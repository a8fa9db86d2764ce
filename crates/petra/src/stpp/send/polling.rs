//! POLLs: when the receiver is asked for a status at once, and asked again.

use skyhaul_core::Instant;

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
}

impl Polling {
    pub(super) fn new(percent: Option<u8>, rtt_ns: u64) -> Self {
        Self { percent, rtt_ns, again_at: None }
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

    /// Takes in that a POLL leaves now.
    pub(super) fn on_polled(&mut self, now: Instant) {
        self.again_at = Some(now.after(self.rtt_ns));
    }

    /// Takes in a solicited status, whichever POLL it answers.
    pub(super) fn on_solicited(&mut self) {
        self.again_at = None;
    }
}
