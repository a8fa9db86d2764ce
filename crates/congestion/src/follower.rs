//! A connection that goes by the rate of its path.

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::Phase;

use crate::{Acked, Controller, Lost, Snapshot};

/// No mind of its own: it is told what the path's [`skyhaul_core::RateControl`] decided.
#[derive(Clone, Copy, Debug)]
pub struct Follower {
    rate_bps: u64,
    window_bytes: u64,
    phase: Phase,
}

impl Follower {
    /// One that may send `window_bytes` until it is told otherwise.
    pub fn new(window_bytes: u64) -> Self {
        Self { rate_bps: 1, window_bytes, phase: Phase::Measuring }
    }
}

impl Controller for Follower {
    fn on_acked(&mut self, _: Instant, _: &Acked) {}
    fn on_lost(&mut self, _: Instant, _: &Lost) {}

    fn follow(&mut self, rate_bps: u64, window_bytes: u64, phase: Phase) {
        *self = Self { rate_bps: rate_bps.max(1), window_bytes: window_bytes.max(1), phase };
    }

    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn pacing_rate_bps(&self, _smoothed_rtt_ns: u64) -> Option<u64> {
        Some(self.rate_bps)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: self.phase, cwnd_bytes: self.window_bytes, ssthresh_bytes: u64::MAX }
    }

    fn name(&self) -> &'static str {
        "model"
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
