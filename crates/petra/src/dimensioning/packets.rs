//! Size of PDUs, and the window of the satellite hop [PETRA III-F, IV-E].

use libm::{ceil, exp, expm1, log1p, sqrt};

use super::Plan;

/// PDUs of the satellite hop, STPP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pdus {
    /// Payload, bits: P.
    pub payload_bits: f64,
    /// Header and CRC, bits: O.
    pub overhead_bits: f64,
}

impl Pdus {
    /// PDUs with the payload that carries most, [PETRA (22)], but never above `largest_bits`. The formula's
    /// `log` is the natural one; without errors the payload is the largest.
    pub fn best(overhead_bits: f64, bit_error_rate: f64, largest_bits: f64) -> Self {
        let p = -log1p(-bit_error_rate);
        let best_bits = if p > 0.0 {
            (sqrt(overhead_bits * (4.0 + p * overhead_bits)) - overhead_bits * sqrt(p)) / (2.0 * sqrt(p))
        } else {
            largest_bits
        };
        Self { payload_bits: best_bits.min(largest_bits), overhead_bits }
    }

    /// Length of a PDU, bits: `PDU_len`.
    pub fn length_bits(&self) -> f64 {
        self.payload_bits + self.overhead_bits
    }

    /// Probability that a PDU arrives damaged.
    pub fn error_probability(&self, bit_error_rate: f64) -> f64 {
        -expm1(self.length_bits() * log1p(-bit_error_rate))
    }

    /// Part of the link that payload can have, [PETRA (20)] as corrected: PDUs that arrive count.
    pub fn efficiency(&self, bit_error_rate: f64) -> f64 {
        self.payload_bits / self.length_bits() * exp(self.length_bits() * log1p(-bit_error_rate))
    }
}

impl Plan {
    /// Least window of the satellite hop, PDUs: `W_STPP` of [PETRA (1)]. It fills the link only if every PDU
    /// is confirmed one round trip after it left.
    pub fn stpp_window_pdus(&self) -> u64 {
        self.stpp_window_for_pdus(0.0)
    }

    /// Least window, PDUs, where a receiver tells its state once in `status_interval_s`: a PDU that arrives
    /// just after a status is confirmed by the next one.
    pub fn stpp_window_for_pdus(&self, status_interval_s: f64) -> u64 {
        let satellite = self.path().satellite;
        ceil(satellite.rate_bps * (satellite.rtt_s + status_interval_s) / self.pdus().length_bits()) as u64
    }
}
