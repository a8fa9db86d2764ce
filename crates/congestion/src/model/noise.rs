//! What is lost without a queue: noise, or what somebody drops who lets no more than a rate through (a policer). Which of
//! the two shows when less is sent: noise takes the same part of it, a policer nothing.

use skyhaul_core::{Instant, PathSample};

use super::compete::lost_part;

/// Weight of a report: a few round trips are remembered.
const WEIGHT: f64 = 1.0 / 8.0;
/// More than this is not divided by: what arrives would be taken for several times as much.
const MOST_NOISE: f64 = 0.5;
/// Less than this is lost at a policer in any case: it is sent to find out whether there is more.
const TELLING_LOSS: f64 = 1.0 / 20.0;
/// Reports after which the loss is what it is at this rate.
const SETTLED_REPORTS: u32 = 24;
/// Asking means to send less than what got through, by this.
const BELOW: f64 = 0.9;
/// Noise would have taken so many packets of those sent meanwhile: chance hides them once in thousands of times, ...
const EXPECTED_PACKETS: f64 = 10.0;
/// ... if less than this part of them is missing.
const POLICED_PART: f64 = 0.25;
/// What was found holds for so many windows of `Base`: links get better, and policers fill up.
const HOLDS_WINDOWS: u64 = 4;

/// Loss without a queue, and what was found out about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noise {
    part: f64,
    /// Reports since it is above [`TELLING_LOSS`].
    reports: u32,
    asking: Option<Question>,
    found_at: Option<Instant>,
    /// What gets through, if somebody drops the rest.
    limit_bps: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    since: Instant,
    through_bps: f64,
    counted_to: Instant,
    sent_bytes: f64,
    lost_bytes: f64,
}

impl Noise {
    /// Part of what is sent that gets lost while there is no queue; at most a half.
    pub(super) fn part(&self) -> f64 {
        self.part.min(MOST_NOISE)
    }

    /// What somebody lets through who drops the rest, if that is known.
    pub(super) fn limit_bps(&self) -> Option<f64> {
        self.limit_bps
    }

    /// The most that may be sent now for the sake of that, or of finding out.
    pub(super) fn most_bps(&self) -> Option<f64> {
        self.asking.map(|question| question.through_bps * BELOW).or(self.limit_bps)
    }

    /// A report came while there was no queue, and `rate_bps` was sent. `window_ns`: see [`HOLDS_WINDOWS`].
    pub(super) fn saw(&mut self, now: Instant, sample: &PathSample, rate_bps: f64, window_ns: u64) {
        let Some(long) = sample.long else { return };
        let is_old = |at: Instant| now.since(at) >= HOLDS_WINDOWS.saturating_mul(window_ns);
        if self.found_at.is_some_and(is_old) {
            (self.found_at, self.limit_bps) = (None, None);
        }
        if let Some(question) = self.asking.as_mut() {
            question.count(sample);
            if let Some(is_policed) = question.answer(self.part) {
                self.found(now, is_policed);
            }
            return;
        }
        self.part += (lost_part(&long) - self.part) * WEIGHT;
        self.reports = if self.part > TELLING_LOSS { self.reports + 1 } else { 0 };
        if self.reports >= SETTLED_REPORTS && (self.found_at.is_none() || self.limit_bps.is_some()) {
            self.asking = Some(Question::new(now, rate_bps * (1.0 - self.part)));
        }
    }

    fn found(&mut self, now: Instant, is_policed: bool) {
        let question = self.asking.take().filter(|_| is_policed);
        (self.found_at, self.reports) = (Some(now), 0);
        self.limit_bps = question.map(|question| question.through_bps);
        if let Some(question) = question {
            self.part = question.lost_bytes / question.sent_bytes;
        }
    }

    /// There is a queue: what is lost says nothing of noise.
    pub(super) fn interrupt(&mut self) {
        (self.asking, self.reports) = (None, 0);
    }

    /// It may be another way now.
    pub(super) fn forget_limit(&mut self) {
        *self = Self { part: self.part(), ..Self::default() };
    }
}

impl Question {
    fn new(now: Instant, through_bps: f64) -> Self {
        Self { since: now, through_bps, counted_to: now, sent_bytes: 0.0, lost_bytes: 0.0 }
    }

    /// What was sent since it was asked, once.
    fn count(&mut self, sample: &PathSample) {
        let Some(long) = sample.long else { return };
        let began_ns = sample.sent_at.as_ns().saturating_sub(long.sent_ns);
        if began_ns >= self.counted_to.as_ns().max(self.since.as_ns()) {
            self.counted_to = sample.sent_at;
            self.sent_bytes += long.sent_bytes as f64;
            self.lost_bytes += long.sent_bytes.saturating_sub(long.arrived_bytes) as f64;
        }
    }

    /// Whether somebody drops what exceeds a rate; `None`: too early to say. `part`: was lost before.
    fn answer(&self, part: f64) -> Option<bool> {
        let usual_bytes = self.sent_bytes * part;
        (usual_bytes >= EXPECTED_PACKETS * 1500.0).then_some(self.lost_bytes < usual_bytes * POLICED_PART)
    }
}
