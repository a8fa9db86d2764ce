//! Networks and stacks of scenario files as drawings, and what lies on the way of their file.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use skyhaul_link::{DirectionConfig, QueueLimit};
use skyhaul_scenario::{File, Flow, Hop, NodeKind, Routes, Scenario};

use super::{Computed, Values};
use crate::papers::paper::PAPERS;

/// Axis of the paper's topologies.
const TOPOLOGY: &str = "topology";
/// Axis of the links on the way, and of the whole way.
const PART: &str = "part";
/// The whole way there and back.
const WHOLE: &str = "round trip";
/// Octets of a packet of the chapter [STP 5.2.2].
const PACKET_OCTETS: f64 = 1000.0;

/// Topology of figure 5.5.
pub(super) fn geo() -> Value {
    drawing(&scenario("stp", "geo"))
}

/// Topology of figure 5.6.
pub(super) fn leo() -> Value {
    drawing(&scenario("stp", "leo"))
}

/// Topology of figure 5.9.
pub(super) fn split() -> Value {
    drawing(&scenario("stp", "split"))
}

/// Architecture of figure 1 of PETRA.
pub(super) fn petra() -> Value {
    drawing(&scenario("petra", "round-trips"))
}

/// Twenty pairs of figure 2 of P-XCP.
pub(super) fn dumbbell() -> Value {
    drawing(&scenario("p-xcp", "goodput"))
}

/// Three groups of flows of figure 7 of P-XCP.
pub(super) fn groups() -> Value {
    drawing(&scenario("p-xcp", "groups"))
}

/// Stack of figure 2 of PETRA: layers in each node on the way of the file, the highest first, and between
/// which nodes each one speaks.
pub(super) fn petra_stack() -> Value {
    let scenario = scenario("petra", "round-trips");
    let Some(file) = scenario.flows.iter().find(|flow| flow.name == "file") else { return Value::Null };
    let name = |node: usize| scenario.nodes[node].name.replace('_', " ");
    let layer = |hop: &Hop<'_>| {
        format!("{} ({})", hop.transport.name, hop.transport.protocol().name()).to_uppercase()
    };
    let hops = file.hops();
    let node = |node: usize| {
        let ends = [file.from, file.to].contains(&node);
        let top = file.end_to_end.filter(|_| ends).map(|_| "UTL".to_string());
        let hops = hops.iter().filter(|hop| [hop.from, hop.to].contains(&node));
        let lines: Vec<String> =
            top.into_iter().chain([hops.map(layer).collect::<Vec<_>>().join(", ")]).collect();
        json!({ "name": name(node), "kind": if ends { "host" } else { "router" }, "lines": lines })
    };
    let nodes: Vec<Value> = hops.iter().map(|hop| hop.from).chain([file.to]).map(node).collect();
    let between =
        |from: usize, to: usize, line: String| json!({ "from": name(from), "to": name(to), "lines": [line] });
    let ways = hops.iter().map(|hop| between(hop.from, hop.to, layer(hop)));
    let whole = file.end_to_end.map(|utl| {
        between(file.from, file.to, format!("UTL: batches of {} octets are confirmed", utl.batch_bytes))
    });
    json!({ "drawing": "graph", "nodes": nodes, "ways": ways.chain(whole).collect::<Vec<_>>() })
}

/// Links on the way of the file in figure 5.5.
pub(super) fn geo_way() -> Computed {
    way_of("Way of the file over GEO", "geo", geo_metrics)
}

/// Links on the way of the file in figure 5.6.
pub(super) fn leo_way() -> Computed {
    way_of("Way of the file over LEO", "leo", leo_metrics)
}

fn geo_metrics(set: &Map<String, Value>) -> Values {
    metrics(&scenario("stp", "geo"), set)
}

fn leo_metrics(set: &Map<String, Value>) -> Values {
    metrics(&scenario("stp", "leo"), set)
}

/// First point of a scenario of a paper, which is part of the program.
fn scenario(paper: &str, name: &str) -> Scenario {
    let of_paper = PAPERS.iter().find(|known| known.name == paper).map_or(&[][..], |paper| paper.scenarios);
    let text = of_paper.iter().find(|scenario| scenario.0 == name).map_or("", |scenario| scenario.1);
    let file = File::parse(&crate::standard(), name, text);
    // Tests load every scenario of every paper.
    file.and_then(|file| file.first_scenario()).expect("a scenario of the program is one")
}

/// Links from the file's source to its sink: number, and port at which it enters.
fn links(scenario: &Scenario) -> Vec<(usize, usize)> {
    let Some(file) = scenario.flows.iter().find(|flow| flow.name == "file") else { return Vec::new() };
    let routes = Routes::new(scenario);
    let mut at = file.from;
    let mut way = Vec::new();
    while at != file.to && way.len() < scenario.links.len() {
        let Some((link, port)) = routes.next(at as u32, file.to as u32) else { break };
        let (link, port) = (link as usize, port as usize);
        way.push((link, port));
        at = scenario.links[link].ends[1 - port];
    }
    way
}

fn way_of(title: &'static str, topology: &str, metrics: fn(&Map<String, Value>) -> Values) -> Computed {
    let scenario = scenario("stp", topology);
    let names = links(&scenario).into_iter().map(|(link, _)| json!(scenario.links[link].config.name));
    let parts = names.chain([json!(WHOLE)]).collect();
    Computed { title, axes: vec![(TOPOLOGY, vec![json!(topology)]), (PART, parts)], metrics }
}

/// Rate, delay and queue of a link, the queue as time at the link's rate; of the whole way the delay, there
/// and back.
fn metrics(scenario: &Scenario, set: &Map<String, Value>) -> Values {
    let part = set.get(PART).and_then(Value::as_str).unwrap_or_default();
    let way = links(scenario);
    let of = |&(link, port): &(usize, usize)| {
        let config = &scenario.links[link].config;
        if port == 0 { (&config.forward, &config.reverse) } else { (&config.reverse, &config.forward) }
    };
    if part == WHOLE {
        let ns: u64 = way.iter().map(of).map(|(there, back)| there.delay_ns + back.delay_ns).sum();
        return vec![("delay_s", ns as f64 / 1e9)];
    }
    let found = way.iter().find(|(link, _)| scenario.links[*link].config.name == part);
    let Some((there, _)) = found.map(of) else { return Vec::new() };
    let mut values = vec![("delay_s", there.delay_ns as f64 / 1e9)];
    if let Some(rate_bps) = there.rate_bps {
        values.push(("rate_bps", rate_bps as f64));
        if let QueueLimit::Packets(packets) = there.queue {
            values.push(("queue_s", f64::from(packets) * PACKET_OCTETS * 8.0 / rate_bps as f64));
        }
    }
    values
}

/// Nodes with what their flows do, and links with what they are like.
fn drawing(scenario: &Scenario) -> Value {
    let name = |node: usize| scenario.nodes[node].name.replace('_', " ");
    let line = |flow: &Flow| {
        let count = if flow.count > 1 { format!("{} x ", flow.count) } else { String::new() };
        format!("{count}{} to {}", flow.name.replace('_', " "), name(flow.to))
    };
    let node = |index: usize| {
        let kind = if scenario.nodes[index].kind == NodeKind::Router
            || scenario.nodes[index].kind == NodeKind::Relay
        {
            "router"
        } else {
            "host"
        };
        let lines: Vec<String> = scenario.flows.iter().filter(|flow| flow.from == index).map(line).collect();
        json!({ "name": name(index), "kind": kind, "lines": lines })
    };
    let nodes: Vec<Value> = (0..scenario.nodes.len()).map(node).collect();
    let way = |link: &skyhaul_scenario::LinkBetween| {
        let (there, back) = (words(&link.config.forward), words(&link.config.reverse));
        let lines = if there == back { there } else { [there, back].concat() };
        json!({ "from": name(link.ends[0]), "to": name(link.ends[1]), "lines": lines })
    };
    let ways: Vec<Value> = scenario.links.iter().map(way).collect();
    json!({ "drawing": "graph", "nodes": nodes, "ways": ways })
}

/// Rate, delay and queue in words; nothing of a link that has none of them.
fn words(direction: &DirectionConfig) -> Vec<String> {
    let mut line = direction.rate_bps.map(|bps| format!("{} Mbit/s", bps as f64 / 1e6)).unwrap_or_default();
    if direction.delay_ns > 0 {
        let comma = if line.is_empty() { "" } else { ", " };
        let _ = write!(line, "{comma}{} ms", direction.delay_ns as f64 / 1e6);
    }
    let queue = match direction.queue {
        QueueLimit::Packets(packets) => Some(format!("{packets} packets")),
        QueueLimit::Bytes(octets) => Some(format!("{octets} octets")),
        QueueLimit::Unlimited => None,
    };
    [Some(line).filter(|line| !line.is_empty()), queue].into_iter().flatten().collect()
}
