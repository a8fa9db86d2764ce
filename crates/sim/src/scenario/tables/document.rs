//! The whole file: nodes, links, routes, transports and flows by their names, and what stands at its top.

use std::sync::LazyLock;

use super::transport::read_transport;
use super::{
    FlowDraft, LinkDraft, MetricsDraft, RunDraft, TransportDraft, flow_keys, link_keys, metrics_keys,
    run_keys,
};
use crate::scenario::error::{Place, ScenarioError};
use crate::scenario::keys::{Key, expect_table, join, read_table};
use crate::scenario::kinds::{Choice, Maybe, Name, Named, Text};
use crate::scenario::model::NodeKind;
use crate::scenario::tree::{Entry, Node, Value};

/// What has a name of its own, and where it stands.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Item<T> {
    pub(in crate::scenario) name: String,
    pub(in crate::scenario) is: T,
    pub(in crate::scenario) entry: Entry,
}

impl<T> Item<T> {
    /// Where a key of it stands, or it itself if the key is not there.
    pub(in crate::scenario) fn place_of(&self, keys: &[&str]) -> &Place {
        place_of(&self.entry.node, keys).unwrap_or(&self.entry.place)
    }
}

/// Where the deepest of these keys stands, each within the one before it, that is there.
pub(in crate::scenario) fn place_of<'a>(mut node: &'a Node, keys: &[&str]) -> Option<&'a Place> {
    let mut place = None;
    for key in keys {
        let next = match &node.value {
            Value::Table(table) => table.get(key).map(|entry| &entry.node),
            Value::List(nodes) => key.parse().ok().and_then(|number: usize| nodes.get(number)),
            _ => None,
        };
        let Some(next) = next else { break };
        (node, place) = (next, Some(&next.place));
    }
    place
}

/// A scenario file, read but with names unresolved.
#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct Document {
    pub(in crate::scenario) title: Option<String>,
    pub(in crate::scenario) description: Option<String>,
    pub(in crate::scenario) run: RunDraft,
    pub(in crate::scenario) run_table: Option<Node>,
    pub(in crate::scenario) nodes: Vec<Item<NodeKind>>,
    pub(in crate::scenario) links: Vec<Item<LinkDraft>>,
    pub(in crate::scenario) routes: Vec<RouteDraft>,
    pub(in crate::scenario) transports: Vec<Item<TransportDraft>>,
    pub(in crate::scenario) flows: Vec<Item<FlowDraft>>,
    pub(in crate::scenario) metrics: MetricsDraft,
}

/// A route as the file says it.
#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct RouteDraft {
    pub(in crate::scenario) at: Named,
    pub(in crate::scenario) to: Named,
    pub(in crate::scenario) link: Named,
}

pub(in crate::scenario) fn document_keys() -> &'static [Key<Document>] {
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
                d.nodes = items(node, path, from(|| NodeKind::Host, node_keys()))?;
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
                d.transports = items(node, path, read_transport)?;
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

pub(in crate::scenario) fn node_keys() -> &'static [Key<NodeKind>] {
    static KEYS: LazyLock<Vec<Key<NodeKind>>> = LazyLock::new(|| {
        let kinds = Choice(&[("host", NodeKind::Host), ("router", NodeKind::Router)]);
        vec![
            Key::new("kind", kinds, |kind: &mut NodeKind| kind)
                .means("A host is the end of flows and forwards nothing; a router forwards.")
                .required(),
        ]
    });
    &KEYS
}

pub(in crate::scenario) fn route_keys() -> &'static [Key<RouteDraft>] {
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
