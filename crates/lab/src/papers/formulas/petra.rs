//! Formulas of [PETRA IV, V-C]: what Figures 4, 9 and 14 draw without a run.

use serde_json::{Map, Value, json};
use skyhaul_petra::dimensioning::{
    Acknowledgement, Batches, Pdus, Plan, Satellite, Segments, SplitPath, Statuses, Wire, gain,
};

use super::{Computed, Content, Formula, number, topology};

/// Axis of bit error rates.
const ERRORS: &str = "bit_error_rate";
/// Overhead of a PDU, bits: 20 octets.
const OVERHEAD_BITS: f64 = 160.0;
/// Larger than any payload that (22) gives here.
const NO_LIMIT_BITS: f64 = 1e9;
/// Threshold for the bound: the least of (16) for this path.
const THRESHOLD_SEGMENTS: u64 = 2;
/// Length of UTL's acknowledgement, bits: a header of 40 octets.
const ACKNOWLEDGEMENT: Acknowledgement = Acknowledgement(320.0);

/// All of them.
pub(in crate::papers) const PETRA: &[Formula] = &[
    ("architecture", Content::Drawing(topology::petra)),
    ("stack", Content::Drawing(topology::petra_stack)),
    ("formula-4", Content::Results(round_trip)),
    ("formula-9", Content::Results(efficiency)),
    ("formula-14", Content::Results(reverse_gain)),
];

/// The path of Figures 4 to 14 with a satellite link of this rate.
fn plan(satellite_bps: f64, bit_error_rate: f64, pdus: Pdus) -> Plan {
    let wire = Wire { rate_bps: 2e6, rtt_s: 0.1 };
    let satellite = Satellite { rate_bps: satellite_bps, rtt_s: 0.5, bit_error_rate };
    let segments =
        Segments { payload_bits: 8000.0, header_bits: 320.0, relay_header_bits: 0.0, window_segments: 32 };
    let path = SplitPath { wires: [wire, wire], satellite };
    Plan::new(path, segments, pdus).expect("the paper's sets are within the formulas' ranges")
}

/// Fixed size: 600 octets and 20.
fn fixed() -> Pdus {
    Pdus { payload_bits: 4800.0, overhead_bits: OVERHEAD_BITS }
}

/// Figure 4: bound of `RTT_UTL`, (10).
fn round_trip() -> Computed {
    Computed {
        title: "Bound of the end-to-end round trip, formula (10)",
        axes: vec![
            ("batch", vec![json!(1), json!(10), json!(50), json!(100)]),
            (ERRORS, [1e-9, 1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4].map(|rate| json!(rate)).to_vec()),
        ],
        metrics: |set| {
            let plan = plan(128e3, number(set, ERRORS), fixed());
            let batches = Batches::new(number(set, "batch") as u64, THRESHOLD_SEGMENTS);
            let bound_s = batches.expect("no batch is empty").rtt_bound_s(&plan, ACKNOWLEDGEMENT);
            vec![("bound_s", bound_s)]
        },
    }
}

/// Figure 9: part of the link that payload can have, (20), by its size; the best is (22).
fn efficiency() -> Computed {
    let sizes = ["best", "100", "600", "1500", "10000"].map(|size| json!(size));
    Computed {
        title: "Share of the satellite hop for payload, formulas (20) and (22)",
        axes: vec![
            ("payload", sizes.to_vec()),
            (ERRORS, [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3].map(|rate| json!(rate)).to_vec()),
        ],
        metrics: |set| {
            let errors = number(set, ERRORS);
            let octets = set.get("payload").and_then(Value::as_str).and_then(|text| text.parse::<f64>().ok());
            let pdus = match octets {
                Some(octets) => Pdus { payload_bits: 8.0 * octets, overhead_bits: OVERHEAD_BITS },
                None => Pdus::best(OVERHEAD_BITS, errors, NO_LIMIT_BITS),
            };
            vec![("efficiency", pdus.efficiency(errors)), ("payload_bits", pdus.payload_bits)]
        },
    }
}

/// Figure 14: gain over NACKs in bandwidth back, (27), with the best size of PDUs.
fn reverse_gain() -> Computed {
    Computed {
        title: "Gain in reverse bandwidth over a NACK for each damaged PDU, formula (27)",
        axes: vec![
            ("alpha", vec![json!(2), json!(8)]),
            ("statuses", vec![json!(1), json!(2), json!(8)]),
            (ERRORS, [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2].map(|rate| json!(rate)).to_vec()),
        ],
        metrics: |set| vec![("gain", gain_of(set))],
    }
}

fn gain_of(set: &Map<String, Value>) -> f64 {
    let errors = number(set, ERRORS);
    let plan = plan(384e3, errors, Pdus::best(OVERHEAD_BITS, errors, NO_LIMIT_BITS));
    let statuses =
        Statuses { interval_s: 0.5 / number(set, "statuses"), bits_per_damaged: number(set, "alpha") };
    gain(&plan, &statuses)
}
