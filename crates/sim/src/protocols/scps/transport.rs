//! `[transports.NAME]`, protocol = "scps-tp".

use std::sync::LazyLock;

use skyhaul_tcp::{Config, Routes};

use super::keys::end_keys;
use crate::protocols::tcp::ack_policy::{AckDraft, ack_policy_keys};
use skyhaul_scenario::keys::{Key, join, read_table};
use skyhaul_scenario::kinds::{Choice, Kind};
use skyhaul_scenario::tree::Node;
use skyhaul_scenario::{Page, ScenarioError, TransportTable};

/// Names of the profiles.
pub(super) const PROFILES: [&str; 6] =
    ["default", "reference", "asymmetry", "corruption", "bent-pipe", "on-board"];

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(super) struct ScpsDraft {
    end: Config,
    acceptor: Option<Config>,
}

impl ScpsDraft {
    /// One with nothing said beyond its profile.
    fn of_profile(name: &str) -> Self {
        Self { end: Config::scps_profile(name).unwrap_or_else(Config::scps_tp), acceptor: None }
    }
}

/// Parameters of the accepting end: without the declared rate and the routes, which are of the way to it.
fn accepting(end: &Config) -> Config {
    Config { rate_bps: None, routes: Routes::default(), ..end.clone() }
}

/// Parameters of the end that opens and of the one that accepts.
pub(super) fn read(table: &TransportTable<'_>) -> Result<[Config; 2], ScenarioError> {
    let mut draft = ScpsDraft::of_profile("default");
    table.read(transport_keys(), &mut draft)?;
    let acceptor = draft.acceptor.unwrap_or_else(|| accepting(&draft.end));
    let ends = [draft.end, acceptor];
    ends.iter().try_for_each(|end| check(end, table))?;
    Ok(ends)
}

/// Keys that contradict each other.
fn check(end: &Config, TransportTable { node, path }: &TransportTable<'_>) -> Result<(), ScenarioError> {
    if end.min_rto_ns > end.max_rto_ns {
        let key = join(path, "min_rto");
        return Err(node.place.refuse(&key, "more than `max_rto`", "at most `max_rto`", "change either"));
    }
    Ok(())
}

/// Sections of the reference.
pub(super) fn describe(page: &mut Page) {
    let mut profiles = PROFILES.map(ScpsDraft::of_profile);
    page.transport("scps-tp", transport_keys(), PROFILES, &mut profiles);
    let mut policies = PROFILES.map(|name| {
        let end = ScpsDraft::of_profile(name).end;
        AckDraft::from(end.scps.map_or(end.ack_policy, |scps| scps.ack_policy))
    });
    page.profiled("[transports.NAME.ack_policy], scps-tp", ack_policy_keys(), PROFILES, &mut policies);
}

pub(super) fn transport_keys() -> &'static [Key<ScpsDraft>] {
    static KEYS: LazyLock<Vec<Key<ScpsDraft>>> = LazyLock::new(|| {
        let mut keys = vec![Key::custom("profile", &CHOICE.allowed(), read_profile).means(
            "Start values: what a user should have, the constants of the public reference implementation, or one of \
             the tables 1 to 4 of the paper.",
        )];
        keys.extend(end_keys().into_iter().map(|key| key.within(|t: &mut ScpsDraft| &mut t.end)));
        keys.push(Key::custom("acceptor", "a table", read_acceptor).means(
            "Changes for the end that accepts: every key but `protocol`, `profile` and `acceptor`. Without it both ends \
             are alike, but for `rate` and `routes`. All flows of SCPS-TP that end at one node need the same, but for what counts at \
             senders alone where the acceptor sends no data.",
        ));
        keys
    });
    &KEYS
}

const CHOICE: Choice<&str> = Choice(&[
    ("default", "default"),
    ("reference", "reference"),
    ("asymmetry", "asymmetry"),
    ("corruption", "corruption"),
    ("bent-pipe", "bent-pipe"),
    ("on-board", "on-board"),
]);

fn read_profile(transport: &mut ScpsDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let name =
        CHOICE.read(node).map_err(|hint| node.place.refuse(path, &node.shown(), &CHOICE.allowed(), &hint))?;
    *transport = ScpsDraft::of_profile(name);
    Ok(())
}

fn read_acceptor(transport: &mut ScpsDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    static KEYS: LazyLock<Vec<Key<Config>>> = LazyLock::new(end_keys);
    let mut acceptor = accepting(&transport.end);
    read_table(&KEYS, &mut acceptor, node, path)?;
    transport.acceptor = Some(acceptor);
    Ok(())
}
