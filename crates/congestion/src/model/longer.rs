//! Paths that become longer within a moment, by a handover: told from a queue by what is sent meanwhile.

use skyhaul_core::{Instant, Interval, PathSample};

use super::competition::{CROWDED_TARGETS, STEADY_PART};
use super::loss_noise::LossNoise;
use super::rates::MIN_RATE_BPS;

/// Part of a rise by which waiting may differ from mark to mark before it: a queue that grows does so for
/// longer than between two marks.
const LEVEL_PART: u64 = 2;
/// Marks before a rise that have to be level, as many as are asked for in a round trip.
const LEVEL_MARKS: usize = 3;

/// What is known at a report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// Waiting of its mark, and the queue that is aimed at, in ns.
    pub(super) waited_ns: u64,
    pub(super) target_ns: u64,
    /// Rate in bit/s that the path carries, and the one that was sent since the report before.
    pub(super) bps: f64,
    pub(super) pace_bps: f64,
    /// True if nothing says that others are on the path.
    pub(super) is_alone: bool,
}

/// Rise of the waiting within a moment, and what may have left since that was told.
#[derive(Clone, Copy, Debug)]
struct Rise {
    /// Waiting at its first mark, in ns.
    waited_ns: u64,
    /// Rate in bit/s that the path carried before.
    bps: f64,
    /// Time of the last report.
    told_at: Instant,
    /// Time in ns that a path of that rate had left, as less was sent, to let a queue out.
    spared_ns: f64,
    /// Time since when that is more than what waited.
    gone_at: Option<Instant>,
    /// What was sent and what arrived between marks since, all intervals together.
    flow: Interval,
}

/// Watch over rises of the waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rises {
    /// Waiting of the last marks, in ns, the latest first; of those that there were.
    waits_ns: [Option<u64>; LEVEL_MARKS],
    /// Rate in bit/s that the path carried at the latest of them.
    bps: f64,
    rise: Option<Rise>,
}

impl Rises {
    /// Takes in a report. Result: the path has become longer, and carries so much, in bit/s. A queue of ours
    /// would have gone, as so much less was sent than it lets out, and one that others fill would have
    /// changed, or have no room for more.
    pub(super) fn saw(
        &mut self,
        now: Instant,
        sample: &PathSample,
        report: &Report,
        noise: &LossNoise,
    ) -> Option<f64> {
        if let Some(rise) = &mut self.rise {
            rise.goes_on(now, report);
        }
        if sample.behind_train {
            return None;
        }
        if let Some(rise) = &mut self.rise {
            rise.arrives(sample);
        }
        if let Some(rise) = self.rise {
            let is_gone = rise.gone_at.is_some_and(|at| sample.sent_at >= at);
            if !rise.lasts(report) {
                self.rise = None;
            } else if is_gone && self.is_level(report) {
                self.forget();
                return (!noise.is_exceeded(&rise.flow)).then_some(rise.bps);
            }
        }
        if self.rise.is_none() && report.is_alone {
            self.rise = self.begins(now, report);
        }
        self.waits_ns.rotate_right(1);
        self.waits_ns[0] = Some(report.waited_ns);
        self.bps = report.bps;
        None
    }

    /// Least and most waiting of the last marks, in ns, once there were enough.
    fn bounds_ns(&self) -> Option<(u64, u64)> {
        let mut bounds_ns = (u64::MAX, 0);
        for waited_ns in self.waits_ns {
            bounds_ns = (bounds_ns.0.min(waited_ns?), bounds_ns.1.max(waited_ns?));
        }
        Some(bounds_ns)
    }

    /// True if this mark waited for as long as the last ones.
    fn is_level(&self, report: &Report) -> bool {
        let waited_ns = report.waited_ns;
        let differ_ns = |(least_ns, most_ns): (u64, u64)| most_ns.max(waited_ns) - least_ns.min(waited_ns);
        self.bounds_ns().is_some_and(|bounds_ns| differ_ns(bounds_ns) < report.steady_ns())
    }

    /// Rise to what this mark waited for, if it is no part of a longer one: what waited before was no more
    /// than a queue of ours, and differed by less from mark to mark.
    fn begins(&self, now: Instant, report: &Report) -> Option<Rise> {
        let Report { waited_ns, target_ns, .. } = *report;
        let (_, most_ns) = self.bounds_ns()?;
        let before_ns = self.waits_ns[0]?;
        let risen_ns = waited_ns.saturating_sub(before_ns);
        let has_risen = waited_ns > target_ns && risen_ns > report.steady_ns();
        let is_small = |pair: &[Option<u64>]| {
            pair[0]
                .zip(pair[1])
                .is_some_and(|(later, earlier)| later.abs_diff(earlier) < risen_ns / LEVEL_PART)
        };
        let was_level = self.waits_ns.windows(2).all(is_small) && most_ns <= CROWDED_TARGETS * target_ns;
        let flow = Interval { sent_ns: 0, sent_bytes: 0, arrived_ns: 0, arrived_bytes: 0 };
        let rise = Rise { waited_ns, bps: self.bps, told_at: now, spared_ns: 0.0, gone_at: None, flow };
        (was_level && has_risen).then_some(rise)
    }

    /// Forgets all waiting: it is counted from another delay now.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Report {
    /// Waiting in ns that differs by less does not.
    fn steady_ns(&self) -> u64 {
        self.target_ns / STEADY_PART
    }
}

impl Rise {
    /// Takes in what was sent until a report.
    fn goes_on(&mut self, now: Instant, report: &Report) {
        let unsent_part = 1.0 - report.pace_bps / self.bps.max(MIN_RATE_BPS);
        self.spared_ns += now.since(self.told_at) as f64 * unsent_part;
        self.told_at = now;
        if self.spared_ns > self.waited_ns.saturating_add(report.steady_ns()) as f64 {
            self.gone_at.get_or_insert(now);
        }
    }

    /// Takes in what arrived of what was sent.
    fn arrives(&mut self, sample: &PathSample) {
        let Some(long) = sample.long else { return };
        self.flow.sent_bytes = self.flow.sent_bytes.saturating_add(long.sent_bytes);
        self.flow.arrived_bytes = self.flow.arrived_bytes.saturating_add(long.arrived_bytes);
    }

    /// True while something waits, and no more than at first.
    fn lasts(&self, report: &Report) -> bool {
        let most_ns = self.waited_ns.saturating_add(report.steady_ns());
        (report.target_ns + 1..=most_ns).contains(&report.waited_ns)
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::MS;

    use super::*;

    const RATE_BPS: f64 = 30e6;
    const MARK_NS: u64 = 20 * MS;
    const RTT_NS: u64 = 3 * MARK_NS;

    /// Rate found of a path that has become longer, after ten marks that waited for 3 ms and 40 that did as
    /// `wait_us` says, of which the first is number 0. Reports from the third on are sent 0.9 of the rate.
    fn found(is_alone: bool, wait_us: impl Fn(u64) -> u64) -> Option<f64> {
        let mut rises = Rises::default();
        let mut saw = |number: u64| {
            let sent_at = Instant::from_ns(number * MARK_NS);
            let waited_us = number.checked_sub(10).map_or(3000, &wait_us);
            let sample = PathSample {
                sent_at,
                arrived_ns: 0,
                rtt_ns: RTT_NS,
                long: None,
                train: None,
                behind_train: false,
                since_bytes: 0,
            };
            let is_told = number > 12;
            let report = Report {
                waited_ns: waited_us * 1000,
                target_ns: 3 * MS,
                // What arrived across the rise took longer: from then on the estimate is too low.
                bps: if number > 10 { 0.9 * RATE_BPS } else { RATE_BPS },
                pace_bps: if is_told { 0.9 * RATE_BPS } else { RATE_BPS },
                is_alone,
            };
            rises.saw(sent_at.after(RTT_NS), &sample, &report, &LossNoise::default())
        };
        (0..50).find_map(&mut saw)
    }

    #[test]
    fn what_stays_though_less_is_sent_is_a_longer_path_that_carries_what_it_did() {
        assert_eq!(found(true, |_| 6000), Some(RATE_BPS));
        assert_eq!(found(true, |mark| 6000 - 500 * mark.min(4)), Some(RATE_BPS), "a queue of ours goes");
        assert_eq!(found(false, |_| 6000), None, "beside others it may be theirs");
    }

    #[test]
    fn a_queue_is_no_longer_path() {
        assert_eq!(found(true, |mark| 6000_u64.saturating_sub(2000 * mark)), None, "it goes");
        assert_eq!(found(true, |mark| 6000 + 1000 * mark), None, "it grows");
        assert_eq!(found(true, |mark| 3000 + 1400 * mark.min(2)), None, "it grew until we gave way");
        assert_eq!(found(true, |mark| 6000 - 1600 * (mark % 2)), None, "it differs");
    }
}
