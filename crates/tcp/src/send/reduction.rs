//! Proportional rate reduction [RFC 6937 3, RFC 9937]: a repair sends in proportion to what arrives, so that
//! the window shrinks over a round trip. Without it, what a burst of losses takes out of the pipe goes again
//! at once, into a queue that is still full.

/// Reduction that goes with a repair. All in bytes.
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
    pub(super) fn new(goal: u64, flight: u64) -> Self {
        Self { goal, flight: flight.max(1), delivered: 0, sent: 0, allowed: 0 }
    }

    /// Acknowledgement of `newly` bytes while `pipe` is under way. `advances`: also in sequence, so that the
    /// repair works and the pipe may be filled by slow start.
    pub(super) fn on_delivered(&mut self, newly: u64, pipe: u64, mss: u64, advances: bool) {
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
