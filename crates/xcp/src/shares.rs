//! Shares of the feedback of one control interval [XCP 4.2.2, 4.2.3].

use skyhaul_core::{QUEUE_GAIN, SPARE_GAIN};

use crate::load::{Load, UNITS_PER_S};

/// Part of the load that changes hands when nothing else does, gamma.
const SHUFFLED: f64 = 0.1;

/// What is left to hand out in an interval, in octets a second, and at which scale.
///
/// Neither residue is ever negative, and no packet gets more than the residue of its sign has left: the
/// latter is ours, draft-03 hands out what the scale says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    residue_pos: f64,
    residue_neg: f64,
    /// Octets a second for a second of X, Cp.
    scale_pos: f64,
    /// Octets a second for an octet, Cn.
    scale_neg: f64,
}

/// Share of one packet, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    /// Change that the packet carries on, in octets a second.
    pub(crate) delta_bytes_per_s: i32,
    /// Positive feedback that it was offered.
    pub(crate) offered: f64,
    /// The part of that which was neither taken nor set off.
    pub(crate) untaken: f64,
    /// True if it asked for less than its share.
    pub(crate) is_limited: bool,
}

impl Shares {
    /// Shares after an interval with this load, with a standing queue and a mean round trip. `factor` is the
    /// discipline's, of the positive feedback.
    pub(crate) fn after(
        load: &Load,
        rate_bytes_per_s: f64,
        capacity_bytes_per_s: f64,
        (queue_bytes, mean_rtt_s): (f64, f64),
        factor: f64,
    ) -> Self {
        let drain = if mean_rtt_s > 0.0 { queue_bytes / mean_rtt_s } else { 0.0 };
        let aggregate = SPARE_GAIN * (capacity_bytes_per_s - rate_bytes_per_s) - QUEUE_GAIN * drain;
        let shuffled = (SHUFFLED * rate_bytes_per_s - aggregate.abs()).max(0.0);
        let residue_pos = factor * (shuffled + aggregate.max(0.0));
        let residue_neg = shuffled + (-aggregate).max(0.0);
        Self {
            residue_pos,
            residue_neg,
            scale_pos: quotient(residue_pos, load.known_sum_x_s()),
            scale_neg: quotient(residue_neg, load.bytes() as f64),
        }
    }

    /// Share of a packet of so many octets and X (in units of 2^-28 s) that asks for `asked` octets a second.
    pub(crate) fn take(&mut self, bytes: u32, x_units: u32, asked: i32, sets_off: bool) -> Share {
        let offered = (self.scale_pos * (f64::from(x_units) / UNITS_PER_S)).min(self.residue_pos);
        let due = (self.scale_neg * f64::from(bytes)).min(self.residue_neg);
        let share = offered - due;
        let refused = share - f64::from(asked);
        let is_limited = refused > 0.0;
        let (pos, neg) = if is_limited && sets_off {
            let neg = self.residue_neg.min(due + refused);
            // Below 0 if more is given back than is to be: then the rest helps nobody.
            ((f64::from(asked) + neg).max(0.0), neg)
        } else {
            (offered, due)
        };
        self.spend(pos, neg);
        Share {
            delta_bytes_per_s: if is_limited { asked } else { rounded(share) },
            offered,
            untaken: if is_limited { (refused - (neg - due)).clamp(0.0, offered) } else { 0.0 },
            is_limited,
        }
    }

    fn spend(&mut self, pos: f64, neg: f64) {
        self.residue_pos = (self.residue_pos - pos).max(0.0);
        self.residue_neg = (self.residue_neg - neg).max(0.0);
        if self.residue_pos <= 0.0 {
            self.scale_pos = 0.0;
        }
        if self.residue_neg <= 0.0 {
            self.scale_neg = 0.0;
        }
    }

    #[cfg(test)]
    pub(crate) fn residues(&self) -> (f64, f64) {
        (self.residue_pos, self.residue_neg)
    }
}

/// The quotient, 0 where the divisor is.
fn quotient(value: f64, divisor: f64) -> f64 {
    if divisor > 0.0 { value / divisor } else { 0.0 }
}

/// The nearest integer; the largest or smallest one beyond these.
fn rounded(value: f64) -> i32 {
    (value + 0.5f64.copysign(value)) as i32
}
