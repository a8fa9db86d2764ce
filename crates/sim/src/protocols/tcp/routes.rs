//! `[[transports.NAME.routes]]` of TCP and SCPS-TP.

use std::sync::LazyLock;

use skyhaul_core::Verdict;
use skyhaul_tcp::{Config, Prefix, Route, RouteRate, Routes, Signals};

use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::keys::{Key, expect_table, join, read_table};
use skyhaul_scenario::kinds::{Bytes, Choice, Kind, Maybe, Rate, Switch, Text};
use skyhaul_scenario::tree::{Node, Value};

/// A route as the file says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteDraft {
    prefix: Option<Prefix>,
    rate_bps: Option<u64>,
    depth_bytes: Option<u64>,
    burst_bytes: Option<u64>,
    loss_cause: Option<Verdict>,
    bandwidth_delay_bytes: Option<u64>,
    obeys: Signals,
}

impl Default for RouteDraft {
    fn default() -> Self {
        Self {
            prefix: None,
            rate_bps: None,
            depth_bytes: None,
            burst_bytes: None,
            loss_cause: None,
            bandwidth_delay_bytes: None,
            obeys: Signals::ALL,
        }
    }
}

impl RouteDraft {
    fn finish(self, prefix: Prefix) -> Route {
        let Self { depth_bytes, burst_bytes, loss_cause, bandwidth_delay_bytes, obeys, .. } = self;
        let rate = self.rate_bps.map(|rate_bps| RouteRate { rate_bps, depth_bytes, burst_bytes });
        Route { prefix, rate, loss_cause, bandwidth_delay_bytes, obeys }
    }
}

/// Prefix of addresses.
struct PrefixKind;

impl Kind<Option<Prefix>> for PrefixKind {
    fn read(&self, node: &Node) -> Result<Option<Prefix>, String> {
        let prefix = Text.read(node)?.parse::<Prefix>();
        prefix.map(Some).map_err(|error| error.to_string())
    }

    fn show(&self, value: &Option<Prefix>) -> String {
        value.map_or_else(|| "-".to_string(), |prefix| format!("\"{prefix}\""))
    }

    fn allowed(&self) -> String {
        "a prefix such as \"10.0.0.0/24\"".to_string()
    }
}

pub(super) fn route_keys() -> &'static [Key<RouteDraft>] {
    static KEYS: LazyLock<Vec<Key<RouteDraft>>> = LazyLock::new(|| {
        vec![
            Key::new("prefix", PrefixKind, |r: &mut RouteDraft| &mut r.prefix)
                .means(
                    "Peers that it leads to; of several the longest counts. Hosts have the addresses 10.0.0.1, 10.0.0.2 and \
                     so on, in the order of `[nodes]`.",
                )
                .required(),
            Key::new("rate", Maybe(Rate), |r: &mut RouteDraft| &mut r.rate_bps).means(
                "Rate of one token bucket for all connections to all these peers, in place of the transport's; every IP \
                 byte counts. Without it each peer has its own.",
            ),
            Key::new("depth", Maybe(Bytes::BUFFER), |r: &mut RouteDraft| &mut r.depth_bytes).means(
                "What the bucket saves while nothing is sent: no time sees more than that above the rate. Without it \
                 what the rate brings in 50 ms, and five packets at least.",
            ),
            Key::new("burst", Maybe(Bytes::BUFFER), |r: &mut RouteDraft| &mut r.burst_bytes).means(
                "What leaves of that at once, and every 10 ms after that. Without it four packets.",
            ),
            Key::new(
                "loss_cause",
                Maybe(Choice(&[("congestion", Verdict::Congestion), ("corruption", Verdict::Corruption)])),
                |r: &mut RouteDraft| &mut r.loss_cause,
            )
            .means("What losses are taken for where no signal says otherwise, of SCPS-TP. Without it as the transport says."),
            Key::new("bandwidth_delay", Maybe(Bytes::BUFFER), |r: &mut RouteDraft| {
                &mut r.bandwidth_delay_bytes
            })
            .means("Window in which slow start ends at the latest, of SCPS-TP. Without it as the transport says."),
            Key::new("obey_ecn", Switch, |r: &mut RouteDraft| &mut r.obeys.ecn)
                .means("Ask for marks of congestion, and obey them, if the transport does."),
            Key::new("obey_corruption", Switch, |r: &mut RouteDraft| &mut r.obeys.corruption)
                .means("Take losses for damage while the peer says that routers damage what it gets, of SCPS-TP."),
            Key::new("obey_outage", Switch, |r: &mut RouteDraft| &mut r.obeys.outage)
                .means("Stop while routers say that a link is down, of SCPS-TP."),
            Key::new("obey_source_quench", Switch, |r: &mut RouteDraft| &mut r.obeys.source_quench)
                .means("Take source quench for a mark, if the transport does, of SCPS-TP."),
        ]
    });
    &KEYS
}

/// Key of an end beside those of [`super::keys::config_keys`].
pub(in crate::protocols) fn routes_key() -> Key<Config> {
    Key::custom("routes", "a list of tables, [[transports.NAME.routes]]", read_routes).means(
        "What is known of the ways to peers behind prefixes, for everything that the host of this end sends from the \
         first of these connections on.",
    )
}

/// Reads the list.
fn read_routes(config: &mut Config, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let Value::List(nodes) = &node.value else {
        let hint = format!("write [[{path}]] in front of each");
        return Err(node.place.refuse(path, &node.shown(), "a list of tables", &hint));
    };
    let routes = nodes.iter().zip(0..).map(|(node, number)| route(node, &format!("{path}[{number}]")));
    let routes = routes.collect::<Result<_, _>>()?;
    config.routes = Routes::new(routes).map_err(|error| node.place.error(path, error.to_string()))?;
    Ok(())
}

/// Keys that say something of a rate alone.
const OF_RATE: [&str; 2] = ["depth", "burst"];

fn route(node: &Node, path: &str) -> Result<Route, ScenarioError> {
    let mut draft = RouteDraft::default();
    read_table(route_keys(), &mut draft, node, path)?;
    let table = expect_table(node, path)?;
    if draft.rate_bps.is_none()
        && let Some((name, entry)) = OF_RATE.iter().find_map(|name| Some((name, table.get(name)?)))
    {
        let problem = format!("without `rate` it says nothing; write `rate`, or leave out `{name}`");
        return Err(entry.node.place.error(&join(path, name), problem));
    }
    let missing = || node.place.error(path, "no `prefix`".to_string());
    draft.prefix.map(|prefix| draft.finish(prefix)).ok_or_else(missing)
}
