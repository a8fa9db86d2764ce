//! From a document to a scenario: names become numbers, and what cannot be is refused.

use skyhaul_core::Instant;
use skyhaul_link::{LinkConfig, Outage};

use super::check;
use super::error::{Place, ScenarioError};
use super::keys::join;
use super::kinds::Named;
use super::model::{Flow, LinkBetween, Node, NodeKind, Route, Scenario, Stop, Transport, Via};
use super::nearest::did_you_mean;
use super::protocol::EndConfig;
use super::tables::{Document, FlowDraft, Item, LinkDraft, NodeDraft};
use super::trace::{Span, Traces};

/// Nodes at most: tables of routes grow with their square.
const MAX_NODES: usize = 1024;
/// Outages of one link at most.
const MAX_OUTAGES: u64 = 100_000;
/// Names that a message lists.
const LISTED_NAMES: usize = 16;

fn node(item: &Item<NodeDraft>) -> Node {
    Node { name: item.name.clone(), kind: item.is.kind, signals: item.is.signals }
}

/// Scenario of the document, called `name`. `top` is where the document begins.
pub(super) fn resolve(
    document: &Document,
    name: &str,
    top: &Place,
    traces: &Traces,
) -> Result<Scenario, ScenarioError> {
    check::counts(document, top, MAX_NODES)?;
    let transport = |item: &Item<[EndConfig; 2]>| {
        let [opener, acceptor] = item.is.clone();
        Transport { name: item.name.clone(), opener, acceptor }
    };
    let transports: Vec<Transport> = document.transports.iter().map(transport).collect();
    let mut scenario = Scenario {
        name: name.to_string(),
        nodes: document.nodes.iter().map(node).collect(),
        carrier: document.run.carrier,
        stop: Stop {
            duration_ns: document.run.duration_ns,
            when_done: document.run.goal.is_some(),
            max_events: document.run.max_events,
            max_memory_bytes: document.run.max_memory_bytes,
        },
        warm_up_ns: document.run.warm_up_ns,
        metrics: document.metrics.metrics,
        ..Scenario::default()
    };
    for item in &document.links {
        scenario.links.push(link(document, item, traces)?);
    }
    for number in 0..document.routes.len() {
        scenario.routes.push(route(document, number)?);
    }
    for item in &document.flows {
        scenario.flows.push(flow(document, item, &transports)?);
    }
    check::whole(document, &scenario, top)?;
    Ok(scenario)
}

/// The number of what `named` calls.
fn number_of<T>(named: &Named, among: &[Item<T>], key: &str, what: &str) -> Result<usize, ScenarioError> {
    let names = || among.iter().map(|item| item.name.as_str());
    names().position(|name| name == named.name).ok_or_else(|| {
        let mut allowed = names().take(LISTED_NAMES).collect::<Vec<_>>().join(", ");
        if among.len() > LISTED_NAMES {
            allowed.push_str(", ...");
        }
        let hint = did_you_mean(&named.name, names());
        named.place.refuse(key, &format!("`{}`, which is no {what}", named.name), &allowed, &hint)
    })
}

fn link(document: &Document, item: &Item<LinkDraft>, traces: &Traces) -> Result<LinkBetween, ScenarioError> {
    let path = join("links", &item.name);
    let key = join(&path, "between");
    let mut ends = [0; 2];
    for (end, named) in ends.iter_mut().zip(&item.is.between) {
        *end = number_of(named, &document.nodes, &key, "node")?;
    }
    if ends[0] == ends[1] {
        let place = item.place_of(&["between"]);
        return Err(place.refuse(&key, "the same node twice", "two different ones", ""));
    }
    let mut config = LinkConfig { name: item.name.clone(), ..item.is.config.clone() };
    add_returning(&mut config, document, item, &path)?;
    without_routers(&config).validate().map_err(|error| in_words_of_the_file(&error, item, &path))?;
    add_trace(&mut config, document, item, &path, traces)?;
    config.validate().map_err(|error| in_words_of_the_file(&error, item, &path))?;
    if let Some((arq, place)) = &item.is.arq {
        let refused = |what| place.error(&join(&path, "arq"), what);
        arq.validate(&config).map_err(refused)?;
    }
    Ok(LinkBetween { config, ends, arq: item.is.arq.as_ref().map(|(arq, _)| *arq) })
}

/// Link without routers: these need a rate at all times, and it may be a trace that brings it.
fn without_routers(config: &LinkConfig) -> LinkConfig {
    let mut config = config.clone();
    (config.forward.explicit, config.reverse.explicit) = (None, None);
    config
}

/// Adds the outages of `outages_every`.
fn add_returning(
    config: &mut LinkConfig,
    document: &Document,
    item: &Item<LinkDraft>,
    path: &str,
) -> Result<(), ScenarioError> {
    let Some((every, place)) = &item.is.every else { return Ok(()) };
    let key = join(path, "outages_every");
    let Some(end_ns) = document.run.duration_ns else {
        let hint = "say `run.duration`, beside `run.goal`";
        return Err(place.refuse(&key, "outages without an end", "them only until `run.duration`", hint));
    };
    if end_ns / every.period_ns > MAX_OUTAGES {
        let found = format!("{} outages until `run.duration`", end_ns / every.period_ns);
        return Err(place.refuse(&key, &found, &format!("at most {MAX_OUTAGES}"), ""));
    }
    let mut from_ns = every.first_ns.unwrap_or(every.period_ns);
    while from_ns < end_ns {
        let (from, to) = (Instant::from_ns(from_ns), Instant::from_ns(from_ns + every.length_ns));
        config.outages.push(Outage { from, to });
        from_ns += every.period_ns;
    }
    config.outages.sort_by_key(|outage| outage.from);
    Ok(())
}

/// Adds what a trace says, which is valid beside whatever the link has.
fn add_trace(
    config: &mut LinkConfig,
    document: &Document,
    item: &Item<LinkDraft>,
    path: &str,
    traces: &Traces,
) -> Result<(), ScenarioError> {
    let Some(Named { name, place }) = &item.is.trace else {
        let at = item.place_of(&["trace_repeats"]);
        let hint = "it belongs to a `trace`";
        let refused =
            at.refuse(&join(path, "trace_repeats"), "no trace to repeat", "a `trace` beside it", hint);
        return if item.is.trace_repeats { Err(refused) } else { Ok(()) };
    };
    let key = join(path, "trace");
    let span = match (item.is.trace_repeats, document.run.duration_ns) {
        (false, _) => Span::Once,
        (true, Some(end_ns)) => Span::RepeatedUntil { end_ns },
        (true, None) => {
            let (at, hint) = (item.place_of(&["trace_repeats"]), "say `run.duration`, beside `run.goal`");
            let (found, allowed) = ("a trace without an end", "repetitions only until `run.duration`");
            return Err(at.refuse(&join(path, "trace_repeats"), found, allowed, hint));
        }
    };
    let trace = traces.get(name, place, &key)?;
    trace.apply(config, span).map_err(|[found, allowed]| place.refuse(&key, &found, &allowed, ""))
}

/// The link's own check speaks of fields: `channel.good.min_delay_ns`, `outages[2]`.
fn in_words_of_the_file(
    error: &skyhaul_link::ConfigError,
    item: &Item<LinkDraft>,
    path: &str,
) -> ScenarioError {
    let bare = |part: &str| {
        let endings = ["_ns", "_bps", "_bytes"];
        endings.iter().find_map(|ending| part.strip_suffix(ending)).unwrap_or(part).to_string()
    };
    let field = error.field.replace('[', ".").replace(']', "");
    let keys: Vec<String> = field.split('.').map(bare).collect();
    let place = item.place_of(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    let key = keys.iter().fold(path.to_string(), |path, key| match key.parse::<usize>() {
        Ok(number) => format!("{path}[{number}]"),
        Err(_) => join(&path, key),
    });
    place.error(&key, error.problem.to_string())
}

fn route(document: &Document, number: usize) -> Result<Route, ScenarioError> {
    let path = format!("routes[{number}]");
    let draft = &document.routes[number];
    Ok(Route {
        at: number_of(&draft.at, &document.nodes, &join(&path, "at"), "node")?,
        to: number_of(&draft.to, &document.nodes, &join(&path, "to"), "node")?,
        link: number_of(&draft.link, &document.links, &join(&path, "link"), "link")?,
    })
}

fn flow(
    document: &Document,
    item: &Item<FlowDraft>,
    transports: &[Transport],
) -> Result<Flow, ScenarioError> {
    let path = join("flows", &item.name);
    let host = |named: &Named, key: &str| {
        let key = join(&path, key);
        let node = number_of(named, &document.nodes, &key, "node")?;
        match document.nodes[node].is.kind {
            NodeKind::Host => Ok(node),
            NodeKind::Router => {
                Err(named.place.refuse(&key, &format!("the router `{}`", named.name), "a host", ""))
            }
            NodeKind::Relay => {
                let hint = "relays stand in `via`";
                Err(named.place.refuse(&key, &format!("the relay `{}`", named.name), "a host", hint))
            }
        }
    };
    let (from, to) = (host(&item.is.from, "from")?, host(&item.is.to, "to")?);
    if from == to {
        let found = format!("`{}` at both ends", item.is.to.name);
        return Err(item.is.to.place.refuse(&join(&path, "to"), &found, "another host than `from`", ""));
    }
    let transport =
        number_of(&item.is.transport, &document.transports, &join(&path, "transport"), "transport")?;
    Ok(Flow {
        name: item.name.clone(),
        from,
        to,
        count: item.is.count,
        start_ns: item.is.start_ns,
        stagger_ns: item.is.stagger_ns,
        weight: item.is.weight,
        transport: transports[transport].clone(),
        via: vias(document, item, transports, &path)?,
        end_to_end: item.is.end_to_end,
        workload: item.is.workload,
    })
}

fn vias(
    document: &Document,
    item: &Item<FlowDraft>,
    transports: &[Transport],
    path: &str,
) -> Result<Vec<Via>, ScenarioError> {
    let mut vias: Vec<Via> = Vec::new();
    for (number, draft) in item.is.via.iter().enumerate() {
        let path = format!("{path}.via[{number}]");
        let key = join(&path, "relay");
        let node = number_of(&draft.relay, &document.nodes, &key, "node")?;
        let refuse = |found: &str, allowed: &str| Err(draft.relay.place.refuse(&key, found, allowed, ""));
        if document.nodes[node].is.kind != NodeKind::Relay {
            return refuse(&format!("`{}`, which is no relay", draft.relay.name), "a node of kind \"relay\"");
        }
        if vias.iter().any(|via| via.node == node) {
            return refuse(&format!("`{}` for the second time", draft.relay.name), "each relay once");
        }
        let transport =
            number_of(&draft.transport, &document.transports, &join(&path, "transport"), "transport")?;
        vias.push(Via { node, transport: transports[transport].clone(), buffer: draft.buffer });
    }
    Ok(vias)
}
