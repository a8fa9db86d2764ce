//! The rate, the delay and the largest packet of a direction over time.

use alloc::sync::Arc;
use alloc::vec::Vec;

use skyhaul_core::Instant;

use crate::{DirectionConfig, ScheduleStep};

/// Steps that are over and kept when somebody changes a running link: for questions about the past.
pub(crate) const PAST_STEPS: usize = 256;

/// Steps in the order of time; the first begins with the run. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Timeline(Arc<[ScheduleStep]>);

impl Timeline {
    /// That of a valid configuration.
    pub(crate) fn new(config: &DirectionConfig) -> Self {
        let base = config.first_step();
        let is_replaced = config.schedule.first().is_some_and(|first| first.at == base.at);
        let base = (!is_replaced).then_some(base);
        Self(base.into_iter().chain(config.schedule.iter().copied()).collect())
    }

    /// One that never changes.
    #[cfg(test)]
    pub(crate) fn constant(rate_bps: Option<u64>, delay_ns: u64) -> Self {
        Self(Arc::new([ScheduleStep { at: Instant::ZERO, rate_bps, delay_ns, mtu_bytes: None }]))
    }

    /// Number of the step that is in force.
    fn place(&self, at: Instant) -> usize {
        self.0.partition_point(|step| step.at <= at).saturating_sub(1)
    }

    /// The step that is in force.
    pub(crate) fn step(&self, at: Instant) -> ScheduleStep {
        self.0[self.place(at)]
    }

    /// When this step ends; the end of time if it is the last one.
    fn end(&self, place: usize) -> Instant {
        self.0.get(place + 1).map_or(Instant::MAX, |next| next.at)
    }

    /// The least delay of all.
    pub(crate) fn min_delay_ns(&self) -> u64 {
        self.0.iter().map(|step| step.delay_ns).min().unwrap_or(0)
    }

    /// True if there is a rate at all times.
    pub(crate) fn is_limited(&self) -> bool {
        self.0.iter().all(|step| step.rate_bps.is_some())
    }

    /// True if there is a largest packet at any time.
    pub(crate) fn has_mtu(&self) -> bool {
        self.0.iter().any(|step| step.mtu_bytes.is_some())
    }

    /// True if another step is in force at `to` than at `from`.
    pub(crate) fn changes(&self, from: Instant, to: Instant) -> bool {
        self.place(from) != self.place(to)
    }

    /// Work that can be done between two instants, in units of 10^-9 bit; none in stretches without a rate.
    pub(crate) fn work(&self, from: Instant, to: Instant) -> u128 {
        let mut work = 0;
        let mut at = from;
        for place in self.place(from)..self.0.len() {
            let end = self.end(place).min(to);
            work += u128::from(end.since(at)) * u128::from(self.0[place].rate_bps.unwrap_or(0));
            if end == to {
                break;
            }
            at = end;
        }
        work
    }

    /// A timeline that is equal until `from`, and has `change` in every step from then on.
    pub(crate) fn changed(&self, from: Instant, change: impl Fn(&mut ScheduleStep)) -> Self {
        let place = self.place(from);
        let mut past: Vec<ScheduleStep> =
            self.0[..=place].iter().copied().filter(|step| step.at < from).collect();
        past.drain(..past.len().saturating_sub(PAST_STEPS));
        let now = ScheduleStep { at: from, ..self.0[place] };
        let changed = core::iter::once(now).chain(self.0[place + 1..].iter().copied()).map(|mut step| {
            change(&mut step);
            step
        });
        let mut steps: Vec<ScheduleStep> = past.into_iter().chain(changed).collect();
        steps[0].at = Instant::ZERO; // there is at least the one of now
        Self(steps.into())
    }
}

/// A walk along a timeline, for whoever asks in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    timeline: Timeline,
    place: usize,
    step: ScheduleStep,
    end: Instant,
}

impl Walk {
    pub(crate) fn new(timeline: &Timeline, at: Instant) -> Self {
        let place = timeline.place(at);
        let (step, end) = (timeline.0[place], timeline.end(place));
        Self { timeline: timeline.clone(), place, step, end }
    }

    /// The step that is in force at `at`, which is not earlier than at the last call.
    #[inline]
    pub(crate) fn reach(&mut self, at: Instant) -> ScheduleStep {
        while at >= self.end && self.place + 1 < self.timeline.0.len() {
            self.place += 1;
            (self.step, self.end) = (self.timeline.0[self.place], self.timeline.end(self.place));
        }
        self.step
    }

    /// The step that was reached.
    pub(crate) fn step(&self) -> ScheduleStep {
        self.step
    }

    /// When that one ends; the end of time if it is the last one.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    pub(crate) fn timeline(&self) -> &Timeline {
        &self.timeline
    }
}
