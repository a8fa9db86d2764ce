//! Every dimension of a plan: value, formula, and what breaks below and above it.

use serde::Serialize;
use skyhaul_core::units::{show_bytes, show_rate};
use skyhaul_petra::dimensioning::{Acknowledgement, Batches, Plan, Statuses, gain, nack_rate_bps};

/// Segments that a threshold has beyond (16): the one that is leaving counts as gone before it is, and the
/// one that arrives counts only when it is whole.
const WHOLE_SEGMENTS: u64 = 2;
/// Least timeout of a TCP whose clock ticks every 500 ms, s: two ticks.
const LEAST_TIMEOUT_S: f64 = 1.0;

/// What the rows are made from.
pub(super) struct Dimensions {
    pub(super) plan: Plan,
    pub(super) statuses: Statuses,
    pub(super) batches: Batches,
    pub(super) batch_segments: u64,
    pub(super) threshold_segments: u64,
    pub(super) acknowledgement: Acknowledgement,
}

/// A dimension.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// Name in a result for programs.
    pub(super) name: &'static str,
    /// What it is.
    #[serde(skip)]
    pub(super) words: &'static str,
    /// Number of the formula.
    pub(super) formula: &'static str,
    /// Value: s, bit/s, bytes or a number, as the name says.
    pub(super) value: f64,
    #[serde(skip)]
    pub(super) shown: String,
    /// What breaks below it.
    pub(super) below: &'static str,
    /// What breaks above it.
    pub(super) above: &'static str,
}

/// Threshold that is proposed for this plan, segments.
pub(super) fn proposed_threshold(plan: &Plan) -> u64 {
    // Errors slow the link: the fastest, a clean one, needs the most.
    plan.without_errors().least_threshold_segments() + WHOLE_SEGMENTS
}

impl Dimensions {
    /// All rows, in the order in which an operator needs them.
    pub(super) fn rows(&self) -> Vec<Row> {
        [self.packets(), self.relay(), self.end_to_end(), self.reverse()].concat()
    }

    fn packets(&self) -> Vec<Row> {
        let (pdus, plan) = (self.plan.pdus(), &self.plan);
        let errors = plan.path().satellite.bit_error_rate;
        vec![
            octets("pdu_payload_bytes", "payload of a PDU", "22", pdus.payload_bits)
                .broken("headers take the link", "too many PDUs are damaged"),
            part("efficiency", "share of the link for payload", "20", pdus.efficiency(errors)),
            octets("carried_bytes", "a segment on the satellite link", "4", plan.carried_bits()),
            count("stpp_window_pdus", "window of the satellite hop, PDUs", "1", self.stpp_window())
                .broken("the link waits for statuses", "the far relay must hold more"),
        ]
    }

    fn relay(&self) -> Vec<Row> {
        let (plan, threshold) = (&self.plan, self.threshold_segments);
        let cycle = plan.cycle();
        let pause_s = plan.first_pause_s(threshold).unwrap_or(0.0);
        vec![
            count("threshold_segments", "threshold of a relay, segments", "16", threshold)
                .broken("the satellite link waits", "a new connection's timer ends, Fig. 6"),
            count("buffer_segments", "buffer of a relay, segments", "19", plan.buffer_segments(threshold))
                .broken("overflow: a batch is lost for good", "memory"),
            count(
                "filled_segments",
                "of it filled on a clean link",
                "18",
                plan.full_buffer_segments(threshold),
            ),
            time("cycle_s", "cycle of the relay's buffer", "5-7", cycle.length_s),
            time("pause_s", "longest pause of acknowledgements", "7", cycle.draining_s),
            time("first_pause_s", "the first one of a connection", "11", pause_s)
                .broken("", "above 1 s TCP's timer ends"),
        ]
    }

    fn end_to_end(&self) -> Vec<Row> {
        let bound_s = self.batches.rtt_bound_s(&self.plan, self.acknowledgement);
        let window = self.batches.window_batches(&self.plan, self.acknowledgement);
        vec![
            count("batch_segments", "batch of the end-to-end layer, segments", "-", self.batch_segments)
                .broken("more acknowledgements lead back", "a dead path is noticed later"),
            time("utl_timeout_s", "timeout of the end-to-end layer", "10", bound_s)
                .broken("connections end for nothing", "a dead path is noticed later"),
            count("utl_window_batches", "window of the end-to-end layer, batches", "14", window)
                .broken("the satellite link waits", "more is unconfirmed when a relay dies"),
        ]
    }

    fn reverse(&self) -> Vec<Row> {
        let (plan, statuses) = (&self.plan, &self.statuses);
        vec![
            time("status_interval_s", "time between statuses", "-", statuses.interval_s)
                .broken("statuses fill the way back", "repeats wait, the window is larger"),
            rate("reverse_bps", "rate of statuses", "25", statuses.rate_bps(plan)),
            rate("nack_bps", "rate of a NACK for each damaged PDU", "28", nack_rate_bps(plan)),
            part("gain", "gain over NACKs", "27", gain(plan, statuses)),
        ]
    }

    fn stpp_window(&self) -> u64 {
        self.plan.stpp_window_for_pdus(self.statuses.interval_s)
    }

    /// What a value of the operator's breaks, with the formula's number.
    pub(super) fn broken(&self, checked: &super::args::CheckedArgs) -> Vec<String> {
        let (plan, threshold) = (&self.plan, self.threshold_segments);
        let least_threshold = plan.without_errors().least_threshold_segments();
        let bound_s = self.batches.rtt_bound_s(plan, self.acknowledgement);
        let counts = [
            ("--threshold", checked.threshold, least_threshold, "(16)", "the satellite link will wait"),
            ("--buffer", checked.buffer, plan.buffer_segments(threshold), "(19)", "segments can overflow"),
            (
                "--utl-window",
                checked.utl_window,
                self.batches.window_batches(plan, self.acknowledgement),
                "(14)",
                "the satellite link will wait",
            ),
            (
                "--stpp-window",
                checked.stpp_window,
                plan.stpp_window_pdus(),
                "(1)",
                "the satellite link will wait",
            ),
        ];
        let short = counts.into_iter().filter_map(|(option, given, least, formula, harm)| {
            let given = given.filter(|given| *given < least)?;
            Some(format!("{formula}: {option} {given} is below {least}: {harm}"))
        });
        let early = checked.utl_timeout_s().filter(|given_s| *given_s < bound_s).map(|given_s| {
            format!(
                "(10): --utl-timeout {given_s} s is below {bound_s:.2} s: connections will end for nothing"
            )
        });
        let first_s = plan.first_pause_s(threshold).unwrap_or(0.0);
        let timer = (first_s > LEAST_TIMEOUT_S).then(|| {
            format!(
                "(11): with a threshold of {threshold} the first pause lasts {first_s:.2} s, longer than TCP's \
                 least timeout of {LEAST_TIMEOUT_S} s: the sender will repeat what is not lost"
            )
        });
        short.chain(early).chain(timer).collect()
    }
}

impl Row {
    fn new(
        name: &'static str,
        words: &'static str,
        formula: &'static str,
        value: f64,
        shown: String,
    ) -> Self {
        Self { name, words, formula, value, shown, below: "", above: "" }
    }

    fn broken(self, below: &'static str, above: &'static str) -> Self {
        Self { below, above, ..self }
    }
}

fn count(name: &'static str, words: &'static str, formula: &'static str, value: u64) -> Row {
    Row::new(name, words, formula, value as f64, value.to_string())
}

fn time(name: &'static str, words: &'static str, formula: &'static str, value_s: f64) -> Row {
    Row::new(name, words, formula, value_s, format!("{value_s:.3} s"))
}

fn part(name: &'static str, words: &'static str, formula: &'static str, value: f64) -> Row {
    Row::new(name, words, formula, value, format!("{value:.3}"))
}

fn rate(name: &'static str, words: &'static str, formula: &'static str, value_bps: f64) -> Row {
    Row::new(name, words, formula, value_bps, show_rate(value_bps))
}

fn octets(name: &'static str, words: &'static str, formula: &'static str, value_bits: f64) -> Row {
    let bytes = value_bits / 8.0;
    Row::new(name, words, formula, bytes, show_bytes(bytes.round() as u64))
}
