//! What leads back over the satellite link [PETRA IV-F, V-C].

use super::Plan;

/// Statuses of the satellite hop's receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statuses {
    /// Time between two of them, s: `T_stat`.
    pub interval_s: f64,
    /// Bits that name a damaged PDU: alpha. 1.16 for a bitmap over 100 PDUs, 8 for a list of octets.
    pub bits_per_damaged: f64,
}

impl Plan {
    /// PDUs damaged in a round trip of the satellite link: `n_e` [PETRA (24)].
    pub fn damaged_pdus(&self) -> f64 {
        let satellite = self.path().satellite;
        self.pdu_error_probability() * satellite.rate_bps * satellite.rtt_s / self.pdus().length_bits()
    }
}

impl Statuses {
    /// Length of a status, bits: `SSTAT_len` [PETRA (23)].
    pub fn length_bits(&self, plan: &Plan) -> f64 {
        plan.pdus().overhead_bits + self.bits_per_damaged * plan.damaged_pdus()
    }

    /// Rate of statuses, bit/s: `B_rev(STPP)` [PETRA (25)].
    pub fn rate_bps(&self, plan: &Plan) -> f64 {
        self.length_bits(plan) / self.interval_s
    }
}

/// Rate back of a receiver that sends a NACK for each damaged PDU, and something once a round trip, bit/s:
/// `B_rev(split)` [PETRA (28)].
pub fn nack_rate_bps(plan: &Plan) -> f64 {
    plan.damaged_pdus().max(1.0) * plan.pdus().overhead_bits / plan.path().satellite.rtt_s
}

/// By how much more NACKs take than statuses, as a part of what statuses take [PETRA (27)].
pub fn gain(plan: &Plan, statuses: &Statuses) -> f64 {
    let statuses_bps = statuses.rate_bps(plan);
    (nack_rate_bps(plan) - statuses_bps) / statuses_bps
}
