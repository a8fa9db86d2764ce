//! Growth while nothing is lost and nothing waits: whatever held the rate down, it does so no longer. A
//! policer may have been a neighbour, trains may find no room, and who was pushed down may be alone again.

use skyhaul_core::{Instant, Interval, PathSample};

use super::estimate::FULL_PART;
use super::rates::rate_bps;

/// Round trips (of the empty path) without loss and queue after which the rate is raised first.
pub(super) const QUIET_RTTS: u64 = 4;
/// Factor of the first raise. What fits is followed by one that adds twice as much, ...
const FIRST_FACTOR: f64 = 1.1;
/// ... up to this: what a raise loses is a part of it for a round trip and a half.
const MAX_FACTOR: f64 = 1.5;
/// Failures that count: each doubles the round trips of patience, up to 512.
const MAX_FAILURES: u32 = 7;

/// What a report says of the rate that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// All of it arrived, and nothing waited.
    Loose,
    /// Something was lost without a queue.
    Lossy,
    /// Something waited, or trains show what the path carries: how much is sent follows from that.
    Queued,
    /// It was not used.
    Unused,
}

impl Fit {
    /// What a report without a queue says of `bps`, at which is sent.
    pub(super) fn without_queue(long: &Interval, bps: f64) -> Self {
        if rate_bps(long.sent_bytes, long.sent_ns) <= bps * FULL_PART {
            return Self::Unused;
        }
        if long.arrived_bytes < long.sent_bytes { Self::Lossy } else { Self::Loose }
    }
}

/// What is done about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing.
    Stay,
    /// A raise to this rate in bit/s.
    Raise(f64),
    /// A return to this rate in bit/s: more did not fit.
    Return(f64),
}

/// Raises of the rate, each judged by what was sent at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Time since which everything arrived without a queue.
    loose_since: Option<Instant>,
    /// Time of a raise that is not judged yet, and the rate before it.
    raised: Option<(Instant, f64)>,
    factor: f64,
    failures: u32,
}

impl Default for Growth {
    fn default() -> Self {
        Self { loose_since: None, raised: None, factor: FIRST_FACTOR, failures: 0 }
    }
}

impl Growth {
    /// Takes in what a report says of `rate_bps`, at which is sent.
    pub(super) fn saw(
        &mut self,
        now: Instant,
        sample: &PathSample,
        fit: Fit,
        rate_bps: f64,
        rtt_ns: u64,
    ) -> Step {
        if fit != Fit::Loose {
            self.loose_since = None;
        }
        match (fit, self.raised) {
            (Fit::Loose, _) => {}
            (Fit::Lossy, Some((_, before_bps))) => return self.fail(before_bps),
            (Fit::Queued, _) => {
                (self.raised, self.factor) = (None, FIRST_FACTOR);
                return Step::Stay;
            }
            _ => return Step::Stay,
        }
        let Some(long) = sample.long else { return Step::Stay };
        let since = *self.loose_since.get_or_insert(now);
        match self.raised {
            Some((at, _)) if sample.sent_at.before(long.sent_ns) < at => Step::Stay,
            Some(_) => {
                self.factor = (2.0 * self.factor - 1.0).min(MAX_FACTOR);
                self.failures = 0;
                self.raise(now, rate_bps)
            }
            None if now.since(since) >= (QUIET_RTTS << self.failures).saturating_mul(rtt_ns) => {
                self.raise(now, rate_bps)
            }
            None => Step::Stay,
        }
    }

    /// True while all that is sent has arrived without a queue for so long that nobody else can be there.
    pub(super) fn is_loose(&self, now: Instant, rtt_ns: u64) -> bool {
        self.loose_since.is_some_and(|since| now.since(since) >= QUIET_RTTS.saturating_mul(rtt_ns))
    }

    fn raise(&mut self, now: Instant, rate_bps: f64) -> Step {
        self.raised = Some((now, rate_bps));
        Step::Raise(rate_bps * self.factor)
    }

    fn fail(&mut self, before_bps: f64) -> Step {
        let failures = (self.failures + 1).min(MAX_FAILURES);
        *self = Self { failures, ..Self::default() };
        Step::Return(before_bps)
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::MS;

    use super::*;

    const RTT_NS: u64 = 100 * MS;

    /// Rates in Mbit/s that follow each other, two reports a round trip, over a path that loses what exceeds
    /// `path_bps`.
    fn rates(path_bps: f64, reports: u64) -> std::vec::Vec<f64> {
        let (mut growth, mut rate_bps) = (Growth::default(), 1e6);
        let mut sent_bps = [rate_bps; 3];
        let mut report = |number: u64| {
            let now = Instant::from_ns((number + 3) * RTT_NS / 2);
            let sent_at = now.before(RTT_NS);
            let long = Interval {
                sent_ns: RTT_NS / 2,
                sent_bytes: 10_000,
                arrived_ns: RTT_NS / 2,
                arrived_bytes: 10_000,
            };
            let sample = PathSample {
                sent_at,
                arrived_ns: sent_at.as_ns(),
                rtt_ns: RTT_NS,
                long: Some(long),
                train: None,
                behind_train: false,
                since_bytes: 0,
            };
            sent_bps = [rate_bps, sent_bps[0], sent_bps[1]];
            let fit = if sent_bps[2] > path_bps { Fit::Lossy } else { Fit::Loose };
            match growth.saw(now, &sample, fit, rate_bps, RTT_NS) {
                Step::Stay => {}
                Step::Raise(bps) | Step::Return(bps) => rate_bps = bps,
            }
            rate_bps / 1e6
        };
        (0..reports).map(&mut report).collect()
    }

    #[test]
    fn what_loses_nothing_doubles_within_ten_round_trips_and_goes_on() {
        let found = rates(f64::INFINITY, 60);
        assert!(found[20] >= 2.0, "{found:?}");
        assert!(found[59] > 50.0, "{found:?}");
    }

    #[test]
    fn what_a_raise_loses_ends_it_and_the_next_one_comes_later() {
        let found = rates(3e6, 400);
        assert!(found.iter().all(|&mbits| mbits < 4.5), "{found:?}");
        assert!(found[40..].iter().all(|&mbits| mbits > 1.9), "{found:?}");
        let over = |part: &[f64]| part.iter().filter(|&&mbits| mbits > 3.0).count();
        assert!(over(&found[200..]) < over(&found[..200]), "{found:?}");
    }
}
