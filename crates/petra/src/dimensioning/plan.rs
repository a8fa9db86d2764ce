//! What the formulas start from: the path, its segments and PDUs.

use core::fmt;

use super::Pdus;

/// Wire between an application's host and the relay next to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Rate, bit/s: `B_wired`.
    pub rate_bps: f64,
    /// Round-trip time, s: `RTT_wired`.
    pub rtt_s: f64,
}

/// Satellite link between the relays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Satellite {
    /// Rate, bit/s: `B_sat`.
    pub rate_bps: f64,
    /// Round-trip time, s: `RTT_sat`.
    pub rtt_s: f64,
    /// Probability that a bit arrives wrong, independent of all others: `P_e`.
    pub bit_error_rate: f64,
}

/// Path that two relays split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitPath {
    /// Wires at the sender and at the receiver.
    pub wires: [Wire; 2],
    /// What lies between the relays.
    pub satellite: Satellite,
}

/// Segments of the transport on the wires, LTL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segments {
    /// Payload of a full segment, bits.
    pub payload_bits: f64,
    /// Header of a segment, bits.
    pub header_bits: f64,
    /// What a relay adds to a segment, bits: `RLH_len`. The paper does not say how much it is.
    pub relay_header_bits: f64,
    /// Largest window, segments: `W_LTL^max`.
    pub window_segments: u64,
}

impl Segments {
    /// Length of a full segment on a wire, bits: `LTL_len`.
    pub fn length_bits(&self) -> f64 {
        self.payload_bits + self.header_bits
    }
}

/// Set of values for which the formulas hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    path: SplitPath,
    segments: Segments,
    pdus: Pdus,
}

/// Why the formulas hold for no such set. `value` is in the unit of what is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanError {
    /// A value is not a number of the least size or above, or beyond what any link has.
    OutOfRange {
        /// What it is, with its unit.
        what: &'static str,
        /// The value.
        value: f64,
        /// Least value.
        least: f64,
        /// Largest value.
        largest: f64,
    },
    /// The satellite link is no bottleneck: section IV has `B_wired > B_sat` on both sides.
    SatelliteNotSlower {
        /// 0: the wire at the sender; 1: at the receiver.
        wire: usize,
    },
    /// Hardly a PDU arrives whole: a smaller one is needed.
    PduTooLong {
        /// Probability that a PDU arrives damaged.
        error_probability: f64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { what, value, least, largest } => {
                write!(f, "{what} is {value}, which must be between {least} and {largest}")
            }
            Self::SatelliteNotSlower { wire } => write!(
                f,
                "the satellite link is not slower than the wire at the {}: formulas (2) to (19) are about a \
                 satellite link that is the bottleneck",
                if *wire == 0 { "sender" } else { "receiver" }
            ),
            Self::PduTooLong { error_probability } => write!(
                f,
                "of the PDUs {:.4} % arrive damaged, so hardly anything gets through: take smaller ones, (22)",
                error_probability * 100.0
            ),
        }
    }
}

impl core::error::Error for PlanError {}

/// Largest part of PDUs that may be damaged. Above, times grow beyond anything that a timeout can wait for.
const MAX_DAMAGED: f64 = 0.99;
/// Largest value of anything: 2^50, a petabit and more. It keeps all results finite.
const LARGEST: f64 = 1_125_899_906_842_624.0;
/// Largest window, segments: what 24 bits count. It bounds the time that a result takes.
const LARGEST_WINDOW: f64 = 16_777_216.0;

impl Plan {
    /// Set of values, if the formulas hold for it.
    pub fn new(path: SplitPath, segments: Segments, pdus: Pdus) -> Result<Self, PlanError> {
        let [sender, receiver] = path.wires;
        for (what, value, least, largest) in [
            ("(2): rate of the wire at the sender (bit/s)", sender.rate_bps, 1.0, LARGEST),
            ("(2): rate of the wire at the receiver (bit/s)", receiver.rate_bps, 1.0, LARGEST),
            ("(3): rate of the satellite link (bit/s)", path.satellite.rate_bps, 1.0, LARGEST),
            ("(5): round-trip time of the wire at the sender (s)", sender.rtt_s, 1e-6, 3600.0),
            ("(10): round-trip time of the wire at the receiver (s)", receiver.rtt_s, 1e-6, 3600.0),
            ("(1): round-trip time of the satellite link (s)", path.satellite.rtt_s, 1e-6, 3600.0),
            ("(20): bit error rate of the satellite link", path.satellite.bit_error_rate, 0.0, 0.5),
            ("(4): payload of a segment (bit)", segments.payload_bits, 8.0, LARGEST),
            ("(4): header of a segment (bit)", segments.header_bits, 0.0, LARGEST),
            ("(4): header of a relay (bit)", segments.relay_header_bits, 0.0, LARGEST),
            ("(7): window of the segments", segments.window_segments as f64, 1.0, LARGEST_WINDOW),
            ("(20): payload of a PDU (bit)", pdus.payload_bits, 8.0, LARGEST),
            ("(20): overhead of a PDU (bit)", pdus.overhead_bits, 0.0, LARGEST),
        ] {
            within(what, value, least, largest)?;
        }
        let slow = path.wires.iter().position(|wire| wire.rate_bps <= path.satellite.rate_bps);
        if let Some(wire) = slow {
            return Err(PlanError::SatelliteNotSlower { wire });
        }
        let error_probability = pdus.error_probability(path.satellite.bit_error_rate);
        if error_probability > MAX_DAMAGED {
            return Err(PlanError::PduTooLong { error_probability });
        }
        Ok(Self { path, segments, pdus })
    }

    /// The path.
    pub fn path(&self) -> &SplitPath {
        &self.path
    }

    /// The segments on the wires.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// The PDUs on the satellite link.
    pub fn pdus(&self) -> &Pdus {
        &self.pdus
    }

    /// The plan of a satellite link without errors.
    #[must_use]
    pub fn without_errors(mut self) -> Self {
        self.path.satellite.bit_error_rate = 0.0;
        self
    }

    /// The plan of one of so many flows that share all links evenly, at least one.
    #[must_use]
    pub fn shared_by(mut self, flows: u64) -> Self {
        let flows = flows.max(1) as f64;
        self.path.satellite.rate_bps /= flows;
        self.path.wires.iter_mut().for_each(|wire| wire.rate_bps /= flows);
        self
    }

    /// Probability that a PDU arrives damaged.
    pub fn pdu_error_probability(&self) -> f64 {
        self.pdus.error_probability(self.path.satellite.bit_error_rate)
    }

    /// Rate of the satellite link less what repeats take, bit/s: `B_sat^eq` [PETRA IV-A].
    pub fn equivalent_rate_bps(&self) -> f64 {
        self.path.satellite.rate_bps * (1.0 - self.pdu_error_probability())
    }

    /// Bits that a full segment is on the satellite link: `LTL'_len` [PETRA (4)].
    pub fn carried_bits(&self) -> f64 {
        self.carry(self.segments.length_bits() + self.segments.relay_header_bits)
    }

    /// Bits on the satellite link of so many bits of a relay.
    pub(super) fn carry(&self, bits: f64) -> f64 {
        bits * self.pdus.length_bits() / self.pdus.payload_bits
    }

    /// Segments that leave over the satellite link each second, [PETRA (3)] without its sign.
    pub fn drain_per_s(&self) -> f64 {
        self.equivalent_rate_bps() / self.carried_bits()
    }

    /// Largest window of the segments.
    pub(super) fn window(&self) -> f64 {
        self.segments.window_segments as f64
    }

    /// Segments that arrive over the first wire each second, [PETRA (2)].
    pub fn arrivals_per_s(&self) -> f64 {
        self.path.wires[0].rate_bps / self.segments.length_bits()
    }
}

/// Fails if the value is no number of the range.
pub(super) fn within(what: &'static str, value: f64, least: f64, largest: f64) -> Result<(), PlanError> {
    if (least..=largest).contains(&value) {
        return Ok(());
    }
    Err(PlanError::OutOfRange { what, value, least, largest })
}
