//! Arguments of `dimension`.

use std::path::PathBuf;

use skyhaul_core::units::{parse_bytes, parse_rate_bps, parse_time_ns};
use skyhaul_petra::dimensioning::{Pdus, Plan, Satellite, Segments, SplitPath, Statuses, Wire};
use skyhaul_petra::stpp::MAX_PAYLOAD_BYTES;

use super::rows::{Checked, Names};
use crate::args::MORE;
use crate::failure::Failure;

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;
/// Longest time between two statuses, s: as of round trips.
const LONGEST_INTERVAL_S: f64 = 3600.0;
/// Octets of the largest packet that IP has.
const MAX_PACKET_BYTES: u64 = 65_535;

/// Reader of an option's value that says the number of the formula which the value is for, if it is none.
fn by<T>(
    formula: &'static str,
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |text| parse(text).map_err(|problem| format!("{formula}: {problem}"))
}

/// A whole number: formulas have bounds of their own.
fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is no whole number from 0 to {}", u64::MAX))
}

/// A number.
fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

#[derive(Clone, Debug, clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct DimensionArgs {
    /// Rate of the satellite link
    #[arg(long, value_name = "RATE", value_parser = by("(3)", parse_rate_bps), required_unless_present = "check")]
    satellite: Option<u64>,
    /// Rate of the wires between the hosts and the relays
    #[arg(long, value_name = "RATE", value_parser = by("(2)", parse_rate_bps), required_unless_present = "check")]
    wire: Option<u64>,
    /// Round-trip time of the satellite link
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = by("(1)", parse_time_ns))]
    satellite_rtt: u64,
    /// Round-trip time of each wire
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = by("(5)", parse_time_ns))]
    wire_rtt: u64,
    /// Part of the bits that arrive wrong over the satellite link, like 1e-5
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = by("(20)", number))]
    bit_error_rate: f64,
    /// Segments of a batch that is confirmed end to end
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = by("(9)", count))]
    pub(super) batch: u64,
    /// Write a scenario file with these dimensions, for `skyhaul simulate`
    #[arg(long, value_name = "OUT")]
    pub(super) scenario: Option<PathBuf>,
    /// Take path and values out of this scenario file, and name what they break
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "satellite", "wire", "satellite_rtt", "wire_rtt", "bit_error_rate", "batch", "scenario", "threshold", "buffer",
        "utl_timeout", "utl_window", "stpp_window", "far_wire", "far_wire_rtt", "window", "segment", "segment_header",
        "relay_header", "pdu", "pdu_overhead", "largest_pdu", "status_interval", "alpha", "acknowledgement",
    ])]
    pub(super) check: Option<PathBuf>,
    #[command(flatten)]
    checked: CheckedArgs,
    #[command(flatten)]
    further: FurtherArgs,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Values that an operator has already, held against the formulas.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckedArgs {
    /// Check this threshold of a relay's buffer, in segments, instead of proposing one
    #[arg(long, value_name = "N", value_parser = by("(16)", count))]
    threshold: Option<u64>,
    /// Check this size of a relay's buffer, in segments
    #[arg(long, value_name = "N", value_parser = by("(19)", count))]
    buffer: Option<u64>,
    /// Check this timeout of the end-to-end layer
    #[arg(long, value_name = "TIME", value_parser = by("(10)", parse_time_ns))]
    utl_timeout: Option<u64>,
    /// Check this window of the end-to-end layer, in batches
    #[arg(long, value_name = "N", value_parser = by("(14)", count))]
    utl_window: Option<u64>,
    /// Check this window of the satellite hop, in PDUs
    #[arg(long, value_name = "N", value_parser = by("(1)", count))]
    stpp_window: Option<u64>,
}

/// What few need to change: the paper's values.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = MORE)]
pub(crate) struct FurtherArgs {
    /// Rate of the receiver's wire [default: as the sender's]
    #[arg(long, value_name = "RATE", value_parser = by("(2)", parse_rate_bps))]
    far_wire: Option<u64>,
    /// Round-trip time of the receiver's wire [default: as the sender's]
    #[arg(long, value_name = "TIME", value_parser = by("(10)", parse_time_ns))]
    far_wire_rtt: Option<u64>,
    /// Largest window of the transport on the wires, in segments
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = by("(7)", count))]
    window: u64,
    /// Payload of a full segment
    #[arg(long, value_name = "SIZE", default_value = "1000B", value_parser = by("(4)", parse_bytes))]
    segment: u64,
    /// Header of a segment
    #[arg(long, value_name = "SIZE", default_value = "40B", value_parser = by("(4)", parse_bytes))]
    segment_header: u64,
    /// What a relay adds to a segment
    #[arg(long, value_name = "SIZE", default_value = "0B", value_parser = by("(4)", parse_bytes))]
    relay_header: u64,
    /// Payload of a PDU of the satellite hop [default: what carries most, (22), up to --largest-pdu]
    #[arg(long, value_name = "SIZE", value_parser = by("(22)", parse_bytes))]
    pdu: Option<u64>,
    /// Header and checksum of a PDU
    #[arg(long, value_name = "SIZE", default_value = "20B", value_parser = by("(20)", parse_bytes))]
    pdu_overhead: u64,
    /// Largest PDU with its header, where the size is chosen
    #[arg(long, value_name = "SIZE", default_value = "1500B", value_parser = by("(22)", parse_bytes), conflicts_with = "pdu")]
    largest_pdu: u64,
    /// Time between two statuses of the satellite hop's receiver [default: an eighth of its round trip]
    #[arg(long, value_name = "TIME", value_parser = by("(25)", parse_time_ns))]
    status_interval: Option<u64>,
    /// Bits of a status that name one damaged PDU: of the paper's bitmap 1.16, of its list 8, of Rice codes
    /// below 1 where many in a row are damaged
    #[arg(long, value_name = "BITS", default_value_t = 1.16, value_parser = by("(23)", number))]
    alpha: f64,
    /// Length of the end-to-end layer's acknowledgement
    #[arg(long, value_name = "SIZE", default_value = "40B", value_parser = by("(13)", parse_bytes))]
    acknowledgement: u64,
}

impl DimensionArgs {
    /// Set of values, if the formulas hold for it.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let further = &self.further;
        if !(0.0..=0.5).contains(&self.bit_error_rate) {
            return Err(Failure::usage("(20): --bit-error-rate must be between 0 and 0.5, like 1e-5"));
        }
        let segment_bytes = further.segment.saturating_add(further.segment_header);
        if segment_bytes > MAX_PACKET_BYTES {
            return Err(Failure::usage(format!(
                "(4): --segment and --segment-header have {segment_bytes} octets, and a packet has {MAX_PACKET_BYTES} \
                 at most"
            )));
        }
        let beyond = [
            ("(4)", "--relay-header", further.relay_header),
            ("(13)", "--acknowledgement", further.acknowledgement),
            ("(20)", "--pdu-overhead", further.pdu_overhead),
        ]
        .into_iter()
        .find(|(.., bytes)| *bytes > MAX_PACKET_BYTES);
        if let Some((formula, option, bytes)) = beyond {
            return Err(Failure::usage(format!(
                "{formula}: {option} has {bytes} octets, and a packet has {MAX_PACKET_BYTES} at most"
            )));
        }
        // With none (22) has no end towards small PDUs, and (27) is 0 over 0.
        if further.pdu_overhead == 0 {
            return Err(Failure::usage("(20): --pdu-overhead must be at least 1B: PDUs have a checksum"));
        }
        let segments = Segments {
            payload_bits: bits(further.segment),
            header_bits: bits(further.segment_header),
            relay_header_bits: bits(further.relay_header),
            window_segments: further.window,
        };
        Plan::new(self.path(), segments, self.pdus()?).map_err(|error| Failure::usage(error.to_string()))
    }

    fn path(&self) -> SplitPath {
        // Both rates are required where no file is checked.
        let rate_bps = |rate: Option<u64>| rate.unwrap_or(0) as f64;
        let near = Wire { rate_bps: rate_bps(self.wire), rtt_s: seconds(self.wire_rtt) };
        let far = Wire {
            rate_bps: self.further.far_wire.map_or(near.rate_bps, |bps| bps as f64),
            rtt_s: self.further.far_wire_rtt.map_or(near.rtt_s, seconds),
        };
        let satellite = Satellite {
            rate_bps: rate_bps(self.satellite),
            rtt_s: seconds(self.satellite_rtt),
            bit_error_rate: self.bit_error_rate,
        };
        SplitPath { wires: [near, far], satellite }
    }

    fn pdus(&self) -> Result<Pdus, Failure> {
        let overhead_bits = bits(self.further.pdu_overhead);
        let (most, given) = (u64::from(MAX_PAYLOAD_BYTES), self.further.pdu);
        let chosen = self.further.largest_pdu.saturating_sub(self.further.pdu_overhead);
        if given.unwrap_or(chosen) > most {
            let option = given.map_or("--largest-pdu", |_| "--pdu");
            return Err(Failure::usage(format!(
                "(22): {option}: STPP has room for {most} octets of payload"
            )));
        }
        if let Some(bytes) = given {
            return Ok(Pdus { payload_bits: bits(bytes), overhead_bits });
        }
        let largest_bits = bits(self.further.largest_pdu) - overhead_bits;
        if largest_bits < 8.0 {
            return Err(Failure::usage(
                "(22): --largest-pdu leaves no octet beside --pdu-overhead: make it larger",
            ));
        }
        let best = Pdus::best(overhead_bits, self.bit_error_rate, largest_bits);
        // Whole octets, as every PDU has.
        let payload_bits = ((best.payload_bits / 8.0).floor() * 8.0).max(8.0);
        Ok(Pdus { payload_bits, ..best })
    }

    pub(super) fn statuses(&self) -> Result<Statuses, Failure> {
        let interval_s =
            self.further.status_interval.map_or_else(|| seconds(self.satellite_rtt) / 8.0, seconds);
        if interval_s <= 0.0 || interval_s > LONGEST_INTERVAL_S {
            return Err(Failure::usage(format!(
                "(25): --status-interval must be above 0 and at most {LONGEST_INTERVAL_S} s"
            )));
        }
        if !(0.0..=1e6).contains(&self.further.alpha) {
            return Err(Failure::usage("(23): --alpha must be between 0 and 1000000 bits"));
        }
        Ok(Statuses { interval_s, bits_per_damaged: self.further.alpha })
    }

    /// True if `--pdu` says how large PDUs are.
    pub(super) fn is_payload_given(&self) -> bool {
        self.further.pdu.is_some()
    }

    pub(super) fn acknowledgement_bits(&self) -> f64 {
        bits(self.further.acknowledgement)
    }

    pub(super) fn checked(&self) -> Checked {
        let CheckedArgs { threshold, buffer, utl_timeout, utl_window, stpp_window } = self.checked;
        Checked {
            threshold,
            buffer,
            utl_timeout_s: utl_timeout.map(seconds),
            utl_window,
            stpp_window,
            far_window: self.further.window,
            names: Names::Options,
        }
    }
}

fn bits(bytes: u64) -> f64 {
    bytes as f64 * 8.0
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS
}
