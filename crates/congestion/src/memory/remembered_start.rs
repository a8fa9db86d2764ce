//! Rate of a path by measurement, and before that by memory.

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, ResumePhase};
use skyhaul_core::{Instant, MS, Others, Pacer, PathController, PathEstimate, PathSample, SECOND};

use super::{Carried, Resume, ResumeReport, SavedPath};
use crate::Model;
use crate::model::{Delays, carried_bps};

/// Bytes below which a train shows jitter rather than a rate: memory is not given up for that.
const TELLING_TRAIN_BYTES: u64 = 5 * 1500;

/// Wait of a mark that shows a queue which others have filled, or that is full of what memory sent: longer
/// than this part of the round trip and this time, and than the first train takes at the saved rate.
const FULL_PART: u64 = 4;
const FULL_NS: u64 = 20 * MS;

/// Least of segments under way, whatever else holds [RFC 9959 3.5].
const MIN_SEGMENTS: u64 = 2;

/// [`Model`] that begins with a remembered path, if there is one, and tells what is worth remembering.
#[derive(Clone, Debug)]
pub struct RememberedStart {
    model: Model,
    resume: Option<Resume>,
    mss_bytes: u64,
    /// Time that the first train takes at the saved rate.
    train_ns: u64,
    first_train_left: bool,
    /// Bytes that are known to have arrived, and the question up to which they were counted.
    confirmed_bytes: u64,
    counted_to: Instant,
}

impl RememberedStart {
    /// Controller of a path on which `first_window_bytes` may leave before anything is known, in segments of
    /// `mss_bytes`. A saved path that may not be used ([`SavedPath::check`]) is none.
    pub fn new(mss_bytes: u64, first_window_bytes: u64, saved: Option<SavedPath>) -> Self {
        Self {
            model: Model::new(mss_bytes, first_window_bytes),
            resume: saved.and_then(|saved| Resume::new(saved).ok()),
            mss_bytes,
            train_ns: saved.map_or(0, |saved| Pacer::new(saved.rate_bps, 0).duration_ns(first_window_bytes)),
            first_train_left: false,
            confirmed_bytes: 0,
            counted_to: Instant::ZERO,
        }
    }

    /// Controller that goes on from a rate in bit/s that the path has carried, and from its delays, and
    /// remembers nothing.
    pub(crate) fn at(mss_bytes: u64, first_window_bytes: u64, bps: u64, delays: Delays) -> Self {
        let model = Model::at(mss_bytes, first_window_bytes, bps, delays);
        Self { model, ..Self::new(mss_bytes, first_window_bytes, None) }
    }

    /// Memory, while it decides on the rate.
    fn active(&self) -> Option<&Resume> {
        let resume = self.resume.as_ref()?;
        let is_unmeasured = self.model.found().is_none();
        let decides = match resume.phase() {
            ResumePhase::Unvalidated => is_unmeasured && self.first_train_left,
            ResumePhase::Validating => is_unmeasured,
            ResumePhase::SafeRetreat => true,
            ResumePhase::Reconnaissance | ResumePhase::Confirmed | ResumePhase::Contradicted => false,
        };
        decides.then_some(resume)
    }

    /// Rate of the smallest window in each round trip.
    fn min_bps(&self, resume: &Resume) -> u64 {
        let bits = MIN_SEGMENTS * self.mss_bytes * 8 * SECOND;
        bits / resume.round_trip_ns().max(1)
    }

    fn count(&mut self, sample: &PathSample) {
        let Some(long) = sample.long else { return };
        let began_ns = sample.sent_at.as_ns().saturating_sub(long.sent_ns);
        if began_ns >= self.counted_to.as_ns() {
            self.confirmed_bytes = self.confirmed_bytes.saturating_add(long.arrived_bytes);
            self.counted_to = sample.sent_at;
        }
    }

    fn report(&self, sample: &PathSample) -> ResumeReport {
        let carried = sample.long.or(sample.train).map(|interval| Carried {
            sent_bytes: interval.sent_bytes,
            arrived_bytes: interval.arrived_bytes,
            arrived_ns: interval.arrived_ns,
        });
        let train = sample.train.filter(|train| train.sent_bytes >= TELLING_TRAIN_BYTES);
        let full_ns = self.train_ns.saturating_add((sample.rtt_ns / FULL_PART).max(FULL_NS));
        ResumeReport {
            sent_at: sample.sent_at,
            rtt_ns: sample.rtt_ns,
            carried,
            capacity_bps: train.as_ref().and_then(carried_bps).map(|bps| bps as u64),
            congested: self.model.waited_ns() > full_ns,
        }
    }
}

impl PathController for RememberedStart {
    fn on_sample(&mut self, now: Instant, sample: &PathSample) {
        self.model.on_sample(now, sample);
        self.count(sample);
        let report = self.report(sample);
        if let Some(resume) = &mut self.resume {
            resume.on_report(now, &report);
        }
    }

    fn on_outage(&mut self, now: Instant) {
        self.model.on_outage(now);
    }

    fn on_packet_size(&mut self, mss_bytes: u64) {
        self.mss_bytes = mss_bytes;
        self.model.on_packet_size(mss_bytes);
    }

    fn rate_bps(&self) -> u64 {
        let measured_bps = self.model.rate_bps();
        let Some(resume) = self.active() else { return measured_bps };
        let Some(bps) = resume.rate_bps() else { return measured_bps };
        let is_retreat = resume.phase() == ResumePhase::SafeRetreat;
        let min_bps = if is_retreat { self.min_bps(resume) } else { 0 };
        bps.max(min_bps).min(measured_bps)
    }

    fn window_bytes(&self) -> u64 {
        let window_bytes = self.model.window_bytes();
        let Some(resume) = self.active() else { return window_bytes };
        match (resume.phase(), resume.window_bytes()) {
            // The first window may leave in any case.
            (ResumePhase::Unvalidated, Some(jump_bytes)) => jump_bytes.max(window_bytes),
            (ResumePhase::Validating, _) => resume.saved().bdp_bytes().max(window_bytes),
            (_, Some(bytes)) => bytes.max(MIN_SEGMENTS * self.mss_bytes),
            (_, None) => window_bytes,
        }
    }

    fn take_excess_bytes(&mut self) -> u64 {
        self.model.take_excess_bytes()
    }

    fn take_train(&mut self, now: Instant) -> u32 {
        self.model.take_train(now)
    }

    fn max_train_packets(&self) -> u32 {
        self.model.max_train_packets()
    }

    fn short_queue_ns(&self) -> Option<u64> {
        self.model.short_queue_ns()
    }

    fn after_first_train(&mut self) {
        self.first_train_left = true;
    }

    fn path_estimate(&self) -> Option<PathEstimate> {
        let (rate_bps, rtt_min_ns) = self.model.found()?;
        Some(PathEstimate { rate_bps, rtt_min_ns, confirmed_bytes: self.confirmed_bytes })
    }

    fn resumed(&self) -> Option<(ResumePhase, PathEstimate)> {
        let resume = self.resume.as_ref()?;
        let SavedPath { rate_bps, rtt_min_ns, .. } = resume.saved();
        Some((resume.phase(), PathEstimate { rate_bps, rtt_min_ns, confirmed_bytes: 0 }))
    }

    fn phase(&self) -> Phase {
        self.model.phase()
    }

    fn others(&self) -> Others {
        self.model.others()
    }

    fn name(&self) -> &'static str {
        self.model.name()
    }

    fn boxed_clone(&self) -> Box<dyn PathController> {
        Box::new(self.clone())
    }
}
