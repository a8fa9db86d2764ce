//! Jumps to what trains show. A train that leaves back to back finds the whole rate of a path of which others
//! have a part: who takes all of that fills the queue, gives way, and begins again.

use skyhaul_core::Instant;

/// Round trips (of the empty path) within which a rate that does not last falls.
const PROBATION_RTTS: u64 = 8;
/// Part of the rate jumped to below which it did not last.
const LASTING_PART: f64 = 0.8;
/// Failures that count: each halves the part of what is missing that the next jump takes.
const MAX_FAILURES: u32 = 2;

/// Jumps of late: how far the next one goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jumps {
    /// Time of a jump that is on probation, and the rate jumped to.
    last: Option<(Instant, f64)>,
    failures: u32,
}

impl Jumps {
    /// Part of what trains show beyond the estimate that is taken.
    pub(super) fn part(&self) -> f64 {
        1.0 / f64::from(1_u32 << self.failures)
    }

    /// True while the last jumps have not lasted.
    pub(super) fn have_failed(&self) -> bool {
        self.failures > 0
    }

    /// Forgets the failures: nobody is there who made them.
    pub(super) fn forgive(&mut self) {
        self.failures = 0;
    }

    /// Takes in a jump to this estimate.
    pub(super) fn went(&mut self, now: Instant, estimate_bps: f64) {
        self.last.get_or_insert((now, estimate_bps));
    }

    /// Takes in the estimate of a report.
    pub(super) fn saw(&mut self, now: Instant, estimate_bps: f64, rtt_min_ns: u64) {
        let Some((at, jumped_bps)) = self.last else { return };
        if estimate_bps < jumped_bps * LASTING_PART {
            (self.last, self.failures) = (None, (self.failures + 1).min(MAX_FAILURES));
        } else if now.since(at) > PROBATION_RTTS.saturating_mul(rtt_min_ns) {
            (self.last, self.failures) = (None, self.failures.saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::MS;

    use super::*;

    #[test]
    fn jumps_that_do_not_last_become_shorter_and_those_that_do_longer() {
        const RTT_NS: u64 = 100 * MS;
        let mut jumps = Jumps::default();
        let mut at_ms = 0;
        let mut try_one = |estimate_bps: f64, after_ms: u64| {
            jumps.went(Instant::from_ns(at_ms * MS), 10e6);
            at_ms += after_ms;
            jumps.saw(Instant::from_ns(at_ms * MS), estimate_bps, RTT_NS);
            (1.0 / jumps.part()) as u32
        };
        assert_eq!([try_one(5e6, 300), try_one(5e6, 300), try_one(5e6, 300)], [2, 4, 4]);
        assert_eq!(try_one(9e6, 300), 4, "nothing is known yet");
        assert_eq!([try_one(9e6, 900), try_one(9e6, 900), try_one(9e6, 900)], [2, 1, 1]);
    }
}
