//! A scenario becomes a network.

use std::collections::BTreeMap;

use skyhaul_core::{Instant, Stream};
use skyhaul_link::Damage;

use super::{Network, Node};
use crate::fabric::{RunError, address, edges};
use crate::flows::{FlowTerms, Flows, Remote};
use crate::host::{App, Engines, Host};
use crate::relays::{Onward, Relays};
use skyhaul_petra::utl;
use skyhaul_scenario::{EndToEnd, Flow, HostSetup, NodeKind, Routes, Scenario};

/// The network of `scenario` at time zero, with everything random drawn from `seed`.
pub(crate) fn build(scenario: &Scenario, seed: u64) -> Result<Network, RunError> {
    let routes = Routes::new(scenario);
    let mut apps: Vec<Flows> = scenario
        .nodes
        .iter()
        .map(|_| Flows::new(Instant::from_ns(scenario.warm_up_ns), scenario.stop.max_memory_bytes))
        .collect();
    let mut relays: BTreeMap<usize, Relays> = BTreeMap::new();
    let mut flow = 0;
    for (group, spec) in scenario.flows.iter().enumerate() {
        for member in 0..spec.count {
            let terms = terms(spec, seed, flow, group as u32, member);
            let port =
                apps[spec.to].next_port().ok_or_else(|| RunError::too_many_flows(scenario, spec.to))?;
            apps[spec.to].accept(&terms, port);
            let last = Remote { address: address(spec.to as u32), port };
            let remote = relay(scenario, spec, flow, last, &mut relays)?;
            apps[spec.from].open(&terms, remote, spec.transport.opener.clone());
            flow += 1;
        }
    }
    let app = |(index, flows): (usize, Flows)| -> (usize, Box<dyn App>) {
        let relays = relays.remove(&index);
        (index, relays.map_or_else(|| Box::new(flows) as Box<dyn App>, |relays| Box::new(relays)))
    };
    let nodes = apps.into_iter().enumerate().map(app);
    let nodes = nodes.map(|(index, app)| node(scenario, seed, index, app)).collect();
    let mut network = Network::new(nodes, edges(scenario, seed)?, routes);
    network.set_signals(scenario);
    if delivers_damage(scenario) {
        network.show_octets();
    }
    Ok(network)
}

/// Sets up the relays of one flow, the last one first; where its opener opens to.
fn relay(
    scenario: &Scenario,
    spec: &Flow,
    flow: u32,
    last: Remote,
    relays: &mut BTreeMap<usize, Relays>,
) -> Result<Remote, RunError> {
    let mut remote = last;
    for via in spec.via.iter().rev() {
        let (config, buffer, weight) = (via.transport.opener.clone(), via.buffer, spec.weight);
        let onward = Onward { flow, remote, config, buffer, weight };
        let port = relays.entry(via.node).or_default().relay(onward);
        let port = port.ok_or_else(|| RunError::too_many_flows(scenario, via.node))?;
        remote = Remote { address: address(via.node as u32), port };
    }
    Ok(remote)
}

/// True if a link may change octets.
fn delivers_damage(scenario: &Scenario) -> bool {
    let configs = scenario.links.iter().map(|link| &link.config);
    let mut directions = configs.flat_map(|config| [&config.forward, &config.reverse]);
    directions.any(|direction| direction.damage == Damage::Deliver)
}

fn terms(spec: &Flow, seed: u64, flow: u32, group: u32, member: u32) -> FlowTerms {
    let delay_ns = spec.stagger_ns.saturating_mul(u64::from(member));
    FlowTerms {
        flow,
        group,
        key: seed ^ (u64::from(flow) << 32),
        workload: spec.workload,
        start: Instant::from_ns(spec.start_ns.saturating_add(delay_ns)),
        weight: spec.weight,
        utl: spec.end_to_end.map(utl),
        // Relays and end-to-end layers read octets.
        is_described: spec.via.is_empty()
            && spec.end_to_end.is_none()
            && spec.transport.opener.protocol().takes_descriptions(),
        has_gaps: spec.transport.leaves_gaps(),
        stream: Stream::new(seed, &format!("flow/{}/{member}", spec.name)),
    }
}

fn utl(spec: EndToEnd) -> utl::Config {
    let EndToEnd { batch_bytes, window_batches, timeout_ns } = spec;
    utl::Config {
        batch_bytes,
        window_batches: window_batches as usize,
        timeout_ns,
        // A batch that is being handed down, and the next one behind it.
        send_limit_bytes: 2 * u64::from(batch_bytes),
    }
}

fn node(scenario: &Scenario, seed: u64, index: usize, app: Box<dyn App>) -> Node {
    let spec = &scenario.nodes[index];
    if spec.kind == NodeKind::Router {
        return Node::Router;
    }
    let address = address(index as u32);
    let setup = HostSetup {
        seed,
        name: &spec.name,
        address: address.ip(),
        carrier: scenario.carrier,
        signals: spec.signal_numbers(),
        accept: None,
    };
    let mut engines = Engines::new(index as u32, scenario.carrier);
    for protocol in scenario.protocols_at(index) {
        let accept = scenario.acceptor_at(index, protocol);
        engines = engines.with(protocol, protocol.engine(&HostSetup { accept, ..setup }));
    }
    Node::Host(Box::new(Host::new(engines, address, app)))
}
