//! The whole file: nodes, links, routes, transports and flows by their names, and what stands at its top.

use std::sync::LazyLock;

use skyhaul_core::event::RouterSignal;
use skyhaul_core::{NumberConflict, SignalNumbers};
use skyhaul_link::SignalConfig;

use super::transport::read_transport;
use super::{FlowDraft, LinkDraft, MetricsDraft, RunDraft, flow_keys, link_keys, metrics_keys, run_keys};
use crate::error::{Place, ScenarioError};
use crate::keys::{Key, expect_table, join, read_table};
use crate::kinds::{Choice, Count, Maybe, Name, Named, Pair, Probability, Text, Time};
use crate::model::NodeKind;
use crate::protocol::{EndConfig, Register};
use crate::tree::{Entry, Node, Value};

/// A named item, and its place.
#[derive(Clone, Debug)]
pub(crate) struct Item<T> {
    pub(crate) name: String,
    pub(crate) is: T,
    pub(crate) entry: Entry,
}

impl<T> Item<T> {
    /// Where a key of it stands, or it itself if the key is not there.
    pub(crate) fn place_of(&self, keys: &[&str]) -> &Place {
        self.entry.node.place_of(keys).unwrap_or(&self.entry.place)
    }
}

/// A scenario file, read but with names unresolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    /// Families whose transports it may have.
    pub(crate) register: Register,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) run: RunDraft,
    pub(crate) run_table: Option<Node>,
    pub(crate) nodes: Vec<Item<NodeDraft>>,
    pub(crate) links: Vec<Item<LinkDraft>>,
    pub(crate) routes: Vec<RouteDraft>,
    pub(crate) transports: Vec<Item<[EndConfig; 2]>>,
    pub(crate) flows: Vec<Item<FlowDraft>>,
    pub(crate) metrics: MetricsDraft,
}

/// A route as the file says it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteDraft {
    pub(crate) at: Named,
    pub(crate) to: Named,
    pub(crate) link: Named,
}

pub(crate) fn document_keys() -> &'static [Key<Document>] {
    static KEYS: LazyLock<Vec<Key<Document>>> = LazyLock::new(|| {
        vec![
            Key::new("title", Maybe(Text), |d: &mut Document| &mut d.title)
                .means("What it shows, in a line."),
            Key::new("description", Maybe(Text), |d: &mut Document| &mut d.description)
                .means("The same at length."),
            Key::custom("run", "a table", |d: &mut Document, node, path| {
                d.run_table = Some(node.clone());
                read_table(run_keys(), &mut d.run, node, path)
            })
            .means("When a run ends, and how many there are."),
            Key::custom("nodes", "a table of tables", |d: &mut Document, node, path| {
                d.nodes = items(node, path, from(NodeDraft::default, node_keys()))?;
                Ok(())
            })
            .means("Hosts and routers, each by its name.")
            .required(),
            Key::custom("links", "a table of tables", |d: &mut Document, node, path| {
                d.links = items(node, path, from(LinkDraft::default, link_keys()))?;
                Ok(())
            })
            .means("Links, each by its name, which keys its random streams.")
            .required(),
            Key::custom("routes", "a list of tables, [[routes]]", read_routes)
                .means("Routes that are not the ones with the fewest links."),
            Key::custom("transports", "a table of tables", |d: &mut Document, node, path| {
                let register = d.register.clone();
                d.transports = items(node, path, |node, path| read_transport(&register, node, path))?;
                Ok(())
            })
            .means("What carries flows, each by its name.")
            .required(),
            Key::custom("flows", "a table of tables", |d: &mut Document, node, path| {
                d.flows = items(node, path, from(FlowDraft::default, flow_keys()))?;
                Ok(())
            })
            .means("Who sends what to whom, each by its name.")
            .required(),
            // Read on its own, before anything else.
            Key::custom("sweep", "a table", |_, _, _| Ok(()))
                .means("Axes; every combination of their values is a point."),
            Key::table("metrics", metrics_keys, |d: &mut Document| &mut d.metrics)
                .means("What is measured beside the totals."),
        ]
    });
    &KEYS
}

/// A node as the file says it.
#[derive(Clone, Debug)]
pub(crate) struct NodeDraft {
    pub(crate) kind: NodeKind,
    pub(crate) signals: Option<SignalConfig>,
}

impl Default for NodeDraft {
    fn default() -> Self {
        Self { kind: NodeKind::Host, signals: None }
    }
}

pub(crate) fn node_keys() -> &'static [Key<NodeDraft>] {
    static KEYS: LazyLock<Vec<Key<NodeDraft>>> = LazyLock::new(|| {
        let kinds =
            Choice(&[("host", NodeKind::Host), ("router", NodeKind::Router), ("relay", NodeKind::Relay)]);
        vec![
            Key::new("kind", kinds, |n: &mut NodeDraft| &mut n.kind)
                .means("A host is the end of flows and forwards nothing; a router forwards; a relay splits flows that go `via` it.")
                .required(),
            Key::custom("signals", "a table", read_signals).means(
                "Signals that a router sends to ends of SCPS-TP: of damage, and of outages \
                 ([scps-tp.md](../spec/scps-tp.md)). UDP ports of `emulate` carry none. A host or relay has the \
                 numbers of those that it hears alone.",
            ),
        ]
    });
    &KEYS
}

pub(crate) fn signal_keys() -> &'static [Key<SignalConfig>] {
    static KEYS: LazyLock<Vec<Key<SignalConfig>>> = LazyLock::new(|| {
        let count = Count { min: 1, max: MAX_DESTINATIONS };
        let mut keys = vec![
            Key::new("damage_threshold", Probability, |s: &mut SignalConfig| &mut s.damage_threshold).means(
                "Average share of damaged packets of a link above which destinations of what comes by it are told.",
            ),
            Key::new("damage_weight", Probability, |s: &mut SignalConfig| &mut s.damage_weight)
                .means("Weight of the newest packet in that average."),
            Key::new("max_destinations", count, |s: &mut SignalConfig| &mut s.max_destinations).means(
                "Flows that it remembers of each link, and as many that it has told of an outage. Beyond, the one \
                 that was seen longest ago is forgotten, and nobody else is told of an outage.",
            ),
            Key::new("destination_age", Time::POSITIVE, |s: &mut SignalConfig| &mut s.destination_age_ns)
                .means("Time after which a flow without packets is forgotten."),
            Key::new("outage_delay", Time::ANY, |s: &mut SignalConfig| &mut s.outage_delay_ns)
                .means("Time for which a link must be down until the router sees it."),
            Key::new("restored_delay", Time::ANY, |s: &mut SignalConfig| &mut s.restored_delay_ns)
                .means("Time for which it must be up until the router sees that."),
            Key::new("interval", Time::POSITIVE, |s: &mut SignalConfig| &mut s.interval_ns)
                .means("Least time between two messages of a kind to a flow."),
        ];
        keys.extend(number_keys());
        keys
    });
    &KEYS
}

/// Largest table of flows of a router.
const MAX_DESTINATIONS: u64 = 65_536;

/// Key of a number of ICMP: type and code.
fn number_key(name: &'static str, field: fn(&mut SignalNumbers) -> &mut (u8, u8)) -> Key<SignalNumbers> {
    Key::new(name, Pair(Count { min: 0, max: 255 }), field)
}

/// Keys of the numbers of signals, which ends have, too.
fn number_keys() -> Vec<Key<SignalConfig>> {
    let keys = vec![
        number_key(NUMBER_KEYS[0][0], |n| &mut n.v4.corruption_experienced)
            .means("Type and code of ICMP of its word of damage; of an end: of what it takes for that."),
        number_key(NUMBER_KEYS[0][1], |n| &mut n.v4.link_outage).means("The same of its word of an outage."),
        number_key(NUMBER_KEYS[0][2], |n| &mut n.v4.link_restored).means("The same of the end of an outage."),
        number_key(NUMBER_KEYS[1][0], |n| &mut n.v6.corruption_experienced)
            .means("Type and code of ICMPv6, which emulated nodes speak, too: of its word of damage."),
        number_key(NUMBER_KEYS[1][1], |n| &mut n.v6.link_outage).means("The same of its word of an outage."),
        number_key(NUMBER_KEYS[1][2], |n| &mut n.v6.link_restored).means("The same of the end of an outage."),
    ];
    keys.into_iter().map(|key| key.within(|s: &mut SignalConfig| &mut s.numbers)).collect()
}

/// Names of those keys, over IPv4 and over IPv6.
const NUMBER_KEYS: [[&str; 3]; 2] = [
    ["corruption_experienced", "link_outage", "link_restored"],
    ["corruption_experienced_v6", "link_outage_v6", "link_restored_v6"],
];

/// Signals that a router sends; of an end, the numbers of those that it hears.
fn read_signals(node: &mut NodeDraft, at: &Node, path: &str) -> Result<(), ScenarioError> {
    let is_router = node.kind == NodeKind::Router;
    if !is_router {
        refuse_sending(at, path)?;
    }
    let signals = node.signals.get_or_insert_default();
    read_table(signal_keys(), signals, at, path)?;
    signals.numbers.check().map_err(|conflict| refuse_number(conflict, at, path))
}

fn refuse_sending(at: &Node, path: &str) -> Result<(), ScenarioError> {
    let is_number = |name: &str| NUMBER_KEYS.as_flattened().contains(&name);
    let entries = &expect_table(at, path)?.entries;
    if !entries.is_empty() && entries.iter().all(|entry| is_number(&entry.name)) {
        return Ok(());
    }
    let hint = "give the node `kind = \"router\"`, or take all out but numbers";
    let allowed = "those of a router, or numbers of those that it hears";
    Err(at.place.refuse(path, "signals of a node that forwards nothing", allowed, hint))
}

fn refuse_number(conflict: NumberConflict, at: &Node, path: &str) -> ScenarioError {
    let NumberConflict { signal, is_v6, other } = conflict;
    let name = |signal: RouterSignal| NUMBER_KEYS[usize::from(is_v6)][signal as usize];
    let (key, place) = (name(signal), at.place_of(&[name(signal)]).unwrap_or(&at.place));
    let found = match other {
        Some(other) => format!("the number of `{}`", name(other)),
        None => "a number of ICMP that means something else".to_string(),
    };
    let allowed = if is_v6 {
        "a type from 5 to 127 and a code, each signal another one"
    } else {
        "a type and a code that nothing else has, such as [19, 0] or [3, 16]; each signal another one"
    };
    place.refuse(&join(path, key), &found, allowed, "take another number, the same at routers and at ends")
}

pub(crate) fn route_keys() -> &'static [Key<RouteDraft>] {
    static KEYS: LazyLock<Vec<Key<RouteDraft>>> = LazyLock::new(|| {
        vec![
            Key::new("at", Name("node"), |r: &mut RouteDraft| &mut r.at)
                .means("Packets at this node ...")
                .required(),
            Key::new("to", Name("node"), |r: &mut RouteDraft| &mut r.to)
                .means("... for this host ...")
                .required(),
            Key::new("link", Name("link"), |r: &mut RouteDraft| &mut r.link)
                .means("... leave by this link.")
                .required(),
        ]
    });
    &KEYS
}

/// How a table is read that begins with these values.
fn from<T: 'static>(
    start: impl Fn() -> T,
    keys: &[Key<T>],
) -> impl Fn(&Node, &str) -> Result<T, ScenarioError> {
    move |node, path| {
        let mut is = start();
        read_table(keys, &mut is, node, path)?;
        Ok(is)
    }
}

fn items<T>(
    node: &Node,
    path: &str,
    read: impl Fn(&Node, &str) -> Result<T, ScenarioError>,
) -> Result<Vec<Item<T>>, ScenarioError> {
    let item = |entry: &Entry| {
        let path = join(path, &entry.name);
        check_name(entry, &path)?;
        let is = read(&entry.node, &path)?;
        Ok(Item { name: entry.name.clone(), is, entry: entry.clone() })
    };
    expect_table(node, path)?.entries.iter().map(item).collect()
}

/// Names are parts of names of metrics and of random streams.
fn check_name(entry: &Entry, path: &str) -> Result<(), ScenarioError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !entry.name.is_empty() && entry.name.len() <= 64 && entry.name.chars().all(allowed) {
        return Ok(());
    }
    let rule = "a name of up to 64 letters, digits, - and _";
    Err(entry.place.refuse(path, &format!("{:?}", entry.name), rule, ""))
}

fn read_routes(document: &mut Document, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let Value::List(nodes) = &node.value else {
        return Err(node.place.refuse(
            path,
            &node.shown(),
            "a list of tables",
            "write [[routes]] in front of each",
        ));
    };
    for (number, node) in nodes.iter().enumerate() {
        let mut route = RouteDraft::default();
        read_table(route_keys(), &mut route, node, &format!("{path}[{number}]"))?;
        document.routes.push(route);
    }
    Ok(())
}
