//! Proportional rate reduction [RFC 6937 3, RFC 9937]: a repair sends in proportion to what arrives, so that the
//! window shrinks over a round trip. Without it, what a burst of losses takes out of the pipe goes again at
//! once, into a queue that is still full.

use super::Connection;

/// The reduction that goes with a repair. All in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// `ssthresh`: what is under way in the end.
    goal: u64,
    /// `RecoverFS`: what was under way at its begin.
    flight: u64,
    delivered: u64,
    sent: u64,
    /// `sndcnt`: what may leave now.
    allowed: u64,
}

impl Reduction {
    fn new(goal: u64, flight: u64) -> Self {
        Self { goal, flight: flight.max(1), delivered: 0, sent: 0, allowed: 0 }
    }

    /// An acknowledgement told that `newly` arrived; `pipe` is under way. `advances`: also in sequence, so that
    /// the repair works and the pipe may be filled by slow start.
    fn on_delivered(&mut self, newly: u64, pipe: u64, mss: u64, advances: bool) {
        self.delivered += newly;
        let conserved = self.delivered.saturating_sub(self.sent);
        self.allowed = if pipe > self.goal {
            let share = u128::from(self.delivered) * u128::from(self.goal);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.sent)
        } else {
            let limit = if advances { conserved.max(newly) + mss } else { conserved };
            limit.min(self.goal - pipe)
        };
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
        self.allowed = self.allowed.saturating_sub(bytes);
    }

    pub(super) fn allowed_bytes(&self) -> u64 {
        self.allowed
    }
}

impl Connection {
    /// For a repair that begins; the controller has answered.
    pub(super) fn new_reduction(&self) -> Option<Reduction> {
        let is_wanted = self.config.rate_reduction && self.agreed.sack && !self.controller.conserves();
        let flight_bytes = self.sending.nxt - self.sending.una;
        is_wanted.then(|| Reduction::new(self.controller.window_bytes(), flight_bytes))
    }

    /// What the peer is known to have: grows by what each acknowledgement delivers.
    pub(super) fn known_bytes(&self) -> u64 {
        self.sending.una + self.sending.board.bytes_below(self.sending.max)
    }

    /// An acknowledgement was read; before it, the peer was known to have `known_bytes`, up to `una` in sequence.
    pub(super) fn reduce(&mut self, known_bytes: u64, una: u64) {
        let newly = self.known_bytes().saturating_sub(known_bytes);
        let (pipe, mss, advances) = (self.flight_bytes(), self.mss_bytes, self.sending.una > una);
        if let Some(reduction) = self.repair.as_mut().and_then(|repair| repair.reduction.as_mut()) {
            reduction.on_delivered(newly, pipe, mss, advances);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_the_goal_half_of_what_arrives_leaves() {
        let mut reduction = Reduction::new(10_000, 20_000);
        reduction.on_delivered(1000, 17_000, 1000, false);
        assert_eq!(reduction.allowed_bytes(), 500);
        reduction.on_delivered(1000, 16_000, 1000, false);
        assert_eq!(reduction.allowed_bytes(), 1000);
        reduction.on_sent(1000);
        assert_eq!(reduction.allowed_bytes(), 0);
    }

    #[test]
    fn below_the_goal_as_much_leaves_as_arrives_and_more_once_the_repair_works() {
        let mut reduction = Reduction::new(10_000, 20_000);
        reduction.on_delivered(3000, 4000, 1000, false);
        assert_eq!(reduction.allowed_bytes(), 3000, "not the 6000 that the losses took out of the pipe");
        reduction.on_sent(3000);
        reduction.on_delivered(1000, 6000, 1000, true);
        assert_eq!(reduction.allowed_bytes(), 2000);
        reduction.on_delivered(1000, 9500, 1000, true);
        assert_eq!(reduction.allowed_bytes(), 500, "never beyond the goal");
    }
}
