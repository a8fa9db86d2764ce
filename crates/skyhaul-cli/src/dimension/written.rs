//! Scenario file of a plan: its path, with every dimension as a key.

use std::fmt::Write as _;

use skyhaul_lab::standard;
use skyhaul_petra::stpp::{MAX_PAYLOAD_BYTES, MAX_SDU_HEADER_BYTES, MAX_WINDOW_PDUS};
use skyhaul_scenario::File;
use skyhaul_tcp::MIN_MSS_BYTES;

use super::rows::Dimensions;
use crate::failure::Failure;

/// Header of a PDU of STPP, octets.
const PDU_HEADER_BYTES: u64 = 20;
/// Headers of a segment of TCP over IP, octets.
const SEGMENT_HEADER_BYTES: u64 = 40;
/// Largest packet of a scenario's wires, octets.
const WIRE_PACKET_BYTES: u64 = 1500;
/// Time over which a satellite link that never waits is to be seen, s.
const SEEN_S: f64 = 60.0;
/// Octets that both ends of the satellite hop keep at least, as STPP has it.
const LEAST_LIMIT_BYTES: u64 = 1 << 20;

/// Numbers of a file, in octets and ns.
struct Numbers {
    segment: u64,
    window: u64,
    sdu_header: u64,
    payload: u64,
    window_pdus: u64,
    threshold: u64,
    size: u64,
    batch: u64,
    utl_window: u64,
    utl_timeout_ns: u64,
    status_ns: u64,
    file: u64,
}

impl Dimensions {
    /// Text of a scenario file in which a file crosses the plan's path, dimensioned as the rows say.
    ///
    /// # Errors
    /// Headers that the simulator's protocols do not have, and what STPP cannot count, with the formula's
    /// number.
    pub(super) fn scenario(&self) -> Result<String, Failure> {
        let numbers = self.numbers()?;
        let path = self.plan.path();
        let [near, far] = path.wires;
        let satellite = path.satellite;
        let mut text = head();
        let link = |text: &mut String, name: &str, ends: [&str; 2], rate_bps: f64, rtt_s: f64, more: &str| {
            let [from, to] = ends;
            let (rate, delay) = (whole(rate_bps), nanoseconds(rtt_s / 2.0));
            let _ = write!(
                text,
                "\n[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\n\
                 forward = {{ rate = \"{rate}bit/s\", delay = \"{delay}ns\"{more} }}\n\
                 reverse = {{ rate = \"{rate}bit/s\", delay = \"{delay}ns\" }}\n"
            );
        };
        link(&mut text, "wire1", ["sender", "west"], near.rate_bps, near.rtt_s, "");
        let errors = format!(", bit_error_rate = {:e}", satellite.bit_error_rate);
        link(&mut text, "satellite", ["west", "east"], satellite.rate_bps, satellite.rtt_s, &errors);
        link(&mut text, "wire2", ["east", "receiver"], far.rate_bps, far.rtt_s, "");
        text += &transports(&numbers, whole(satellite.rate_bps), nanoseconds(satellite.rtt_s));
        text += &flow(&numbers);
        // Nothing is written that `simulate` refuses, whatever key has too large a value for it.
        File::parse(&standard(), "it", &text).map_err(|error| {
            refused("(1) to (31)", &format!("the simulator does not take these magnitudes: {error}"))
        })?;
        Ok(text)
    }

    fn numbers(&self) -> Result<Numbers, Failure> {
        let (segments, pdus) = (self.plan.segments(), self.plan.pdus());
        let octets = |bits: f64| whole(bits / 8.0);
        if octets(segments.header_bits) != SEGMENT_HEADER_BYTES {
            return Err(refused(
                "(4)",
                "segments of TCP over IP have 40 octets of header: --segment-header 40B",
            ));
        }
        if octets(pdus.overhead_bits) != PDU_HEADER_BYTES {
            return Err(refused("(20)", "PDUs of STPP have 20 octets of overhead: --pdu-overhead 20B"));
        }
        let sdu_header = SEGMENT_HEADER_BYTES + octets(segments.relay_header_bits);
        if sdu_header > u64::from(MAX_SDU_HEADER_BYTES) {
            return Err(refused("(4)", "STPP has room for 984 octets of a relay's header"));
        }
        let (payload, window_pdus) = (octets(pdus.payload_bits), self.stpp_window());
        if payload > u64::from(MAX_PAYLOAD_BYTES) {
            return Err(refused("(22)", "PDUs of STPP have 65000 octets of payload at most"));
        }
        if window_pdus > u64::from(MAX_WINDOW_PDUS) {
            let problem =
                format!("a window of {window_pdus} PDUs is needed, and STPP counts 16384: take larger ones");
            return Err(refused("(1)", &problem));
        }
        let segment = octets(segments.payload_bits);
        if segment < u64::from(MIN_MSS_BYTES) {
            return Err(refused("(4)", "TCP of its wires has segments of 88 octets at least: --segment 88B"));
        }
        if segment + SEGMENT_HEADER_BYTES > WIRE_PACKET_BYTES {
            return Err(refused(
                "(4)",
                "its wires take packets of 1500 octets: --segment 1460B is the largest",
            ));
        }
        Ok(Numbers {
            segment,
            window: segments.window_segments.saturating_mul(segment),
            sdu_header,
            payload,
            window_pdus,
            threshold: self.threshold_segments.saturating_mul(segment),
            size: self.plan.buffer_segments(self.threshold_segments).saturating_mul(segment),
            batch: self.batch_segments.saturating_mul(segment),
            utl_window: self.utl_window(),
            utl_timeout_ns: nanoseconds(self.utl_timeout_s()),
            status_ns: nanoseconds(self.statuses.interval_s),
            file: whole(self.plan.drain_per_s() * SEEN_S).max(1).saturating_mul(segment),
        })
    }
}

fn head() -> String {
    "title = \"A split path, dimensioned\"\n\n[run]\ngoal = \"done\"\nduration = \"1h\"\n\n\
     [nodes]\nsender = { kind = \"host\" }\nwest = { kind = \"relay\" }\neast = { kind = \"relay\" }\n\
     receiver = { kind = \"host\" }\n"
        .to_string()
}

fn transports(numbers: &Numbers, rate_bps: u64, rtt_ns: u64) -> String {
    let Numbers { segment, window, sdu_header, payload, window_pdus, status_ns, .. } = numbers;
    // What comes at once behind a hole is a window: nobody may stop for it.
    let burst = window_pdus * payload;
    let limit = (4 * burst).max(LEAST_LIMIT_BYTES);
    format!(
        "\n[transports.ltl]\nprotocol = \"tcp\"\nprofile = \"petra\"\nmss = \"{segment}B\"\n\
         receive_limit = \"{window}B\"\nsend_limit = \"{}B\"\nwindow_scale = {}\n\n\
         [transports.hop]\nprotocol = \"stpp\"\nrate = \"{rate_bps}bit/s\"\nacceptor = {{ rate = \"{rate_bps}bit/s\" }}\n\
         rtt = \"{rtt_ns}ns\"\nstatus_interval = \"{status_ns}ns\"\npayload = \"{payload}B\"\nwindow_pdus = {window_pdus}\n\
         sdu = \"{segment}B\"\nsdu_header = \"{sdu_header}B\"\nsend_limit = \"{limit}B\"\nthreshold = \"{}B\"\n\
         receive_limit = \"{limit}B\"\n",
        2 * window,
        *window > 65_535,
        2 * burst,
    )
}

fn flow(numbers: &Numbers) -> String {
    let Numbers { window_pdus, payload, threshold, size, batch, utl_window, utl_timeout_ns, file, .. } =
        numbers;
    let burst = window_pdus * payload;
    format!(
        "\n[flows.file]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"ltl\"\n\
         workload = {{ kind = \"bulk\", size = \"{file}B\" }}\n\
         utl = {{ batch = \"{batch}B\", window_batches = {utl_window}, timeout = \"{utl_timeout_ns}ns\" }}\n\n\
         [[flows.file.via]]\nrelay = \"west\"\ntransport = \"hop\"\nthreshold = \"{threshold}B\"\nsize = \"{size}B\"\n\n\
         [[flows.file.via]]\nrelay = \"east\"\ntransport = \"ltl\"\nthreshold = \"{}B\"\nsize = \"{}B\"\n",
        2 * burst,
        4 * burst,
    )
}

fn refused(formula: &str, problem: &str) -> Failure {
    Failure::usage(format!("{formula}: no scenario can be written: {problem}"))
}

/// Nearest whole number; values are checked to be of the formulas' ranges.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).ceil() as u64
}
