//! CUBIC [RFC 9438]: after a loss the window returns to where it was along a cubic function of time, so that
//! its growth does not depend on the round trip. Slow start is plain, or ends early by `HyStart` [RFC 9438
//! 4.10]. Names are those of the RFC; windows (`cwnd`, `ssthresh`, `w_max`, `w_est`, `target`) are in bytes
//! instead of segments.

#[cfg(test)]
mod cubic_tests;
mod formulas;
mod hystart;

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::{Phase, Verdict};

use crate::growth::window_rate_bps;
use crate::{Acked, Controller, ControllerConfig, Lost, Needs, Signal, SlowStart, Snapshot};
use hystart::HyStart;

/// Stage of congestion avoidance [RFC 9438 4.2].
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `epoch_start`, moved on by times in which the application left the window unused [RFC 9438 5.8].
    epoch_start: Instant,
    /// Plateau of the function: `W_max`, or where the stage began if that is higher.
    plateau: u64,
    /// `K`: time from the start to the plateau.
    k_us: u64,
    /// `W_est`, the window that Reno would have, in 1/65536 bytes [RFC 9438 4.3].
    w_est: u64,
}

/// State that a congestion event changes: kept in case it was none.
#[derive(Clone, Copy, Debug)]
struct Course {
    cwnd: u64,
    ssthresh: u64,
    /// `W_max`; 0 before the first event and after a timeout.
    w_max: u64,
    /// `cwnd_prior`: the window at the last event.
    cwnd_prior: u64,
    epoch: Option<Epoch>,
}

/// Controller of RFC 9438.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: ControllerConfig,
    course: Course,
    before_event: Option<Course>,
    /// Growth not yet worth a byte, in bytes times the window.
    owed: u64,
    /// Time since which the window is not used.
    unused_since: Option<Instant>,
    /// Watch over the first slow start until that ends, if wanted.
    hystart: Option<HyStart>,
}

impl Cubic {
    /// Controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        let course = Course {
            cwnd: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh: u64::MAX,
            w_max: 0,
            cwnd_prior: 0,
            epoch: None,
        };
        let hystart = config.hystart.then_some(HyStart::new());
        Self { config, course, before_event: None, owed: 0, unused_since: None, hystart }
    }

    /// Ends slow start at this window, without a loss, where `HyStart` says so.
    fn watch_start(&mut self, now: Instant, acked: &Acked) {
        let segments = self.course.cwnd / self.config.mss_bytes.max(1);
        let is_paced = self.config.pacing_percent.is_some();
        if let (Some(hystart), Some(delivery)) = (&mut self.hystart, &acked.delivery)
            && hystart.ends(now, delivery, segments, is_paced)
        {
            self.course.ssthresh = self.course.cwnd;
        }
        self.hystart = self.hystart.filter(|_| self.course.ssthresh == u64::MAX);
    }

    fn in_slow_start(&self) -> bool {
        self.course.cwnd < self.course.ssthresh
    }

    /// Stage that begins with this acknowledgement [RFC 9438 4.2]. After a timeout, or a slow start that
    /// ended without a loss, the stage begins on its plateau [RFC 9438 4.8, 4.10].
    fn begin_epoch(&self, now: Instant) -> Epoch {
        let Course { cwnd, w_max, .. } = self.course;
        Epoch {
            epoch_start: now,
            plateau: w_max.max(cwnd),
            k_us: formulas::k_us(w_max, cwnd, self.config.mss_bytes),
            w_est: cwnd.saturating_mul(1 << 16),
        }
    }

    fn avoid(&mut self, now: Instant, acked: &Acked) -> u64 {
        let unused_ns = self.unused_since.take().map_or(0, |since| now.since(since));
        let mut epoch = match self.course.epoch {
            Some(epoch) => Epoch { epoch_start: epoch.epoch_start.after(unused_ns), ..epoch },
            None => self.begin_epoch(now),
        };
        self.estimate_reno(&mut epoch, acked.bytes);
        self.course.epoch = Some(epoch);
        let cwnd = self.course.cwnd;
        let w_cubic =
            |t_ns: u64| formulas::w_cubic(t_ns / 1000, epoch.k_us, epoch.plateau, self.config.mss_bytes);
        let t_ns = now.since(epoch.epoch_start);
        let w_est = epoch.w_est >> 16;
        if w_cubic(t_ns) < w_est {
            return w_est.max(cwnd); // Reno-friendly [RFC 9438 4.3]
        }
        // Concave or convex [RFC 9438 4.4, 4.5]: (target - cwnd) / cwnd for each segment.
        let target = w_cubic(t_ns.saturating_add(acked.smoothed_rtt_ns)).clamp(cwnd, cwnd + cwnd / 2);
        let growth = u128::from(target - cwnd) * u128::from(acked.bytes) + u128::from(self.owed);
        self.owed = (growth % u128::from(cwnd.max(1))) as u64;
        cwnd.saturating_add(u64::try_from(growth / u128::from(cwnd.max(1))).unwrap_or(u64::MAX))
    }

    /// Growth of `W_est` by alpha segments for each window [RFC 9438 4.3 (4)].
    fn estimate_reno(&self, epoch: &mut Epoch, acked_bytes: u64) {
        let (numerator, denominator) = formulas::alpha(epoch.w_est >> 16 >= self.course.cwnd_prior);
        let growth = (u128::from(acked_bytes) * u128::from(self.config.mss_bytes * numerator)) << 16;
        let step = growth / u128::from(self.course.cwnd.max(1) * denominator);
        epoch.w_est = epoch.w_est.saturating_add(u64::try_from(step).unwrap_or(u64::MAX));
    }

    /// Multiplicative decrease and fast convergence [RFC 9438 4.6, 4.7].
    fn decrease(&mut self, in_flight_bytes: u64) {
        self.before_event = Some(self.course);
        let Course { cwnd, w_max, .. } = self.course;
        self.course.w_max = if cwnd < w_max { formulas::given_way(cwnd) } else { cwnd };
        self.course.cwnd_prior = cwnd;
        // What was under way may exceed the window: limited transmit does not count.
        let used_bytes = in_flight_bytes.min(cwnd);
        self.course.ssthresh = formulas::decreased(used_bytes).max(2 * self.config.mss_bytes);
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
        if acked.leaves_unused(self.course.cwnd) {
            self.unused_since.get_or_insert(now);
            return;
        }
        let cwnd = self.course.cwnd;
        let grown = if self.in_slow_start() {
            let counted = self.config.counting.in_slow_start(acked.bytes, self.config.mss_bytes);
            SlowStart::grow(cwnd, self.course.ssthresh, counted).0
        } else {
            self.avoid(now, acked)
        };
        self.course.cwnd = grown.min(self.config.max_window_bytes.max(cwnd));
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.decrease(lost.in_flight_bytes);
            self.course.cwnd = self.course.ssthresh;
        }
    }

    fn on_signal(&mut self, now: Instant, signal: Signal) {
        match signal {
            // As for a loss [RFC 9438 4.6].
            Signal::EcnMarks { in_flight_bytes } => {
                self.decrease(in_flight_bytes);
                self.course.cwnd = self.course.ssthresh;
            }
            // [RFC 9438 4.8]
            Signal::Timeout { in_flight_bytes, first, .. } => {
                if first {
                    self.decrease(in_flight_bytes);
                }
                self.course.w_max = 0;
                self.course.cwnd = self.config.mss_bytes;
            }
            // Back to where it was [RFC 9438 4.9.1, 4.9.2].
            Signal::Spurious => {
                if let Some(before) = self.before_event.take() {
                    self.course = Course { cwnd: before.cwnd.max(self.course.cwnd), ..before };
                }
            }
            Signal::Idle { idle_ns, rto_ns } => {
                if self.config.idle_restart.is_due(idle_ns, rto_ns) {
                    self.course.cwnd = self.course.cwnd.min(self.config.initial_window_bytes);
                    self.course.epoch = None;
                }
                self.unused_since.get_or_insert(now.before(idle_ns));
            }
            Signal::SegmentSize { mss_bytes } => self.config.mss_bytes = mss_bytes,
            Signal::Recovered => {}
        }
    }

    fn needs(&self) -> Needs {
        Needs { delivery: self.hystart.is_some(), ..Needs::default() }
    }

    fn window_bytes(&self) -> u64 {
        self.course.cwnd
    }

    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let (starting, steady) = self.config.pacing_percent?;
        let percent = if self.in_slow_start() { starting } else { steady };
        Some(window_rate_bps(self.course.cwnd, percent, smoothed_rtt_ns))
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        let Course { cwnd: cwnd_bytes, ssthresh: ssthresh_bytes, .. } = self.course;
        Snapshot { name: "cubic", phase, cwnd_bytes, ssthresh_bytes }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
