//! Every dimension of a plan: value, formula, and what breaks below and above it.

use serde::Serialize;
use skyhaul_core::units::{show_bytes, show_rate};
use skyhaul_petra::dimensioning::{Acknowledgement, Batches, Pdus, Plan, Statuses, gain, nack_rate_bps};
use skyhaul_petra::stpp::MAX_WINDOW_PDUS;

use super::timer::Timer;

/// Segments that a threshold has beyond (16): the one that is leaving counts as gone before it is, and the
/// one that arrives counts only when it is whole.
const WHOLE_SEGMENTS: u64 = 2;

/// Largest number of segments or batches that the formulas take: what 24 bits count.
const MOST_COUNTED: u64 = 1 << 24;

/// What the rows are made from.
pub(super) struct Dimensions {
    pub(super) plan: Plan,
    pub(super) statuses: Statuses,
    pub(super) batches: Batches,
    pub(super) batch_segments: u64,
    pub(super) threshold_segments: u64,
    pub(super) acknowledgement: Acknowledgement,
    /// Of the sender's transport on the first wire.
    pub(super) timer: Timer,
    /// Connections over the satellite link.
    pub(super) sharing: u64,
    pub(super) given: Given,
}

/// Values that somebody chose, and not we: true for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// Payload of a PDU.
    pub(super) payload: bool,
    pub(super) threshold: bool,
}

/// What stands in the place of a formula beside a value that was taken.
fn chosen(is_given: bool, ours: &'static str) -> &'static str {
    if is_given { "given" } else { ours }
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
        let best = Pdus::best(pdus.overhead_bits, errors, f64::INFINITY).payload_bits;
        let best = octets("best_payload_bytes", "payload that carries most", "22", best);
        let best = best.broken("headers take the link", "too many PDUs are damaged");
        let further = [
            octets(
                "pdu_payload_bytes",
                "taken: payload of a PDU",
                chosen(self.given.payload, "ours, by 22"),
                pdus.payload_bits,
            )
            .broken("headers take the link", "too many PDUs are damaged"),
            part("efficiency", "share of the link for payload", "20", pdus.efficiency(errors))
                .broken("(22) has a better payload", "-"),
            octets("carried_bytes", "a segment on the satellite link", "4", plan.carried_bits())
                .broken("more leave: (16) is higher", "fewer leave: (10) is longer"),
            count(
                "least_stpp_window_pdus",
                "least window of the satellite hop, PDUs",
                "1",
                plan.stpp_window_pdus(),
            )
            .broken("the link waits for its round trip", "needed: statuses and repeats come late"),
            count("stpp_window_pdus", "recommended: window of it", "ours, by 1", self.stpp_window())
                .broken("the link waits for statuses", "the far relay must hold more"),
        ];
        // Without errors (22) has no end.
        (errors > 0.0).then_some(best).into_iter().chain(further).collect()
    }

    fn relay(&self) -> Vec<Row> {
        let (plan, threshold) = (&self.plan, self.threshold_segments);
        let cycle = plan.cycle();
        let pause_s = self.first_pause_s();
        let timeout_s = self.timer.least_s(plan.path().wires[0].rtt_s);
        let least = plan.without_errors().least_threshold_segments();
        vec![
            count("least_threshold_segments", "least threshold of a relay, segments", "16", least)
                .broken("the satellite link waits", "needed: segments leave and come whole"),
            count(
                "threshold_segments",
                "taken: threshold of a relay",
                chosen(self.given.threshold, "ours, by 16"),
                threshold,
            )
            .broken("the satellite link waits", "a new connection's timer ends, Fig. 6"),
            count("buffer_segments", "buffer of a relay, segments", "19", plan.buffer_segments(threshold))
                .broken("overflow: a batch is lost for good", "memory"),
            count(
                "filled_segments",
                "of it filled on a clean link",
                "18",
                plan.full_buffer_segments(threshold),
            )
            .broken("overflow without any error", "memory; (19) is enough for errors, too"),
            time("cycle_s", "cycle of the relay's buffer", "5-7", cycle.length_s)
                .broken("acknowledgements stop more often", "pauses and (10) are longer"),
            time("pause_s", "longest pause of acknowledgements", "7", cycle.draining_s)
                .broken("a window lasts less than a pause", "a timer that has not measured one ends"),
            time("first_pause_s", "the first one of a connection", "11", pause_s)
                .broken("-", "above TCP's timeout it repeats"),
            time("tcp_timeout_s", "TCP's least timeout, of a new connection", "-", timeout_s)
                .broken("it ends within the first pause", "losses on the wire are mended late"),
        ]
    }

    fn end_to_end(&self) -> Vec<Row> {
        let (bound_s, timeout_s, window) = (self.utl_bound_s(), self.utl_timeout_s(), self.utl_window());
        let least = self.batches.window_batches(&self.plan, self.acknowledgement);
        vec![
            count("batch_segments", "batch of the end-to-end layer, segments", "-", self.batch_segments)
                .broken("more acknowledgements lead back", "a dead path is noticed later"),
            time("utl_rtt_s", "longest round trip end to end", "10", bound_s)
                .broken("a timeout ends for nothing", "a dead path is noticed later"),
            time("utl_timeout_s", "recommended: timeout of the end-to-end layer", "ours, by 10", timeout_s)
                .broken("connections end for nothing", "a dead path is noticed later"),
            count("least_utl_window_batches", "least window of the end-to-end layer, batches", "14", least)
                .broken("the satellite link waits", "needed: repeats, and a batch being filled"),
            count("utl_window_batches", "recommended: window of it", "ours, by 14", window)
                .broken("the satellite link waits", "more is unconfirmed when a relay dies"),
        ]
    }

    fn reverse(&self) -> Vec<Row> {
        let (plan, statuses) = (&self.plan, &self.statuses);
        vec![
            time("status_interval_s", "time between statuses", "-", statuses.interval_s)
                .broken("statuses fill the way back", "repeats wait, the window is larger"),
            rate("reverse_bps", "rate of statuses", "25", statuses.rate_bps(plan))
                .broken("statuses come late, repeats wait", "the way back carries what nobody needs"),
            rate("nack_bps", "rate of a NACK for each damaged PDU", "28", nack_rate_bps(plan))
                .broken("below (25): take a longer T_stat", "above (25): statuses save the difference"),
            part("gain", "gain over NACKs", "27", gain(plan, statuses))
                .broken("below 0 NACKs would take less", "-"),
        ]
    }

    /// Window of the satellite hop, PDUs.
    pub(super) fn stpp_window(&self) -> u64 {
        self.plan.stpp_window_with_repeats_pdus(self.statuses.interval_s)
    }

    /// The plan while all connections are at work: times are longest then. Windows and thresholds are for one
    /// that has the link to itself, which needs the most.
    fn crowded(&self) -> Plan {
        self.plan.shared_by(self.sharing)
    }

    /// First pause of acknowledgements, s.
    fn first_pause_s(&self) -> f64 {
        self.crowded().first_pause_s(self.threshold_segments).unwrap_or(0.0)
    }

    /// Least timeout of the end-to-end layer by (10), s.
    fn utl_bound_s(&self) -> f64 {
        self.batches.rtt_bound_s(&self.crowded(), self.acknowledgement)
    }

    /// Timeout of the end-to-end layer with time for repeats, s.
    pub(super) fn utl_timeout_s(&self) -> f64 {
        self.batches.timeout_s(&self.crowded(), self.acknowledgement, self.statuses.interval_s)
    }

    /// Window of the end-to-end layer with time for repeats, batches.
    pub(super) fn utl_window(&self) -> u64 {
        self.batches.ample_window_batches(&self.plan, self.acknowledgement, self.statuses.interval_s)
    }

    /// Words on the connections that share the satellite link; none where there is one.
    fn shared(&self) -> String {
        if self.sharing > 1 {
            format!(", with {} connections on the satellite link", self.sharing)
        } else {
            String::new()
        }
    }

    /// What given values break, with the formula's number.
    pub(super) fn broken(&self, checked: &Checked) -> Vec<String> {
        let (plan, threshold, names) = (&self.plan, self.threshold_segments, &checked.names);
        let least_threshold = plan.without_errors().least_threshold_segments();
        let waits = "the satellite link will wait";
        // (1) is for a status at once: a window turns once in a round trip and the time between two.
        let turning = plan.stpp_window_for_pdus(self.statuses.interval_s);
        let counts = [
            (What::Threshold, checked.threshold, least_threshold, "(16)", waits),
            (What::Buffer, checked.buffer, plan.buffer_segments(threshold), "(19)", "segments can overflow"),
            (
                What::UtlWindow,
                checked.utl_window,
                self.batches.window_batches(plan, self.acknowledgement),
                "(14)",
                waits,
            ),
            (What::StppWindow, checked.stpp_window, turning, "(1)", waits),
        ];
        let short = counts.into_iter().filter_map(|(what, given, least, formula, harm)| {
            let given = given.filter(|given| *given < least)?;
            Some(format!("{formula}: {} {given} is below {least}: {harm}", names.of(what)))
        });
        let countless = counts.into_iter().filter_map(|(what, given, _, formula, _)| {
            let given = given.filter(|given| *given > MOST_COUNTED)?;
            Some(format!(
                "{formula}: {} {given} is above {MOST_COUNTED}: nothing holds so many",
                names.of(what)
            ))
        });
        let bound_s = self.utl_bound_s();
        let early = checked.utl_timeout_s.filter(|given_s| *given_s < bound_s).map(|given_s| {
            let name = names.of(What::UtlTimeout);
            format!(
                "(10): {name} {given_s} s is below {bound_s:.2} s{}: connections will end for nothing",
                self.shared()
            )
        });
        let first_s = self.first_pause_s();
        let timer = self.timer.told(first_s, plan.path().wires[0].rtt_s).map(|told| {
            let shared = self.shared();
            format!(
                "(11): with a threshold of {threshold} the first pause lasts {first_s:.2} s{shared}: {told}"
            )
        });
        let window = plan.segments().window_segments;
        let narrow = (window < least_threshold).then(|| {
            format!(
                "(16): a window of {window} segments ({}) is below the {least_threshold} that leave in a round trip of \
                 the wire: {waits}",
                names.of(What::Window)
            )
        });
        let far_least = (plan.without_errors().drain_per_s() * plan.path().wires[1].rtt_s).ceil() as u64;
        let far_window = checked.far_window;
        // What comes over the satellite link in a round trip of the last wire fits into its window: (16).
        let far_narrow = (far_window < far_least).then(|| {
            format!(
                "(16): a window of {far_window} segments ({}) on the last wire is below the {far_least} that come in a \
                 round trip of it: {waits}",
                names.of(What::FarWindow)
            )
        });
        let most = u64::from(MAX_WINDOW_PDUS);
        let (window_pdus, whose) = match checked.stpp_window {
            Some(given) => (given, names.of(What::StppWindow)),
            None => (self.stpp_window(), "the window of the satellite hop,".into()),
        };
        let beyond = (window_pdus > most).then(|| {
            format!(
                "(1): {whose} {window_pdus} PDUs, is above the {most} that STPP counts: take larger PDUs, or statuses \
                 more often"
            )
        });
        short
            .chain(countless)
            .chain(early)
            .chain(beyond)
            .chain(timer)
            .chain(narrow)
            .chain(far_narrow)
            .collect()
    }
}

/// Values that somebody has already, held against the formulas.
pub(super) struct Checked {
    /// Of the first relay's buffer, segments.
    pub(super) threshold: Option<u64>,
    pub(super) buffer: Option<u64>,
    pub(super) utl_timeout_s: Option<f64>,
    /// Batches.
    pub(super) utl_window: Option<u64>,
    /// PDUs.
    pub(super) stpp_window: Option<u64>,
    /// Of the last wire, segments.
    pub(super) far_window: u64,
    pub(super) names: Names,
}

/// Value that is checked.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Threshold,
    Buffer,
    UtlTimeout,
    UtlWindow,
    StppWindow,
    /// Of the first wire's transport.
    Window,
    /// Of the last wire's.
    FarWindow,
}

/// What the values are called where they were given.
pub(super) enum Names {
    /// Options of the command.
    Options,
    /// Keys of a scenario file with this flow: threshold and size of the first relay, and those that bound
    /// the windows of the wires and of the satellite hop.
    Keys { flow: String, buffer: [String; 2], window: String, far_window: String, stpp_window: String },
}

impl Names {
    fn of(&self, what: What) -> String {
        match self {
            Self::Options => match what {
                What::Threshold => "--threshold",
                What::Buffer => "--buffer",
                What::UtlTimeout => "--utl-timeout",
                What::UtlWindow => "--utl-window",
                What::StppWindow => "--stpp-window",
                What::Window | What::FarWindow => "--window",
            }
            .to_string(),
            Self::Keys { flow, buffer: [threshold, size], window, far_window, stpp_window } => match what {
                What::Window => window.clone(),
                What::FarWindow => far_window.clone(),
                What::Threshold => format!("{threshold} in segments,"),
                What::Buffer => format!("{size} in segments,"),
                What::UtlTimeout => format!("flows.{flow}.utl.timeout"),
                What::UtlWindow => format!("flows.{flow}.utl.window_batches"),
                What::StppWindow => stpp_window.clone(),
            },
        }
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
