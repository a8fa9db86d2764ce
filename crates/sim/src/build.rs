//! A scenario becomes a network.

use skyhaul_core::{Instant, Stream};
use skyhaul_link::Link;

use crate::engines::{EndConfig, Engines};

use crate::flows::{FlowTerms, Flows, Remote};
use crate::host::Host;
use crate::network::{Network, Node, Routes, Wire, address};
use crate::scenario::{Flow, NodeKind, Scenario};
use crate::simulate::RunError;

/// Source of the first link's events; those of further links lie below.
pub const LINK_SOURCE: u64 = u64::MAX;
/// The network of `scenario` at time zero, with everything random drawn from `seed`.
pub(crate) fn build(scenario: &Scenario, seed: u64) -> Result<Network, RunError> {
    let routes = Routes::new(scenario);
    let mut apps: Vec<Flows> = scenario
        .nodes
        .iter()
        .map(|_| Flows::new(Instant::from_ns(scenario.warm_up_ns), scenario.stop.max_memory_bytes))
        .collect();
    let mut flow = 0;
    for (group, spec) in scenario.flows.iter().enumerate() {
        for member in 0..spec.count {
            let terms = terms(spec, seed, flow, group as u32, member);
            let port =
                apps[spec.to].next_port().ok_or_else(|| RunError::too_many_flows(scenario, spec.to))?;
            apps[spec.to].accept(&terms, port);
            let remote = Remote { address: address(spec.to as u32), port };
            apps[spec.from].open(&terms, remote, spec.transport.opener.clone());
            flow += 1;
        }
    }
    let nodes = apps.into_iter().enumerate().map(|(index, app)| node(scenario, seed, index, app)).collect();
    Ok(Network::new(nodes, wires(scenario, seed)?, routes))
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
        stream: Stream::new(seed, &format!("flow/{}/{member}", spec.name)),
    }
}

/// The links of `scenario` at time zero.
pub(crate) fn wires(scenario: &Scenario, seed: u64) -> Result<Vec<Wire>, RunError> {
    let wire = |(index, spec): (usize, &crate::scenario::LinkBetween)| {
        let link = Link::new(spec.config.clone(), seed, LINK_SOURCE - index as u64)
            .map_err(|error| RunError(format!("link {}: {error}", spec.config.name)))?;
        Ok(Wire { link, ends: spec.ends.map(|node| node as u32) })
    };
    scenario.links.iter().enumerate().map(wire).collect()
}

fn node(scenario: &Scenario, seed: u64, index: usize, app: Flows) -> Node {
    let spec = &scenario.nodes[index];
    if spec.kind == NodeKind::Router {
        return Node::Router;
    }
    let stp = skyhaul_stp::EndpointConfig {
        accept: acceptor(scenario, index, EndConfig::stp).unwrap_or_else(skyhaul_stp::Config::standard),
        carrier_bytes: Some(scenario.carrier.header_bytes()),
        head_bytes: scenario.carrier.envelope_bytes(),
        max_connections: usize::MAX,
        max_unproven: usize::MAX,
        ..skyhaul_stp::EndpointConfig::default()
    };
    let tcp = skyhaul_tcp::EndpointConfig {
        accept: acceptor(scenario, index, EndConfig::tcp).unwrap_or_else(skyhaul_tcp::Config::standard),
        max_connections: usize::MAX,
        max_unproven: usize::MAX,
        ..skyhaul_tcp::EndpointConfig::default()
    };
    let address = address(index as u32);
    let stp = skyhaul_stp::Endpoint::new(stp, Stream::new(seed, &spec.name));
    let tcp = skyhaul_tcp::Endpoint::new(tcp, Stream::new(seed, &format!("{}/tcp", spec.name)));
    let engines = Engines::new(address.ip(), stp, tcp);
    let host = Host::new(engines, address, Box::new(app)).with_carrier(scenario.carrier);
    Node::Host(Box::new(host))
}

/// Parameters of the connections of one protocol that a host accepts.
fn acceptor<C: Clone>(
    scenario: &Scenario,
    index: usize,
    of_protocol: fn(&EndConfig) -> Option<&C>,
) -> Option<C> {
    let mut here = scenario.flows.iter().filter(|flow| flow.to == index);
    here.find_map(|flow| of_protocol(&flow.transport.acceptor)).cloned()
}
