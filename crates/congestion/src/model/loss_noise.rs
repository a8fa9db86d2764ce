//! Loss without a queue: noise, or a policer, who drops what exceeds a rate. Which of the two it is shows
//! when less is sent: noise takes the same part of it, a policer nothing.

use skyhaul_core::{Instant, Interval, PathSample};

use super::competition::{UNUSUAL_FACTOR, lost_part, unusual_bytes};

/// Weight of a report: a few round trips are remembered.
const WEIGHT: f64 = 1.0 / 8.0;
/// Standard deviations of what is lost anyway that chance may take beyond [`UNUSUAL_FACTOR`] of it.
const UNUSUAL_DEVIATIONS: f64 = 3.0;
/// Loss that may be noise beside others, unless a test found more.
const EXCUSED_LOSS: f64 = 0.01;
/// Reports after which the loss is known.
const KNOWN_REPORTS: u32 = 8;
/// Largest part that is reckoned with: with more, what arrives would be taken for several times as much.
const MAX_NOISE: f64 = 0.5;
/// Part that is lost at a policer in any case: it is sent to find out whether there is more.
const TELLING_LOSS: f64 = 1.0 / 20.0;
/// Reports after which the loss, or a queue, has settled at this rate.
const SETTLED_REPORTS: u32 = 24;
/// Part of what got through that is sent during a test.
const BELOW: f64 = 0.9;
/// Packets that noise would have taken of those sent meanwhile: chance hides them once in thousands of
/// times, ...
const EXPECTED_PACKETS: f64 = 10.0;
/// ... if less than this part of them is missing.
const POLICED_PART: f64 = 0.25;
/// Windows of the shortest delay for which a finding holds: links get better, policers fill up, and queues
/// become longer. That of noise holds for so much as was found: what is lost beyond is a question of its own.
pub(super) const HOLDS_WINDOWS: u64 = 4;

/// Loss without a queue, and the finding about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossNoise {
    part: f64,
    /// Reports that it is made of.
    counted: u32,
    /// Reports since it is above [`TELLING_LOSS`].
    reports: u32,
    /// Reports with a queue since the last one without.
    busy_reports: u32,
    test: Option<PolicerTest>,
    found_at: Option<Instant>,
    /// Part that was found to be noise; 0: none was.
    noise_part: f64,
    /// Rate of the policer, if there is one.
    limit_bps: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct PolicerTest {
    since: Instant,
    through_bps: f64,
    counted_to: Instant,
    sent_bytes: f64,
    lost_bytes: f64,
}

impl LossNoise {
    /// Part of what is sent that gets lost while there is no queue; at most a half.
    pub(super) fn part(&self) -> f64 {
        self.part.min(MAX_NOISE)
    }

    /// Part of it that may be noise beside others: of several who overflow a short queue, each would take the
    /// others' packets for noise.
    pub(super) fn excused_part(&self) -> f64 {
        self.part().min(EXCUSED_LOSS.max(self.noise_part))
    }

    /// True if more is missing than may be noise beside others.
    pub(super) fn is_exceeded(&self, long: &Interval) -> bool {
        let part = self.excused_part();
        let usual = part * long.sent_bytes as f64 / 1500.0;
        let unusual = unusual_bytes(long, part) as f64 / 1500.0;
        unusual * unusual > UNUSUAL_DEVIATIONS * UNUSUAL_DEVIATIONS * usual
    }

    /// True if it was measured often enough.
    pub(super) fn is_known(&self) -> bool {
        self.counted >= KNOWN_REPORTS
    }

    /// True if a test found noise.
    pub(super) fn is_tested(&self) -> bool {
        self.noise_part > 0.0
    }

    /// Rate of the policer, if there is one.
    pub(super) fn limit_bps(&self) -> Option<f64> {
        self.limit_bps
    }

    /// Moves the policer, if there is one: more got through than was found, or that was too much.
    pub(super) fn move_limit(&mut self, bps: f64) {
        self.limit_bps = self.limit_bps.map(|_| bps);
    }

    /// True while less is sent to find out which of the two it is.
    pub(super) fn is_testing(&self) -> bool {
        self.test.is_some()
    }

    /// Bound of the rate for the sake of that, or of finding out.
    pub(super) fn max_bps(&self) -> Option<f64> {
        self.test.map(|test| test.through_bps * BELOW).or(self.limit_bps)
    }

    /// Takes in a report while there is no queue, and `rate_bps` is sent. `window_ns`: unit of
    /// [`HOLDS_WINDOWS`]. Beside others no test begins: they answer it, too.
    pub(super) fn saw(
        &mut self,
        now: Instant,
        sample: &PathSample,
        rate_bps: f64,
        window_ns: u64,
        is_shared: bool,
    ) {
        let Some(long) = sample.long else { return };
        self.busy_reports = 0;
        let is_old = |at: Instant| now.since(at) >= HOLDS_WINDOWS.saturating_mul(window_ns);
        if self.found_at.is_some_and(is_old) {
            (self.found_at, self.noise_part, self.limit_bps) = (None, 0.0, None);
        }
        if let Some(test) = self.test.as_mut() {
            test.count(sample);
            if let Some(is_policed) = test.answer(self.part) {
                self.found(now, is_policed);
            }
            return;
        }
        self.counted = self.counted.saturating_add(1);
        self.part += (lost_part(&long) - self.part) * WEIGHT;
        let is_telling = self.part > TELLING_LOSS + UNUSUAL_FACTOR * self.noise_part;
        self.reports = if is_telling && !is_shared { self.reports + 1 } else { 0 };
        if self.reports >= SETTLED_REPORTS {
            self.test = Some(PolicerTest::new(now, rate_bps * (1.0 - self.part)));
        }
    }

    fn found(&mut self, now: Instant, is_policed: bool) {
        let Some(test) = self.test.take() else { return };
        (self.found_at, self.reports) = (Some(now), 0);
        let part = test.lost_bytes / test.sent_bytes;
        if is_policed {
            (self.part, self.noise_part, self.limit_bps) = (part, 0.0, Some(test.through_bps));
        } else {
            (self.noise_part, self.limit_bps) = (part, None);
        }
    }

    /// Takes in that there is a queue: what is lost says nothing of noise. One that does not go away, as the
    /// rate is lowered for it, says that the rate is too high: what was taken for noise is what does not fit.
    pub(super) fn interrupt(&mut self) {
        (self.test, self.reports, self.busy_reports) = (None, 0, self.busy_reports + 1);
        if self.busy_reports >= SETTLED_REPORTS {
            *self = Self::default();
        }
    }

    /// Forgets the policer: it may be another path now.
    pub(super) fn forget_limit(&mut self) {
        *self = Self { part: self.part(), counted: self.counted, ..Self::default() };
    }
}

impl PolicerTest {
    fn new(now: Instant, through_bps: f64) -> Self {
        Self { since: now, through_bps, counted_to: now, sent_bytes: 0.0, lost_bytes: 0.0 }
    }

    /// Counts what was sent since the test began, once.
    fn count(&mut self, sample: &PathSample) {
        let Some(long) = sample.long else { return };
        let began_ns = sample.sent_at.as_ns().saturating_sub(long.sent_ns);
        if began_ns >= self.counted_to.as_ns().max(self.since.as_ns()) {
            self.counted_to = sample.sent_at;
            self.sent_bytes += long.sent_bytes as f64;
            self.lost_bytes += long.sent_bytes.saturating_sub(long.arrived_bytes) as f64;
        }
    }

    /// True for a policer; `None`: too early to say. `part`: was lost before.
    fn answer(&self, part: f64) -> Option<bool> {
        let usual_bytes = self.sent_bytes * part;
        (usual_bytes >= EXPECTED_PACKETS * 1500.0).then_some(self.lost_bytes < usual_bytes * POLICED_PART)
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::SECOND;

    use super::*;

    /// Interval in which so many of `sent` packets are missing.
    fn missing(lost: u64, sent: u64) -> Interval {
        let bytes = |packets: u64| packets * 1500;
        Interval {
            sent_ns: SECOND,
            sent_bytes: bytes(sent),
            arrived_ns: SECOND,
            arrived_bytes: bytes(sent - lost),
        }
    }

    #[test]
    fn beside_others_a_hundredth_may_be_noise_and_what_a_test_found() {
        let mut noise = LossNoise { part: 0.3, ..LossNoise::default() };
        assert!(noise.is_exceeded(&missing(1, 5)));
        assert!(!noise.is_exceeded(&missing(3, 100)), "chance");
        assert!(noise.is_exceeded(&missing(6, 100)));
        noise.noise_part = 0.3;
        assert!(!noise.is_exceeded(&missing(6, 10)), "chance");
        assert!(noise.is_exceeded(&missing(70, 100)));
        noise.part = 0.0;
        assert!(noise.is_exceeded(&missing(1, 100)), "there is no noise any more");
    }
}
