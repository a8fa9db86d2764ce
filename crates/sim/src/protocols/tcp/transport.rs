//! `[transports.NAME]`, protocol = "tcp".

use std::sync::LazyLock;

use skyhaul_tcp::{Config, ExplicitConfig, Routes};

use super::ack_policy::{AckDraft, ack_policy_keys};
use super::keepalive::{KEEPALIVE, keepalive_keys};
use super::keys::{config_keys, explicit_keys};
use super::routes::{RouteDraft, route_keys, routes_key};
use skyhaul_scenario::keys::{Key, join, read_table};
use skyhaul_scenario::kinds::{Choice, Kind};
use skyhaul_scenario::tree::Node;
use skyhaul_scenario::{Page, ScenarioError, TransportTable};

/// Names of the profiles.
pub(super) const TCP_PROFILES: [&str; 4] = ["standard", "paper", "sunos-4.1.3", "petra"];

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(super) struct TcpDraft {
    end: Config,
    acceptor: Option<Config>,
}

impl TcpDraft {
    /// One with nothing said beyond its profile; `None`: there is none of this name.
    pub(super) fn of_profile(name: &str) -> Option<Self> {
        Config::profile(name).map(|end| Self { end, acceptor: None })
    }

    /// Keys that contradict each other.
    fn check(&self, TransportTable { node, path }: &TransportTable<'_>) -> Result<(), ScenarioError> {
        let is_torn = |end: &Config| end.min_rto_ns > end.max_rto_ns;
        if is_torn(&self.end) || self.acceptor.as_ref().is_some_and(is_torn) {
            let key = join(path, "min_rto");
            return Err(node.place.refuse(&key, "more than `max_rto`", "at most `max_rto`", "change either"));
        }
        Ok(())
    }
}

/// Parameters of the accepting end: without the declared rate and the routes, which are of the way to it.
fn accepting(end: &Config) -> Config {
    Config { rate_bps: None, routes: Routes::default(), ..end.clone() }
}

impl Default for TcpDraft {
    fn default() -> Self {
        Self { end: Config::standard(), acceptor: None }
    }
}

/// Parameters of the end that opens and of the one that accepts.
pub(super) fn read(table: &TransportTable<'_>) -> Result<[Config; 2], ScenarioError> {
    let mut draft = TcpDraft::default();
    table.read(transport_keys(), &mut draft)?;
    draft.check(table)?;
    let acceptor = draft.acceptor.unwrap_or_else(|| accepting(&draft.end));
    Ok([draft.end, acceptor])
}

/// Sections of the reference.
pub(super) fn describe(page: &mut Page) {
    let mut profiles = TCP_PROFILES.map(|name| TcpDraft::of_profile(name).unwrap_or_default());
    page.transport("tcp", transport_keys(), TCP_PROFILES, &mut profiles);
    let mut policies = TCP_PROFILES
        .map(|name| Config::profile(name).unwrap_or_else(Config::standard).ack_policy)
        .map(AckDraft::from);
    page.profiled("[transports.NAME.ack_policy]", ack_policy_keys(), TCP_PROFILES, &mut policies);
    page.section("[[transports.NAME.routes]]", route_keys(), &mut RouteDraft::default());
    page.section("[transports.NAME.explicit]", explicit_keys(), &mut ExplicitConfig::default());
    page.section("[transports.NAME.keepalive]", keepalive_keys(), &mut { KEEPALIVE });
}

/// Keys of an end.
fn end_keys() -> Vec<Key<Config>> {
    config_keys().into_iter().chain([routes_key()]).collect()
}

pub(super) fn transport_keys() -> &'static [Key<TcpDraft>] {
    static KEYS: LazyLock<Vec<Key<TcpDraft>>> = LazyLock::new(|| {
        let mut keys = vec![Key::custom("profile", &PROFILES.allowed(), read_profile).means(
            "Start values: what a user today should have, the regular TCP of the papers, that of the \
                 SCPS-TP paper, or that of the wires between hosts and relays.",
        )];
        keys.extend(end_keys().into_iter().map(|key| key.within(|t: &mut TcpDraft| &mut t.end)));
        keys.push(Key::custom("acceptor", "a table", read_acceptor).means(
            "Changes for the end that accepts: every key but `protocol`, `profile` and `acceptor`. Without it \
             both ends are alike. All flows of TCP that end at one node need the same, but \
             for what counts at senders alone (`controller` and the like) where the acceptor sends no data.",
        ));
        keys
    });
    &KEYS
}

const PROFILES: Choice<&str> = Choice(&[
    ("standard", "standard"),
    ("paper", "paper"),
    ("sunos-4.1.3", "sunos-4.1.3"),
    ("petra", "petra"),
]);

fn read_profile(transport: &mut TcpDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let name = PROFILES
        .read(node)
        .map_err(|hint| node.place.refuse(path, &node.shown(), &PROFILES.allowed(), &hint))?;
    *transport = TcpDraft::of_profile(name).unwrap_or_default(); // every name of the list is known
    Ok(())
}

fn read_acceptor(transport: &mut TcpDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    static KEYS: LazyLock<Vec<Key<Config>>> = LazyLock::new(end_keys);
    let mut acceptor = accepting(&transport.end);
    read_table(&KEYS, &mut acceptor, node, path)?;
    transport.acceptor = Some(acceptor);
    Ok(())
}
