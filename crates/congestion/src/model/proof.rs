//! Proof of what fits into the path: whatever rate was found, no more is sent than a multiple of what arrived
//! without a queue.

use skyhaul_core::PathSample;

use super::rates::{MIN_RATE_BPS, rate_bps};

/// Factor of what has shown that it fits that is sent in a round trip at most: ten packets tell the rate of a
/// path that carries them as it carries more, and one that lets them go together shows any.
const PROOF_FACTOR: u64 = 128;

/// Most that has arrived without a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    /// IP bytes of one stretch; of the first packets at least.
    bytes: u64,
}

impl Proof {
    /// Proof by the first packets alone.
    pub(super) fn new(first_window_bytes: u64) -> Self {
        Self { bytes: first_window_bytes }
    }

    /// Takes in what arrived. What waits in a queue has not shown that it fits.
    pub(super) fn saw(&mut self, sample: &PathSample, is_calm: bool) {
        let has_fitted = is_calm && !sample.behind_train;
        let arrived_bytes = sample.long.filter(|_| has_fitted).map_or(0, |long| long.arrived_bytes);
        self.bytes = self.bytes.max(arrived_bytes);
    }

    /// Highest rate at which to send, in bit/s.
    pub(super) fn max_bps(self, rtt_min_ns: u64) -> f64 {
        rate_bps(PROOF_FACTOR.saturating_mul(self.bytes), rtt_min_ns).max(MIN_RATE_BPS)
    }
}
