//! What is wrong with a run, in words.

use std::iter;

use crate::network::Network;
use crate::run::Run;

use super::flows::flows_at;

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

/// Why the first flow that failed did so, and which links dropped packets that were too large for them;
/// `None` if none failed.
pub(crate) fn failure(run: &Run<'_>) -> Option<String> {
    let flows = flows_at(run.scenario, &run.network);
    let (flow, why) = flows.iter().find_map(|flow| Some((flow, flow.failure()?)))?;
    let name = &run.scenario.flows[flow.group].name;
    let failed = format!("flow {name} failed: {why}");
    Some(iter::once(failed).chain(too_large(&run.network)).collect::<Vec<_>>().join("; "))
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
