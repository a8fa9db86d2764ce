//! Reno, the standard's own controller [RFC 5681]. What to repeat, and how many segments may leave during
//! fast recovery, is the engine's: the window is the same for Reno, NewReno and SACK.

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::{Phase, Verdict};

use crate::growth::window_rate_bps;
use crate::{Acked, Avoidance, Controller, ControllerConfig, Counting, Lost, Signal, SlowStart, Snapshot};

/// Controller with slow start, avoidance by one segment a round trip, half on a loss, one segment after a
/// timeout.
#[derive(Clone, Debug)]
pub struct Reno {
    config: ControllerConfig,
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    avoidance: Avoidance,
    /// Window and threshold before the last event: kept in case it was none.
    before_event: Option<(u64, u64)>,
}

impl Reno {
    /// Controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        Self {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh_bytes: u64::MAX,
            avoidance: Avoidance::default(),
            before_event: None,
            config,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }

    fn slow_start(&mut self, bytes: u64) -> u64 {
        let counted = self.config.counting.in_slow_start(bytes, self.config.mss_bytes);
        SlowStart::grow(self.cwnd_bytes, self.ssthresh_bytes, counted).0
    }

    fn avoidance(&mut self, bytes: u64) -> u64 {
        let mss_bytes = self.config.mss_bytes;
        match self.config.counting {
            Counting::Acks => self.cwnd_bytes + (mss_bytes * mss_bytes / self.cwnd_bytes.max(1)).max(1),
            Counting::Bytes | Counting::Reports => self.avoidance.grow(self.cwnd_bytes, mss_bytes, bytes),
        }
    }

    /// Half of what was under way, at least two segments [RFC 5681 3.1 (4), an upper bound]. What went beyond
    /// the window, in answer to duplicates, does not count: others had left the network for it.
    fn set_threshold(&mut self, in_flight_bytes: u64) {
        self.before_event = Some((self.cwnd_bytes, self.ssthresh_bytes));
        let counted_bytes = in_flight_bytes.min(self.cwnd_bytes);
        self.ssthresh_bytes = self.avoidance.halve(counted_bytes, self.config.mss_bytes);
    }

    fn decrease(&mut self, in_flight_bytes: u64) {
        self.set_threshold(in_flight_bytes);
        self.cwnd_bytes = self.ssthresh_bytes;
    }
}

impl Controller for Reno {
    fn on_acked(&mut self, _now: Instant, acked: &Acked) {
        if acked.in_recovery || acked.bytes == 0 || acked.leaves_unused(self.cwnd_bytes) {
            return;
        }
        let grown =
            if self.in_slow_start() { self.slow_start(acked.bytes) } else { self.avoidance(acked.bytes) };
        self.cwnd_bytes = grown.min(self.config.max_window_bytes.max(self.cwnd_bytes));
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.decrease(lost.in_flight_bytes);
        }
    }

    fn on_signal(&mut self, _now: Instant, signal: Signal) {
        match signal {
            // As for a loss [RFC 3168 6.1.2].
            Signal::EcnMarks { in_flight_bytes } => self.decrease(in_flight_bytes),
            // One segment [RFC 5681 3.1]; the threshold is not halved again for the same silence.
            Signal::Timeout { in_flight_bytes, first, .. } => {
                if first {
                    self.set_threshold(in_flight_bytes);
                }
                self.cwnd_bytes = self.config.mss_bytes;
            }
            // Back to where it was [RFC 4015 3.2].
            Signal::Spurious => {
                if let Some((cwnd_bytes, ssthresh_bytes)) = self.before_event.take() {
                    (self.cwnd_bytes, self.ssthresh_bytes) =
                        (self.cwnd_bytes.max(cwnd_bytes), ssthresh_bytes);
                }
            }
            Signal::Idle { idle_ns, rto_ns } => {
                self.cwnd_bytes = self.config.window_after_idle(self.cwnd_bytes, idle_ns, rto_ns);
            }
            Signal::SegmentSize { mss_bytes } => self.config.mss_bytes = mss_bytes,
            Signal::Recovered => {}
        }
    }

    fn window_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let (starting, steady) = self.config.pacing_percent?;
        let percent = if self.in_slow_start() { starting } else { steady };
        Some(window_rate_bps(self.cwnd_bytes, percent, smoothed_rtt_ns))
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        let (cwnd_bytes, ssthresh_bytes) = (self.cwnd_bytes, self.ssthresh_bytes);
        Snapshot { name: "reno", phase, cwnd_bytes, ssthresh_bytes }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
