//! Size of PDUs, and the window of the satellite hop [PETRA III-F, IV-E].

use libm::{ceil, exp, expm1, log, log1p, sqrt};

use super::Plan;

/// Windows of the satellite hop, of whose PDUs the unluckiest decides.
const WINDOWS: f64 = 100.0;

/// PDUs of a window that are not wholly under way: the one that is leaving, and the one that arrives.
const WHOLE_PDUS: u64 = 2;

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

    /// Window, PDUs, that fills the link: beyond [`Plan::stpp_window_for_pdus`] two whole PDUs, the one that
    /// is leaving and the one that arrives, and a window for each of [`Plan::repeats`], as the window stands
    /// still behind a PDU that is repeated. Ours: the paper has (1) alone.
    pub fn stpp_window_with_repeats_pdus(&self, status_interval_s: f64) -> u64 {
        let window = self.stpp_window_for_pdus(status_interval_s) + WHOLE_PDUS;
        (window as f64 * (1.0 + self.repeats(status_interval_s))) as u64
    }

    /// Times that the unluckiest PDU of a hundred windows is repeated.
    pub fn repeats(&self, status_interval_s: f64) -> f64 {
        let (window, damaged) =
            (self.stpp_window_for_pdus(status_interval_s) as f64, self.pdu_error_probability());
        if damaged > 0.0 { ceil(log(WINDOWS * window) / -log(damaged)) } else { 0.0 }
    }
}
