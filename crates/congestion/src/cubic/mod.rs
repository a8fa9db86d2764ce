//! CUBIC [RFC 9438]: after a loss the window returns to where it was along a cubic function of time, so that
//! its growth does not depend on the round trip. Slow start is plain, or ends early by `HyStart` [RFC 9438 4.10].

#[cfg(test)]
mod cubic_tests;
mod formulas;
mod hystart;

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::{Phase, Verdict};

use crate::pacing::window_rate_bps;
use crate::{Acked, Controller, ControllerConfig, Lost, SlowStart, Snapshot};
use hystart::HyStart;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Moved on by times in which the application left the window unused [RFC 9438 5.8].
    started_at: Instant,
    /// The plateau: `W_max`, or where the stage began if that is higher.
    origin_bytes: u64,
    k_us: u64,
    /// `W_est`, what Reno would have, in 1/65536 bytes [RFC 9438 4.3].
    estimate: u64,
}

/// What a congestion event changes: kept in case it was none.
#[derive(Clone, Copy, Debug)]
struct Course {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    /// `W_max`; 0 before the first event and after a timeout.
    max_bytes: u64,
    /// `cwnd_prior`: the window at the last event.
    prior_bytes: u64,
    epoch: Option<Epoch>,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: ControllerConfig,
    course: Course,
    before_event: Option<Course>,
    /// Growth not yet worth a byte, in bytes times the window.
    owed: u64,
    /// Since when the window is not used.
    unused_since: Option<Instant>,
    /// Until the first slow start ends, if wanted.
    hystart: Option<HyStart>,
}

impl Cubic {
    /// A controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        let course = Course {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh_bytes: u64::MAX,
            max_bytes: 0,
            prior_bytes: 0,
            epoch: None,
        };
        let hystart = config.hystart.then_some(HyStart::new());
        Self { config, course, before_event: None, owed: 0, unused_since: None, hystart }
    }

    /// Slow start ends at this window, without a loss.
    fn watch_start(&mut self, now: Instant, acked: &Acked) {
        let segments = self.course.cwnd_bytes / self.config.mss_bytes.max(1);
        let is_paced = self.config.pacing_percent.is_some();
        if let (Some(hystart), Some(delivery)) = (&mut self.hystart, &acked.delivery)
            && hystart.ends(now, delivery, segments, is_paced)
        {
            self.course.ssthresh_bytes = self.course.cwnd_bytes;
        }
        self.hystart = self.hystart.filter(|_| self.course.ssthresh_bytes == u64::MAX);
    }

    fn in_slow_start(&self) -> bool {
        self.course.cwnd_bytes < self.course.ssthresh_bytes
    }

    /// The first acknowledgement of a stage [RFC 9438 4.2]. After a timeout, or a slow start that ended without
    /// a loss, the stage begins on its plateau [RFC 9438 4.8, 4.10].
    fn begin_epoch(&self, now: Instant) -> Epoch {
        let Course { cwnd_bytes, max_bytes, .. } = self.course;
        Epoch {
            started_at: now,
            origin_bytes: max_bytes.max(cwnd_bytes),
            k_us: formulas::k_us(max_bytes, cwnd_bytes, self.config.mss_bytes),
            estimate: cwnd_bytes.saturating_mul(1 << 16),
        }
    }

    fn avoid(&mut self, now: Instant, acked: &Acked) -> u64 {
        let unused_ns = self.unused_since.take().map_or(0, |since| now.since(since));
        let mut epoch = match self.course.epoch {
            Some(epoch) => Epoch { started_at: epoch.started_at.after(unused_ns), ..epoch },
            None => self.begin_epoch(now),
        };
        self.estimate_reno(&mut epoch, acked.bytes);
        self.course.epoch = Some(epoch);
        let cwnd_bytes = self.course.cwnd_bytes;
        let cubic_bytes = |at_ns: u64| {
            formulas::window_bytes(at_ns / 1000, epoch.k_us, epoch.origin_bytes, self.config.mss_bytes)
        };
        let at_ns = now.since(epoch.started_at);
        let estimate_bytes = epoch.estimate >> 16;
        if cubic_bytes(at_ns) < estimate_bytes {
            return estimate_bytes.max(cwnd_bytes); // Reno-friendly [RFC 9438 4.3]
        }
        // Concave or convex [RFC 9438 4.4, 4.5]: (target - cwnd) / cwnd for each segment.
        let most_bytes = cwnd_bytes + cwnd_bytes / 2;
        let target_bytes =
            cubic_bytes(at_ns.saturating_add(acked.smoothed_rtt_ns)).clamp(cwnd_bytes, most_bytes);
        let growth = u128::from(target_bytes - cwnd_bytes) * u128::from(acked.bytes) + u128::from(self.owed);
        self.owed = (growth % u128::from(cwnd_bytes.max(1))) as u64;
        cwnd_bytes.saturating_add(u64::try_from(growth / u128::from(cwnd_bytes.max(1))).unwrap_or(u64::MAX))
    }

    /// `W_est` grows by alpha segments for each window [RFC 9438 4.3 (4)].
    fn estimate_reno(&self, epoch: &mut Epoch, acked_bytes: u64) {
        let (numerator, denominator) = formulas::alpha(epoch.estimate >> 16 >= self.course.prior_bytes);
        let growth = (u128::from(acked_bytes) * u128::from(self.config.mss_bytes * numerator)) << 16;
        let step = growth / u128::from(self.course.cwnd_bytes.max(1) * denominator);
        epoch.estimate = epoch.estimate.saturating_add(u64::try_from(step).unwrap_or(u64::MAX));
    }

    /// Multiplicative decrease and fast convergence [RFC 9438 4.6, 4.7].
    fn decrease(&mut self, in_flight_bytes: u64) {
        self.before_event = Some(self.course);
        let Course { cwnd_bytes, max_bytes, .. } = self.course;
        let gives_way = cwnd_bytes < max_bytes;
        self.course.max_bytes = if gives_way { formulas::given_way(cwnd_bytes) } else { cwnd_bytes };
        self.course.prior_bytes = cwnd_bytes;
        // What was under way may exceed the window: limited transmit does not count.
        let used_bytes = in_flight_bytes.min(cwnd_bytes);
        self.course.ssthresh_bytes = formulas::decreased(used_bytes).max(2 * self.config.mss_bytes);
        self.course.epoch = None;
        self.owed = 0;
    }
}

impl Controller for Cubic {
    fn on_acked(&mut self, now: Instant, acked: &Acked) {
        if acked.in_recovery || acked.bytes == 0 {
            return;
        }
        self.watch_start(now, acked);
        if acked.leaves_unused(self.course.cwnd_bytes) {
            self.unused_since.get_or_insert(now);
            return;
        }
        let cwnd_bytes = self.course.cwnd_bytes;
        let grown = if self.in_slow_start() {
            let counted = self.config.counting.in_slow_start(acked.bytes, self.config.mss_bytes);
            SlowStart::grow(cwnd_bytes, self.course.ssthresh_bytes, counted).0
        } else {
            self.avoid(now, acked)
        };
        self.course.cwnd_bytes = grown.min(self.config.max_window_bytes.max(cwnd_bytes));
    }

    fn on_lost(&mut self, now: Instant, lost: &Lost) {
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.on_ecn(now, lost.in_flight_bytes);
        }
    }

    /// As for a loss [RFC 9438 4.6].
    fn on_ecn(&mut self, _now: Instant, in_flight_bytes: u64) {
        self.decrease(in_flight_bytes);
        self.course.cwnd_bytes = self.course.ssthresh_bytes;
    }

    /// [RFC 9438 4.8]
    fn on_timeout(&mut self, _now: Instant, in_flight_bytes: u64, first: bool) {
        if first {
            self.decrease(in_flight_bytes);
        }
        self.course.max_bytes = 0;
        self.course.cwnd_bytes = self.config.mss_bytes;
    }

    /// Back to where it was [RFC 9438 4.9.1, 4.9.2].
    fn on_spurious(&mut self, _now: Instant) {
        if let Some(before) = self.before_event.take() {
            let cwnd_bytes = before.cwnd_bytes.max(self.course.cwnd_bytes);
            self.course = Course { cwnd_bytes, ..before };
        }
    }

    fn on_idle(&mut self, now: Instant, idle_ns: u64, rto_ns: u64) {
        if self.config.idle_restart.is_due(idle_ns, rto_ns) {
            self.course.cwnd_bytes = self.course.cwnd_bytes.min(self.config.initial_window_bytes);
            self.course.epoch = None;
        }
        self.unused_since.get_or_insert(now.before(idle_ns));
    }

    fn set_mss(&mut self, mss_bytes: u64) {
        self.config.mss_bytes = mss_bytes;
    }

    fn wants_delivery(&self) -> bool {
        self.hystart.is_some()
    }

    fn window_bytes(&self) -> u64 {
        self.course.cwnd_bytes
    }

    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let (starting, steady) = self.config.pacing_percent?;
        let percent = if self.in_slow_start() { starting } else { steady };
        Some(window_rate_bps(self.course.cwnd_bytes, percent, smoothed_rtt_ns))
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        let Course { cwnd_bytes, ssthresh_bytes, .. } = self.course;
        Snapshot { phase, cwnd_bytes, ssthresh_bytes }
    }

    fn name(&self) -> &'static str {
        "cubic"
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
