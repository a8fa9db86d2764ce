//! No control of congestion: the window is all that the sender holds. For paths whose rate is declared and
//! that nobody else uses [SCPS-TP 6.1.2].

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::Phase;

use crate::{Acked, Controller, ControllerConfig, Lost, Signal, Snapshot};

/// Window that never changes.
#[derive(Clone, Copy, Debug)]
pub struct Off {
    window_bytes: u64,
}

impl Off {
    /// Controller with the largest window.
    pub fn new(config: ControllerConfig) -> Self {
        Self { window_bytes: config.max_window_bytes }
    }
}

impl Controller for Off {
    fn on_acked(&mut self, _now: Instant, _acked: &Acked) {}

    fn on_lost(&mut self, _now: Instant, _lost: &Lost) {}

    fn on_signal(&mut self, _now: Instant, _signal: Signal) {}

    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn pacing_rate_bps(&self, _smoothed_rtt_ns: u64) -> Option<u64> {
        None
    }

    fn snapshot(&self) -> Snapshot {
        let bytes = self.window_bytes;
        Snapshot { name: "none", phase: Phase::Avoidance, cwnd_bytes: bytes, ssthresh_bytes: bytes }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
