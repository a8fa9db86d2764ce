//! Controller of the papers: slow start, then avoidance; halve once a window [STP 5.1.2, XSTP 3].

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::{Phase, Verdict};

use crate::growth::window_rate_bps;
use crate::{Acked, Avoidance, Controller, ControllerConfig, Lost, Signal, SlowStart, Snapshot};

/// Controller of STP and XSTP.
#[derive(Clone, Debug)]
pub struct SlowStartAvoidance {
    config: ControllerConfig,
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    avoidance: Avoidance,
}

impl SlowStartAvoidance {
    /// Controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        Self {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh_bytes: u64::MAX,
            avoidance: Avoidance::default(),
            config,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }
}

impl Controller for SlowStartAvoidance {
    fn on_acked(&mut self, _now: Instant, acked: &Acked) {
        if acked.leaves_unused(self.cwnd_bytes) {
            return;
        }
        let (grown, rest) = SlowStart::grow(self.cwnd_bytes, self.ssthresh_bytes, acked.bytes);
        let grown = if rest > 0 { self.avoidance.grow(grown, self.config.mss_bytes, rest) } else { grown };
        self.cwnd_bytes = grown.min(self.config.max_window_bytes);
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        // Immediate Recovery: the link is to blame, not the rate [XSTP 4]. Of unknown cause are only
        // losses before the first measured round trip, when the window is the smallest there is.
        if lost.verdict != Verdict::Congestion || !lost.begins_event {
            return;
        }
        self.cwnd_bytes = self.avoidance.halve(self.cwnd_bytes, self.config.mss_bytes);
        self.ssthresh_bytes = self.cwnd_bytes;
    }

    fn on_signal(&mut self, _now: Instant, signal: Signal) {
        if let Signal::Idle { idle_ns, rto_ns } = signal
            && self.config.idle_restart.is_due(idle_ns, rto_ns)
        {
            // Back to where it was as fast as it first came there.
            self.ssthresh_bytes = self.ssthresh_bytes.max(self.cwnd_bytes);
            self.cwnd_bytes = self.cwnd_bytes.min(self.config.initial_window_bytes);
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
        Snapshot { name: "slow-start-avoidance", phase, cwnd_bytes, ssthresh_bytes }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
