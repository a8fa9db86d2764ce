//! Faults of a scenario as a whole, though each of its values is fine.

use std::collections::{BTreeMap, BTreeSet};

use skyhaul_link::QueueLimit;

use super::error::{Place, ScenarioError};
use super::keys::join;
use super::model::MAX_FLOWS_PER_HOST;
use super::model::{Flow, Scenario};
use super::tables::{Document, FlowDraft, Item};
use super::way::{Lost, Ways};
use crate::EndConfig;

/// Neither nothing nor too much.
pub(super) fn counts(document: &Document, top: &Place, max_nodes: usize) -> Result<(), ScenarioError> {
    if document.nodes.len() > max_nodes {
        let found = format!("{} of them", document.nodes.len());
        return Err(top.refuse("nodes", &found, &format!("at most {max_nodes}"), ""));
    }
    if document.flows.is_empty() {
        return Err(top.refuse("flows", "none", "at least one", "write [flows.NAME]"));
    }
    Ok(())
}

/// All that concerns more than one table.
pub(super) fn whole(document: &Document, scenario: &Scenario, top: &Place) -> Result<(), ScenarioError> {
    ending(document, scenario, top)?;
    routes(document, scenario)?;
    parallel_links(document, scenario)?;
    let ways = Ways::new(scenario);
    for (number, item) in document.nodes.iter().enumerate() {
        if !scenario.links.iter().any(|link| link.ends.contains(&number)) {
            let key = join("nodes", &item.name);
            return Err(item.entry.place.refuse(&key, "no link that ends here", "at least one", ""));
        }
    }
    for number in 0..scenario.flows.len() {
        flow(document, scenario, &ways, number)?;
    }
    acceptors(document, scenario)?;
    ports(document, scenario)
}

fn ending(document: &Document, scenario: &Scenario, top: &Place) -> Result<(), ScenarioError> {
    let place = |key: &str| match &document.run_table {
        Some(table) => table.place_of(&[key]).unwrap_or(&table.place),
        None => top,
    };
    let duration_ns = scenario.stop.duration_ns;
    if duration_ns.is_none() && !scenario.stop.when_done {
        let hint = "it would never end";
        return Err(place("").refuse("run", "neither `duration` nor `goal`", "one of them, or both", hint));
    }
    if scenario.stop.when_done && !scenario.flows.iter().any(|flow| flow.workload.ends()) {
        let hint = "give a bulk flow a `size`, or one of requests a number of `requests`";
        return Err(place("goal").refuse(
            "run.goal",
            "\"done\", but no flow that ends",
            "it with one that does",
            hint,
        ));
    }
    if duration_ns.is_some_and(|duration_ns| scenario.warm_up_ns >= duration_ns) {
        return Err(place("warm_up").refuse(
            "run.warm_up",
            "a time not below `duration`",
            "a shorter one",
            "nothing would count",
        ));
    }
    Ok(())
}

fn routes(document: &Document, scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut seen = BTreeSet::new();
    for (number, (route, draft)) in scenario.routes.iter().zip(&document.routes).enumerate() {
        let path = format!("routes[{number}]");
        if !scenario.links[route.link].ends.contains(&route.at) {
            let found = format!("`{}`, which does not end at `{}`", draft.link.name, draft.at.name);
            return Err(draft.link.place.refuse(&join(&path, "link"), &found, "a link that does", ""));
        }
        if !seen.insert((route.at, route.to)) {
            let found = format!("a second route at `{}` to `{}`", draft.at.name, draft.to.name);
            return Err(draft.at.place.refuse(&path, &found, "one", ""));
        }
    }
    Ok(())
}

/// Of several links between the same nodes only the first would be used, unless routes choose.
fn parallel_links(document: &Document, scenario: &Scenario) -> Result<(), ScenarioError> {
    let is_chosen = |number: usize| scenario.routes.iter().any(|route| route.link == number);
    let mut between: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for (number, link) in scenario.links.iter().enumerate() {
        let [a, b] = link.ends;
        let Some(&other) = between.get(&[a.min(b), a.max(b)]) else {
            between.insert([a.min(b), a.max(b)], number);
            continue;
        };
        if !(is_chosen(number) && is_chosen(other)) {
            let (item, other) = (&document.links[number], &document.links[other].name);
            let found = format!("a second link between the nodes of `{other}`");
            let allowed = "one, or a route for each that says who takes it";
            return Err(item.entry.place.refuse(
                &join("links", &item.name),
                &found,
                allowed,
                "write [[routes]]",
            ));
        }
    }
    Ok(())
}

fn flow(
    document: &Document,
    scenario: &Scenario,
    ways: &Ways<'_>,
    number: usize,
) -> Result<(), ScenarioError> {
    let flow = &scenario.flows[number];
    starts(document, scenario, number)?;
    gaps(&document.flows[number], flow)?;
    let lost = |lost: Lost, to: usize| no_way(document, scenario, number, lost, to);
    for hop in flow.hops() {
        let forward = ways.walk(hop.from, hop.to).map_err(|why| lost(why, hop.to))?;
        let reverse = ways.walk(hop.to, hop.from).map_err(|why| lost(why, hop.from))?;
        queues(document, scenario, flow, &hop.transport.opener, &forward)?;
        if flow.workload.is_answered() {
            queues(document, scenario, flow, &hop.transport.acceptor, &reverse)?;
        }
    }
    Ok(())
}

fn starts(document: &Document, scenario: &Scenario, number: usize) -> Result<(), ScenarioError> {
    let flow = &scenario.flows[number];
    let last_ns = u64::from(flow.count - 1).saturating_mul(flow.stagger_ns).saturating_add(flow.start_ns);
    if scenario.stop.duration_ns.is_some_and(|end_ns| last_ns >= end_ns) {
        let item = &document.flows[number];
        let key = join(&join("flows", &item.name), "start");
        let found = "flows that would start when the run is over";
        return Err(item.place_of(&["start"]).refuse(&key, found, "a start before `run.duration`", ""));
    }
    Ok(())
}

/// Gaps are for a flow whose receiver reads one stream and counts them: requests, pages, relays and what lies
/// above a connection take everything for what was written.
fn gaps(item: &Item<FlowDraft>, flow: &Flow) -> Result<(), ScenarioError> {
    let leaves_gaps = |end: &EndConfig| end.protocol().leaves_gaps(end);
    let hops = flow.hops();
    let any =
        hops.iter().any(|hop| leaves_gaps(&hop.transport.opener) || leaves_gaps(&hop.transport.acceptor));
    let is_one_stream = !flow.workload.is_answered() && hops.len() == 1 && flow.end_to_end.is_none();
    if !any || is_one_stream {
        return Ok(());
    }
    let key = join(&join("flows", &item.name), "transport");
    let found = "a transport that leaves gaps";
    let allowed = "one that delivers everything";
    let hint = "gaps are for bulk and on-off flows without `via` and `utl`";
    Err(item.is.transport.place.refuse(&key, found, allowed, hint))
}

fn no_way(document: &Document, scenario: &Scenario, flow: usize, lost: Lost, to: usize) -> ScenarioError {
    let item = &document.flows[flow];
    let name = |node: usize| &scenario.nodes[node].name;
    let found = match lost {
        Lost::At(at) => format!("no way from `{}` to `{}`", name(at), name(to)),
        Lost::RoundTo(at) => format!("routes to `{}` that lead round to `{}` again", name(to), name(at)),
    };
    let (key, hint) = (join(&join("flows", &item.name), "to"), "only routers forward");
    item.is.to.place.refuse(&key, &found, "hosts that links and routers join", hint)
}

/// A full packet must fit every queue and every bucket on its way, or none would ever arrive.
fn queues(
    document: &Document,
    scenario: &Scenario,
    flow: &Flow,
    sender: &EndConfig,
    way: &[(usize, u32)],
) -> Result<(), ScenarioError> {
    let packet_bytes = sender.max_packet_bytes(scenario.carrier);
    for &(number, port) in way {
        let direction = scenario.links[number].config.direction(port);
        let queue = match direction.queue {
            QueueLimit::Bytes(bytes) => Some((bytes, "a queue", &["queue"][..])),
            _ => None,
        };
        let bucket = direction.policer.map(|policer| policer.depth_bytes);
        let bucket = bucket.map(|bytes| (bytes, "a bucket", &["policer", "depth"][..]));
        let mut rooms = queue.into_iter().chain(bucket);
        if let Some((bytes, what, keys)) = rooms.find(|&(bytes, ..)| bytes < packet_bytes) {
            let (item, direction) = (&document.links[number], ["forward", "reverse"][port as usize]);
            let way = [&[direction], keys].concat();
            let key = way.iter().fold(join("links", &item.name), |path, key| join(&path, key));
            let found = format!("{what} of {bytes} bytes");
            let allowed = format!("at least one full packet of `{}`, {packet_bytes} bytes", flow.name);
            return Err(item.place_of(&way).refuse(&key, &found, &allowed, ""));
        }
    }
    Ok(())
}

/// An endpoint accepts all connections of a protocol with the same parameters. Where it sends no data of its
/// own, those of its sender do not count.
fn acceptors(document: &Document, scenario: &Scenario) -> Result<(), ScenarioError> {
    // By kind: as far as they count at a receiver, and, of flows that are answered, all.
    let mut first: BTreeMap<(usize, &str, bool), (&str, String)> = BTreeMap::new();
    for (item, flow) in document.flows.iter().zip(&scenario.flows) {
        for hop in flow.hops() {
            let (protocol, acceptor) = (hop.transport.protocol(), &hop.transport.acceptor);
            let receiving = Some((false, format!("{:?}", protocol.receiving(acceptor))));
            let sending = flow.workload.is_answered().then(|| (true, format!("{acceptor:?}")));
            for (is_answered, parameters) in receiving.into_iter().chain(sending) {
                let key = (hop.to, protocol.name(), is_answered);
                let (other, at_first) = first.entry(key).or_insert_with(|| (&item.name, parameters.clone()));
                if *at_first != parameters {
                    return Err(other_acceptor(item, &scenario.nodes[hop.to].name, other));
                }
            }
        }
    }
    Ok(())
}

fn other_acceptor(item: &Item<FlowDraft>, at: &str, other: &str) -> ScenarioError {
    let found = format!("other parameters for accepting at `{at}` than flow `{other}` has");
    let hint = "make the `acceptor` tables of the transports alike, or use another host";
    let key = join(&join("flows", &item.name), "transport");
    item.is.transport.place.refuse(&key, &found, "the same for all flows to a host", hint)
}

/// Each flow has a port of its own at the host that accepts.
fn ports(document: &Document, scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (item, flow) in document.flows.iter().zip(&scenario.flows) {
        for hop in flow.hops() {
            let count = counts.entry(hop.to).or_default();
            *count += flow.count as usize;
            if *count > MAX_FLOWS_PER_HOST {
                let found = format!("{count} flows to `{}`", scenario.nodes[hop.to].name);
                let (key, allowed) = (join("flows", &item.name), format!("at most {MAX_FLOWS_PER_HOST}"));
                return Err(item.entry.place.refuse(&key, &found, &allowed, "use another host"));
            }
        }
    }
    Ok(())
}
