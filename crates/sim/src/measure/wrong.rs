//! What is wrong with a run, in words.

use std::iter;

use crate::network::Network;
use crate::run::Run;

use super::flows::{FlowAt, flows_at};

/// Sentence about `wrong_bytes` that arrived and were not sent so, over links that delivered so many damaged
/// packets: a checksum of 16 bits lets one in 65536 of those pass.
pub fn wrong_bytes_in_words(wrong_bytes: u64, damaged_packets: u64) -> String {
    if damaged_packets == 0 {
        return format!("{wrong_bytes} bytes arrived that were not sent so: a defect");
    }
    format!(
        "{wrong_bytes} bytes arrived that were not sent so: of {damaged_packets} packets that links delivered with \
         wrong bits (damage = \"deliver\") one at least passed a checksum, and a file would be wrong; most links drop \
         such packets (damage = \"drop\")"
    )
}

/// Damaged packets that the links of a network have delivered.
pub fn damaged_packets(network: &Network) -> u64 {
    let counters = |port| network.edges().iter().map(move |edge| edge.counters(port, network.now()));
    counters(0).chain(counters(1)).map(|counters| counters.damaged_packets).sum()
}

/// Why the first flow that failed did so, or of which flow that had begun nothing arrived, and which links
/// dropped packets that were too large for them; `None` if every flow worked.
pub(crate) fn trouble(run: &Run<'_>) -> Option<String> {
    let flows = flows_at(run.scenario, &run.network);
    let of = |flow: &FlowAt<'_>| format!("flow {}", run.scenario.flows[flow.group].name);
    let failed = flows.iter().find_map(|flow| Some(format!("{} failed: {}", of(flow), flow.failure()?)));
    let found = failed.or_else(|| Some(format!("nothing of {} arrived", of(unheard(&flows)?))))?;
    Some(iter::once(found).chain(too_large(&run.network)).collect::<Vec<_>>().join("; "))
}

/// The first flow that had begun, where nothing arrived of all that the scenario calls so.
fn unheard<'f, 'a>(flows: &'f [FlowAt<'a>]) -> Option<&'f FlowAt<'a>> {
    let arrived = |flow: &&FlowAt<'_>| flow.received_bytes() > 0;
    let is_heard = |group| flows.iter().filter(|flow| flow.group == group).any(|flow| arrived(&flow));
    flows.iter().find(|flow| flow.started_at().is_some() && !is_heard(flow.group))
}

fn too_large(network: &Network) -> impl Iterator<Item = String> {
    let directions = network.edges().iter().flat_map(|edge| [(edge, 0), (edge, 1)]);
    directions.filter_map(|(edge, port)| {
        let now = network.now();
        let dropped = edge.counters(port, now).dropped.too_large;
        let mtu_bytes = edge.link.conditions().mtu_bytes(port, now).filter(|_| dropped > 0)?;
        let name = &edge.link.config().name;
        Some(format!(
            "link {name} dropped {dropped} packets that are larger than its mtu of {mtu_bytes} bytes"
        ))
    })
}
