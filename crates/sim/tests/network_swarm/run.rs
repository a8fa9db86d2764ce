//! Running a layout and judging what is left.

use std::fmt::Write as _;

use skyhaul_core::{CloseReason, EventSink, ResetReason, SECOND};
use skyhaul_link::Link;
use skyhaul_scenario::Workload;
use skyhaul_sim::{Ended, Flows, Network, Record, Relays, Simulation, Source, Until};

use crate::common::trace::LastEvents;
use crate::layout::{Layout, MIN_RATE_BPS};

/// Virtual time after the faults by which everything must have arrived: the slowest of the declared
/// rates (20 kbit/s) carries all of a layout's flows one after the other in a tenth of it. Where a layer that
/// repeats is slower it is longer in proportion.
const PATIENCE_NS: u64 = 20_000 * SECOND;
/// And then, until nothing remains.
const FAREWELL_NS: u64 = 20_000 * SECOND;

/// Runs a layout; gives the bytes delivered.
pub(crate) fn run(layout: &Layout, mut events: LastEvents) -> Result<u64, String> {
    let result = run_with(layout, &mut events);
    if result.is_err() {
        events.print();
    }
    result
}

fn run_with(layout: &Layout, sink: &mut dyn EventSink<Source>) -> Result<u64, String> {
    let mut simulation = Simulation::new(&layout.scenario, layout.seed).map_err(|error| error.to_string())?;
    let _ = simulation.run(sink);
    for index in 0..layout.scenario.links.len() {
        let link = Link::new(layout.healed(index), layout.seed, index as u64);
        simulation.network_mut().replace_link(index, link.map_err(|error| error.to_string())?);
    }
    let network = simulation.network_mut();
    let patience_ns = PATIENCE_NS.saturating_mul(MIN_RATE_BPS) / layout.least_bps();
    let ended = network.run(Until::done_or(layout.heal_at.after(patience_ns)), sink);
    if ended != Ended::Done {
        return Err(format!("{ended:?} at {:?}: {}", network.now(), unfinished(layout, network)));
    }
    let until = Until { when_done: false, ..Until::done_or(network.now().after(FAREWELL_NS)) };
    let _ = network.run(until, sink);
    nothing_remains(network)?;
    relays_kept_their_bounds(layout, network)?;
    every_byte_arrived(layout, network)
}

fn apps(network: &Network) -> impl Iterator<Item = (usize, &Flows, &skyhaul_sim::Engines)> {
    network.hosts().filter_map(|(node, host)| {
        host.app.as_any().downcast_ref::<Flows>().map(|app| (node, app, &host.engines))
    })
}

fn unfinished(layout: &Layout, network: &Network) -> String {
    let mut text = String::new();
    for (node, app, endpoint) in apps(network) {
        for (flow, opens, record, stats) in app.records(endpoint) {
            let _ = writeln!(text, "node {node} flow {flow} opens {opens}: {record:?} {stats:?}");
        }
    }
    format!("seed {} is not done\n{text}", layout.seed)
}

fn nothing_remains(network: &Network) -> Result<(), String> {
    for (node, host) in network.hosts() {
        let (left, deadline) = (host.engines.connection_count(), host.engines.deadline());
        if left != 0 || deadline.is_some() {
            return Err(format!("node {node}: {left} connections remain, deadline {deadline:?}"));
        }
    }
    Ok(())
}

/// Check that each relay coupled something, and never had more of a connection than its largest buffer.
fn relays_kept_their_bounds(layout: &Layout, network: &Network) -> Result<(), String> {
    for (node, host) in network.hosts() {
        let Some(relays) = host.app.as_any().downcast_ref::<Relays>() else { continue };
        let vias = layout.scenario.flows.iter().flat_map(|flow| &flow.via).filter(|via| via.node == node);
        let bound = vias.map(|via| via.buffer.size_bytes).max().unwrap_or(0);
        let counters = relays.record().counters;
        if counters.most_bytes > bound || counters.refused > 0 {
            return Err(format!("relay {node}: bound {bound}: {counters:?}"));
        }
    }
    Ok(())
}

/// Check that each end of each flow has received what it must.
fn every_byte_arrived(layout: &Layout, network: &Network) -> Result<u64, String> {
    let members = layout.scenario.flows.iter().flat_map(|flow| (0..flow.count).map(move |_| flow.workload));
    let workloads: Vec<Workload> = members.collect();
    let mut delivered = 0;
    for (node, app, endpoint) in apps(network) {
        for (flow, opens, record, _) in app.records(endpoint) {
            let expected = expected(workloads[flow as usize], opens);
            if record.received_bytes != expected || record.wrong_bytes != 0 {
                return Err(format!("node {node} flow {flow}: expected {expected} bytes: {record:?}"));
            }
            judge_failure(record, opens)
                .map_err(|why| format!("node {node} flow {flow}: {why}: {record:?}"))?;
            delivered += record.received_bytes;
        }
    }
    Ok(delivered)
}

fn expected(workload: Workload, opens: bool) -> u64 {
    match (workload, opens) {
        (Workload::Bulk { bytes, .. }, false) => bytes.unwrap_or_default(),
        (Workload::Requests { request_bytes, requests, .. }, false) => {
            request_bytes.max_bytes() * requests.unwrap_or(0)
        }
        (Workload::Requests { response_bytes, requests, .. }, true) => {
            response_bytes.max_bytes() * requests.unwrap_or(0)
        }
        _ => 0,
    }
}

/// An acceptor may find at the end that its opener, which has everything confirmed, is gone and with
/// it the confirmation of its own end (specification, 11.2; TCP: behind TIME-WAIT); all else is a failure.
fn judge_failure(record: &Record, opens: bool) -> Result<(), String> {
    let unknown = CloseReason::Reset(Some(ResetReason::UnknownConnection));
    let gone = [CloseReason::Silence, CloseReason::ConnectTimeout, CloseReason::Reset(None), unknown];
    match &record.failure {
        Some(why) if opens => Err(format!("the opener failed: {why}")),
        Some(why) if !gone.iter().any(|gone| gone.to_string() == *why) => {
            Err(format!("the acceptor failed: {why}"))
        }
        _ => Ok(()),
    }
}
