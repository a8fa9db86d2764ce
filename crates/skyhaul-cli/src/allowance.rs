//! Allowance of something by rate: so much at once, and so much in each second.

use skyhaul_core::{Instant, SECOND};

/// What was spent of an allowance and is not forgiven by time yet.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Amount that may be spent at once.
    burst: u64,
    /// Time that forgives one.
    unit_ns: u64,
    spent: u64,
    forgiven_at: Instant,
}

impl Allowance {
    /// Nothing is spent. `per_s` is at least 1 and at most 10^9.
    pub(crate) const fn new(burst: u64, per_s: u64) -> Self {
        Self { burst, unit_ns: SECOND / per_s, spent: 0, forgiven_at: Instant::ZERO }
    }

    /// Spends `amount`, whatever is left.
    pub(crate) fn spend(&mut self, amount: u64, now: Instant) {
        self.forgive(now);
        self.spent = self.spent.saturating_add(amount);
    }

    /// Time until something may be spent; 0: now.
    pub(crate) fn wait_ns(&mut self, now: Instant) -> u64 {
        self.forgive(now);
        match (self.spent + 1).saturating_sub(self.burst) {
            0 => 0,
            over => over.saturating_mul(self.unit_ns).saturating_sub(now.since(self.forgiven_at)),
        }
    }

    /// True if this amount may be spent. One that is larger than the burst may be while nothing is spent; it
    /// takes time until the next.
    pub(crate) fn has_room(&mut self, amount: u64, now: Instant) -> bool {
        self.forgive(now);
        self.spent == 0 || self.spent.saturating_add(amount) <= self.burst
    }

    fn forgive(&mut self, now: Instant) {
        let units = now.since(self.forgiven_at) / self.unit_ns;
        self.spent = self.spent.saturating_sub(units);
        self.forgiven_at = self.forgiven_at.after(units * self.unit_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_is_a_burst_and_then_a_rate() {
        let mut allowance = Allowance::new(100, 10);
        let at = |ms: u64| Instant::from_ns(ms * SECOND / 1000);
        for _ in 0..100 {
            assert!(allowance.has_room(1, at(0)));
            allowance.spend(1, at(0));
        }
        assert_eq!(allowance.wait_ns(at(0)), SECOND / 10);
        assert_eq!(allowance.wait_ns(at(60)), SECOND / 25);
        assert!(!allowance.has_room(1, at(99)) && allowance.has_room(1, at(100)));
        let mut spent = 0;
        for ms in 100..10_100 {
            if allowance.has_room(1, at(ms)) {
                allowance.spend(1, at(ms));
                spent += 1;
            }
        }
        assert_eq!(spent, 100, "10 s at 10 a second, whenever they are asked for");
    }

    #[test]
    fn a_large_amount_is_spent_and_takes_time_until_the_next() {
        let mut allowance = Allowance::new(10, 1000);
        allowance.spend(1010, Instant::ZERO);
        assert_eq!(allowance.wait_ns(Instant::ZERO), SECOND + SECOND / 1000);
        assert!(!allowance.has_room(10, Instant::from_ns(SECOND + 9 * SECOND / 1000)));
        assert!(allowance.has_room(1000, Instant::from_ns(SECOND + SECOND / 100)));
    }
}
