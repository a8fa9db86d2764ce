//! Metrics of flows: of each group, and of all together.

use std::borrow::Cow;
use std::collections::BTreeMap;

use skyhaul_core::{Instant, SECOND, Stats};

use skyhaul_petra::utl::RoundTrips;

use super::loss_oracle::VERDICTS;
use super::wrong::{damaged_packets, wrong_bytes_in_words};
use crate::fabric::RunError;
use crate::flows::{Delays, Flows, Record};
use crate::network::Network;
use crate::run::Run;
use crate::share::limit_bytes;
use skyhaul_scenario::{Carrier, Scenario, WebLoad, Workload};

/// Metrics by name.
pub(crate) type Metrics = BTreeMap<String, f64>;

/// Both ends of one flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowAt<'a> {
    pub(crate) group: usize,
    /// Counters of the opener's connections.
    pub(crate) opener: Stats,
    /// Counters of the acceptor's.
    pub(crate) acceptor: Stats,
    pub(crate) records: [Option<&'a Record>; 2],
}

impl FlowAt<'_> {
    fn sum(&self, of: impl Fn(&Record) -> u64) -> u64 {
        self.records.iter().flatten().map(|record| of(record)).sum()
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.sum(|record| record.received_bytes)
    }

    pub(super) fn started_at(&self) -> Option<Instant> {
        self.records[0]?.started_at
    }

    fn last_byte_at(&self) -> Option<Instant> {
        self.records.iter().flatten().filter_map(|record| record.last_byte_at).max()
    }

    /// Round trips of batches of the opener's that were confirmed end to end.
    pub(crate) fn round_trips(&self) -> Option<RoundTrips> {
        Some(self.records[0]?.round_trips).filter(|round_trips| round_trips.count > 0)
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.records.iter().flatten().find_map(|record| record.failure.as_deref())
    }
}

/// All flows of a run, by number.
pub(crate) fn flows_at<'a>(scenario: &Scenario, network: &'a Network) -> Vec<FlowAt<'a>> {
    let none =
        |group| FlowAt { group, opener: Stats::default(), acceptor: Stats::default(), records: [None; 2] };
    let groups = scenario.flows.iter().enumerate();
    let mut all: Vec<FlowAt<'a>> =
        groups.flat_map(|(group, spec)| (0..spec.count).map(move |_| group)).map(none).collect();
    for (_, host) in network.hosts() {
        let Some(app) = host.app.as_any().downcast_ref::<Flows>() else { continue };
        for (flow, opens, record, stats) in app.records(&host.engines) {
            let Some(at) = all.get_mut(flow as usize) else { continue };
            *(if opens { &mut at.opener } else { &mut at.acceptor }) = stats;
            at.records[usize::from(!opens)] = Some(record);
        }
    }
    all
}

/// A flow with what was measured of it.
struct Flow<'a> {
    at: FlowAt<'a>,
    /// Bytes delivered after the warm-up.
    payload_bytes: u64,
    /// From its first write, or the end of the warm-up, to its last byte, or the end of the run.
    from: Instant,
    to: Instant,
    is_complete: bool,
    /// Some of its stream may be missing for good.
    leaves_gaps: bool,
    headers: Headers,
}

/// Octets around the payload of a packet.
#[derive(Clone, Copy)]
struct Headers {
    /// The network's, with an envelope.
    network_bytes: u64,
    /// The smallest of a segment with data.
    segment_bytes: u64,
}

impl Flow<'_> {
    /// Octets of repeats and of control in both directions, as the transport sends them: without headers of
    /// the network, and without those of packets with data that are sent for the first time.
    fn repeated_and_control_bytes(&self) -> f64 {
        let one = |stats: &Stats| {
            let segments = stats.sent_bytes as f64 - (self.headers.network_bytes * stats.sent_packets) as f64;
            segments - (self.headers.segment_bytes * stats.data_packets) as f64
        };
        one(&self.at.opener) + one(&self.at.acceptor) - self.at.received_bytes() as f64
    }

    fn goodput_bps(&self) -> f64 {
        rate_bps(self.payload_bytes, self.from, self.to)
    }
}

fn rate_bps(bytes: u64, from: Instant, to: Instant) -> f64 {
    let ns = to.since(from);
    if ns == 0 { 0.0 } else { bytes as f64 * 8.0 * SECOND as f64 / ns as f64 }
}

fn finished<'a>(run: &Run<'_>, at: FlowAt<'a>) -> Flow<'a> {
    let (now, scenario) = (run.network.now(), run.scenario);
    let warm_up = Instant::from_ns(scenario.warm_up_ns);
    let is_complete = match scenario.flows[at.group].workload {
        Workload::Bulk { bytes: Some(bytes), .. } => {
            at.received_bytes() + at.sum(|record| record.missing_bytes) >= bytes
        }
        Workload::Requests { requests: Some(requests), .. } => {
            at.sum(|record| record.completions) >= requests
        }
        Workload::Web(WebLoad { pages: Some(pages), .. }) => at.sum(|record| record.completions) >= pages,
        _ => false,
    };
    let from = at.started_at().unwrap_or(now).max(warm_up.min(now));
    let to = at.last_byte_at().filter(|_| is_complete).unwrap_or(now).max(from);
    let payload_bytes = at.received_bytes() - at.sum(|record| record.warm_up_bytes);
    let transport = &scenario.flows[at.group].transport;
    let protocol = transport.protocol();
    let carrier = protocol.carrier(scenario.carrier);
    let headers = Headers {
        network_bytes: u64::from(carrier.header_bytes() + protocol.envelope_bytes(scenario.carrier)),
        segment_bytes: u64::from(protocol.header_bytes()),
    };
    Flow { at, payload_bytes, from, to, is_complete, leaves_gaps: transport.leaves_gaps(), headers }
}

pub(super) fn add(run: &Run<'_>, metrics: &mut Metrics) -> Result<(), RunError> {
    let (scenario, network) = (run.scenario, &run.network);
    let flows: Vec<Flow<'_>> = flows_at(scenario, network).into_iter().map(|at| finished(run, at)).collect();
    let wrong: u64 = flows.iter().map(|flow| flow.at.sum(|record| record.wrong_bytes)).sum();
    if wrong > 0 {
        let seed = run.seed;
        let words = wrong_bytes_in_words(wrong, damaged_packets(network));
        return Err(RunError(format!("seed {seed}: {words}")));
    }
    let delays = delays(network);
    let all: Vec<&Flow<'_>> = flows.iter().collect();
    add_set("", &all, delays.iter().map(|&(_, delays)| delays), metrics);
    add_limit(run, &flows, metrics);
    if scenario.flows.len() > 1 {
        for (group, spec) in scenario.flows.iter().enumerate() {
            let members: Vec<&Flow<'_>> = flows.iter().filter(|flow| flow.at.group == group).collect();
            let its = |&(other, delays): &(u32, _)| (other as usize == group).then_some(delays);
            let delays = delays.iter().filter_map(its);
            add_set(&format!("flows.{}.", spec.name), &members, delays, metrics);
        }
    }
    Ok(())
}

/// Delays at each host, with the group of the flows.
fn delays(network: &Network) -> Vec<(u32, &Delays)> {
    let apps = network.hosts().filter_map(|(_, host)| host.app.as_any().downcast_ref::<Flows>());
    apps.flat_map(Flows::delays).filter(|(_, delays)| !delays.is_empty()).collect()
}

fn add_set<'h>(
    prefix: &str,
    flows: &[&Flow<'_>],
    delays: impl Iterator<Item = &'h Delays>,
    metrics: &mut Metrics,
) {
    let mut add = |name: &str, value: f64| {
        metrics.insert(format!("{prefix}{name}"), value);
    };
    let from = flows.iter().map(|flow| flow.from).min().unwrap_or(Instant::ZERO);
    let to = flows.iter().map(|flow| flow.to).max().unwrap_or(from);
    let payload_bytes: u64 = flows.iter().map(|flow| flow.payload_bytes).sum();
    add("elapsed_s", to.since(from) as f64 / SECOND as f64);
    add("payload_bytes", payload_bytes as f64);
    add("goodput_bps", rate_bps(payload_bytes, from, to));
    add("completed", flows.iter().filter(|flow| flow.is_complete).count() as f64);
    add("failed", flows.iter().filter(|flow| flow.at.failure().is_some()).count() as f64);
    if let Some(jain) = jain(flows) {
        add("jain", jain);
    }
    add_bytes(flows, payload_bytes, &mut add);
    add_counts(flows, &mut add);
    add_per_exchange(flows, &mut add);
    let longest =
        flows.iter().filter_map(|flow| flow.at.round_trips()).map(|round_trips| round_trips.max_ns).max();
    if let Some(longest_ns) = longest {
        add("utl_rtt_s.max", longest_ns as f64 / SECOND as f64);
    }
    add_quantiles("completion_ms", &completions_ms(flows), &mut add);
    add_delays(delays, &mut add);
}

/// Jain's index of fairness of the flows' goodput.
fn jain(flows: &[&Flow<'_>]) -> Option<f64> {
    let (sum, squares) = flows
        .iter()
        .map(|flow| flow.goodput_bps())
        .fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (flows.len() as f64 * squares))
}

fn add_bytes(flows: &[&Flow<'_>], payload_bytes: u64, add: &mut impl FnMut(&str, f64)) {
    let sum = |of: &dyn Fn(&FlowAt<'_>) -> u64| flows.iter().map(|flow| of(&flow.at)).sum::<u64>() as f64;
    let forward = sum(&|at| at.opener.sent_bytes);
    let reverse = sum(&|at| at.acceptor.sent_bytes);
    let again = sum(&|at| at.opener.retransmitted_bytes + at.acceptor.retransmitted_bytes);
    let (forward_control, reverse_control) =
        (sum(&|at| at.opener.control_bytes), sum(&|at| at.acceptor.control_bytes));
    add("forward.packets", sum(&|at| at.opener.sent_packets));
    add("forward.bytes", forward);
    add("reverse.packets", sum(&|at| at.acceptor.sent_packets));
    add("reverse.bytes", reverse);
    add("bytes.data", forward + reverse - again - forward_control - reverse_control);
    add("bytes.retransmission", again);
    add("bytes.forward_control", forward_control);
    add("bytes.reverse_control", reverse_control);
    let acks = sum(&|at| at.acceptor.data_ack_bytes);
    if acks > 0.0 {
        add("bytes.reverse_acks", acks);
    }
    // Of everything that was ever delivered, since everything that was ever sent is counted.
    let delivered = sum(&|at| at.received_bytes());
    if payload_bytes > 0 {
        add("overhead_percent", 100.0 * (forward + reverse - delivered) / delivered);
        let extra: f64 = flows.iter().map(|flow| flow.repeated_and_control_bytes()).sum();
        add("overhead_percent.repeats_and_control", 100.0 * extra / delivered);
    }
}

fn add_counts(flows: &[&Flow<'_>], add: &mut impl FnMut(&str, f64)) {
    let both = |of: &dyn Fn(&Stats) -> u64| {
        flows.iter().map(|flow| of(&flow.at.opener) + of(&flow.at.acceptor)).sum::<u64>() as f64
    };
    add("retransmitted_packets", both(&|s| s.retransmitted_packets));
    add("duplicates", both(&|s| s.duplicates));
    add("timeouts", both(&|s| s.timeouts));
    if flows.iter().any(|flow| flow.leaves_gaps) {
        add("gaps", both(&|s| s.gaps));
        add("missing_bytes", both(&|s| s.missing_bytes));
        add("abandoned_bytes", both(&|s| s.abandoned_bytes));
    }
    for (index, verdict) in VERDICTS.iter().enumerate() {
        add(&format!("losses.{verdict}"), both(&|s| s.lost_packets[index]));
    }
    add("probing.cycles", both(&|s| s.probe_cycles));
    add("probing.congestion", both(&|s| s.probe_congestion));
    add("probing.link", both(&|s| s.probe_link));
    add("probing.aborted", both(&|s| s.probe_aborted));
    let least = flows.iter().filter_map(|flow| flow.at.opener.rtt_min_ns).min();
    if let Some(rtt_ns) = least {
        add("rtt_ms.min", rtt_ns as f64 / 1e6);
    }
    let smoothed: Vec<u64> = flows.iter().filter_map(|flow| flow.at.opener.rtt_smoothed_ns).collect();
    if !smoothed.is_empty() {
        add("rtt_ms.smoothed", smoothed.iter().sum::<u64>() as f64 / smoothed.len() as f64 / 1e6);
    }
}

/// What a transaction took of the network, both ends and everything that was ever sent counted, by the
/// number of those that were begun.
fn add_per_exchange(flows: &[&Flow<'_>], add: &mut impl FnMut(&str, f64)) {
    let is_exchange = |flow: &&&Flow<'_>| flow.at.sum(|record| record.exchanges) > 0;
    let sum = |of: &dyn Fn(&FlowAt<'_>) -> u64| {
        flows.iter().filter(is_exchange).map(|flow| of(&flow.at)).sum::<u64>() as f64
    };
    let exchanges = sum(&|at| at.sum(|record| record.exchanges));
    if exchanges > 0.0 {
        let packets = sum(&|at| at.opener.sent_packets + at.acceptor.sent_packets);
        let bytes = sum(&|at| at.opener.sent_bytes + at.acceptor.sent_bytes);
        add("exchange.packets", packets / exchanges);
        add("exchange.bytes", bytes / exchanges);
    }
}

/// Of transactions; of a complete bulk transfer, the whole.
fn completions_ms(flows: &[&Flow<'_>]) -> Vec<f64> {
    let mut all = Vec::new();
    for flow in flows {
        let transactions = flow.at.records.iter().flatten().flat_map(|record| &record.completion_ns);
        let before = all.len();
        all.extend(transactions.map(|&ns| ns as f64 / 1e6));
        if all.len() == before && flow.is_complete {
            all.push(flow.to.since(flow.from) as f64 / 1e6);
        }
    }
    all.sort_by(f64::total_cmp);
    all
}

fn add_quantiles(name: &str, sorted: &[f64], add: &mut impl FnMut(&str, f64)) {
    let Some(&max) = sorted.last() else { return };
    add(&format!("{name}.mean"), sorted.iter().sum::<f64>() / sorted.len() as f64);
    for (label, percent) in [("p50", 50), ("p95", 95), ("p99", 99)] {
        // Nearest rank: the smallest value that so many percent do not exceed.
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        add(&format!("{name}.{label}"), sorted[rank - 1]);
    }
    add(&format!("{name}.max"), max);
}

fn add_delays<'h>(mut delays: impl Iterator<Item = &'h Delays>, add: &mut impl FnMut(&str, f64)) {
    let Some(first) = delays.next() else { return };
    // One alone is read where it is.
    let mut sum = Cow::Borrowed(first);
    delays.for_each(|delays| sum.to_mut().add(delays).expect("sums grow as they need"));
    add("delay_ms.mean", sum.mean() / 1e3);
    for (label, quantile) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        add(&format!("delay_ms.{label}"), sum.value_at_quantile(quantile) as f64 / 1e3);
    }
    add("delay_ms.max", sum.max() as f64 / 1e3);
}

/// The physical limit of a single bulk flow over a single link.
fn add_limit(run: &Run<'_>, flows: &[Flow<'_>], metrics: &mut Metrics) {
    let scenario = run.scenario;
    let ([flow], [link]) = (flows, &scenario.links[..]) else { return };
    let is_bulk = matches!(scenario.flows[0].workload, Workload::Bulk { rate_bps: None, .. });
    let protocol = scenario.flows[0].transport.protocol();
    if !is_bulk || protocol.carrier(scenario.carrier) != protocol.carrier(Carrier::Udp) {
        return;
    }
    let config = &link.config;
    let port = u32::from(link.ends[1] == scenario.flows[0].from);
    let limit = limit_bytes(protocol, config, run.seed, port, flow.from, flow.to);
    if let Some(limit) = limit.filter(|&limit| limit > 0) {
        metrics.insert("limit_bps".into(), rate_bps(limit, flow.from, flow.to));
        metrics.insert("share".into(), flow.payload_bytes as f64 / limit as f64);
    }
}
