//! Loss events, told by time: for engines whose packets are repeated under the same number.

use skyhaul_core::Instant;

/// Last loss event that was answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossEvents {
    answered_until: Option<Instant>,
    is_open: bool,
}

impl LossEvents {
    /// True if losses noticed now, of packets last sent at `newest_sent_at` or before, begin an event: what
    /// was sent before the last one was noticed belongs to that one.
    pub fn begins(&mut self, now: Instant, newest_sent_at: Instant) -> bool {
        let is_new = self.answered_until.is_none_or(|until| newest_sent_at > until);
        if is_new {
            (self.answered_until, self.is_open) = (Some(now), true);
        }
        is_new
    }

    /// True, once, if the last event ends: the oldest packet that is not acknowledged was sent after it.
    pub fn ends(&mut self, oldest_sent_at: Instant) -> bool {
        let ends = self.is_open && self.answered_until.is_some_and(|until| oldest_sent_at > until);
        self.is_open &= !ends;
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_before_the_answer_belongs_to_the_event() {
        let mut events = LossEvents::default();
        let mut begins = |now, sent_at| events.begins(Instant::from_ns(now), Instant::from_ns(sent_at));
        assert!(begins(10, 9));
        assert!(!begins(20, 10));
        assert!(begins(20, 11));
        assert!(!begins(21, 20));
        let mut ends = |sent_at| events.ends(Instant::from_ns(sent_at));
        assert_eq!([ends(20), ends(21), ends(22)], [false, true, false], "once");
    }
}
