//! A declared rate is the whole controller [STP 5.1.2, 5.2.3]: losses do not change it.

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::Phase;

use crate::{Acked, Controller, Lost, Snapshot};

/// No window; the path's budget paces everything.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    rate_bps: u64,
}

impl FixedRate {
    /// A controller for the declared rate in bit/s of IP bytes.
    pub fn new(rate_bps: u64) -> Self {
        Self { rate_bps }
    }
}

impl Controller for FixedRate {
    fn on_acked(&mut self, _: Instant, _: &Acked) {}
    fn on_lost(&mut self, _: Instant, _: &Lost) {}

    fn window_bytes(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate_bps(&self, _smoothed_rtt_ns: u64) -> Option<u64> {
        Some(self.rate_bps)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: Phase::FixedRate, cwnd_bytes: u64::MAX, ssthresh_bytes: u64::MAX }
    }

    fn name(&self) -> &'static str {
        "fixed-rate"
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
