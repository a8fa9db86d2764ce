//! Allowance of answers in time: what a flood of questions can cost.

use skyhaul_core::Instant;

/// Time spent on answers, each of which costs some. A quiet end saves `BURST_NS` of it at most, in
/// nanoseconds: so much may be spent at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance<const BURST_NS: u64> {
    /// Moment from which on nothing is owed any more.
    settled_at: Instant,
}

impl<const BURST_NS: u64> Allowance<BURST_NS> {
    /// When the next answer may leave: in the past if at once.
    pub(crate) fn ready_at(self) -> Instant {
        self.settled_at.before(BURST_NS)
    }

    /// Takes in that an answer leaves that costs so much.
    pub(crate) fn spend(&mut self, now: Instant, cost_ns: u64) {
        self.settled_at = self.settled_at.max(now).after(cost_ns);
    }

    /// Spends so much on an answer, if it may leave now: false if not.
    pub(crate) fn take(&mut self, now: Instant, cost_ns: u64) -> bool {
        let may = self.ready_at() <= now;
        if may {
            self.spend(now, cost_ns);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::SECOND;

    use super::*;

    #[test]
    fn answers_are_as_many_as_a_burst_and_the_time_allow() {
        const COST_NS: u64 = SECOND / 1000;
        let mut allowance = Allowance::<{ 50 * COST_NS }>::default();
        let start = Instant::from_ns(7 * SECOND);
        let mut taken = |from_ns: u64, every_ns: u64, asked: u64| {
            let moments = (0..asked).map(|i| start.after(from_ns + i * every_ns));
            moments.filter(|&now| allowance.take(now, COST_NS)).count()
        };
        assert_eq!(taken(0, 0, 1000), 51, "at once");
        let in_a_second = taken(1, COST_NS / 40, 40_000);
        assert!((999..=1000).contains(&in_a_second), "{in_a_second} of 40,000");
        assert_eq!(taken(2 * SECOND, 0, 1000), 51, "saved in the meantime, and no more than that");
    }
}
