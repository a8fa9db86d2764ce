//! `[transports.NAME]`, protocol = "stp".

use std::sync::LazyLock;

use skyhaul_stp::{Config, ProbingConfig};

use super::keys::{config_keys, probing_keys};
use super::remembered::{SAVED, remembered_keys};
use skyhaul_scenario::keys::{Key, read_table};
use skyhaul_scenario::kinds::{Choice, Kind, Switch};
use skyhaul_scenario::tree::{Node, Value};
use skyhaul_scenario::{Page, ScenarioError, TransportTable};

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(super) struct StpDraft {
    profile: Profile,
    end: EndDraft,
    acceptor: Option<EndDraft>,
}

/// Parameters of one end.
#[derive(Clone, Debug)]
pub(super) struct EndDraft {
    config: Config,
    /// Parameters of probing, if it was switched on.
    probing: ProbingConfig,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Profile {
    #[default]
    Default,
    Paper,
}

impl Profile {
    fn end(self) -> EndDraft {
        match self {
            Self::Default => EndDraft { config: Config::standard(), probing: ProbingConfig::standard() },
            Self::Paper => EndDraft { config: Config::paper(), probing: ProbingConfig::paper() },
        }
    }
}

impl StpDraft {
    /// One with nothing said beyond its profile.
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, end: profile.end(), acceptor: None }
    }
}

impl EndDraft {
    /// Parameters of the accepting end: without what is declared or remembered, which is about the way to it.
    fn accepting(&self) -> Self {
        let config = Config { rate_bps: None, remembered: None, ..self.config.clone() };
        Self { config, ..self.clone() }
    }
}

impl Default for StpDraft {
    fn default() -> Self {
        Self::new(Profile::default())
    }
}

/// Parameters of the end that opens and of the one that accepts.
pub(super) fn read(table: &TransportTable<'_>) -> Result<[Config; 2], ScenarioError> {
    let mut draft = StpDraft::default();
    table.read(transport_keys(), &mut draft)?;
    let acceptor = draft.acceptor.unwrap_or_else(|| draft.end.accepting());
    Ok([draft.end.config, acceptor.config])
}

/// Sections of the reference.
pub(super) fn describe(page: &mut Page) {
    let names = ["default", "paper"];
    let mut profiles = [Profile::Default, Profile::Paper].map(StpDraft::new);
    page.transport("stp", transport_keys(), names, &mut profiles);
    let mut profiles = [ProbingConfig::standard(), ProbingConfig::paper()].map(ProbingDraft::new);
    page.profiled("[transports.NAME.probing]", probing_table_keys(), names, &mut profiles);
    page.section("[transports.NAME.remembered]", remembered_keys(), &mut { SAVED });
}

pub(super) fn transport_keys() -> &'static [Key<StpDraft>] {
    static KEYS: LazyLock<Vec<Key<StpDraft>>> = LazyLock::new(|| {
        let mut keys = vec![
            Key::custom("profile", "\"default\" or \"paper\"", read_profile)
                .means("Start values: what a user today should have, or the constants of the papers."),
        ];
        keys.extend(end_keys().into_iter().map(|key| key.within(|t: &mut StpDraft| &mut t.end)));
        keys.push(Key::custom("acceptor", "a table", read_acceptor).means(
            "Changes for the end that accepts: every key but `protocol`, `profile` and \
             `acceptor`. Without it both ends are alike, but that the accepting one declares no \
             rate. All flows of STP that end at one node need the same, but \
             for what counts at senders alone (`controller` and the like) where the acceptor sends no data.",
        ));
        keys
    });
    &KEYS
}

fn end_keys() -> Vec<Key<EndDraft>> {
    let mut keys: Vec<_> =
        config_keys().into_iter().map(|key| key.within(|e: &mut EndDraft| &mut e.config)).collect();
    keys.push(Key::custom("probing", "true, false or a table", read_probing).means(
        "XSTP-probing [XSTP 4]: when packets vanish, ask before acting. False: every loss is \
             congestion. A table changes its parameters.",
    ));
    keys
}

fn read_profile(transport: &mut StpDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let kind = Choice(&[("default", Profile::Default), ("paper", Profile::Paper)]);
    let profile = kind.read(node);
    transport.profile =
        profile.map_err(|hint| node.place.refuse(path, &node.shown(), &kind.allowed(), &hint))?;
    transport.end = transport.profile.end();
    Ok(())
}

fn read_acceptor(transport: &mut StpDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    static KEYS: LazyLock<Vec<Key<EndDraft>>> = LazyLock::new(end_keys);
    let mut acceptor = transport.end.accepting();
    read_table(&KEYS, &mut acceptor, node, path)?;
    transport.acceptor = Some(acceptor);
    Ok(())
}

/// A table of probing: its parameters, and a switch, so that one who has such a table can still sweep it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbingDraft {
    on: bool,
    config: ProbingConfig,
}

impl ProbingDraft {
    /// Switched on, with these parameters.
    pub(super) fn new(config: ProbingConfig) -> Self {
        Self { on: true, config }
    }
}

pub(super) fn probing_table_keys() -> &'static [Key<ProbingDraft>] {
    static KEYS: LazyLock<Vec<Key<ProbingDraft>>> = LazyLock::new(|| {
        let on = "False is the same as `probing = false`, but leaves the other keys in place.";
        let mut keys = vec![Key::new("on", Switch, |p: &mut ProbingDraft| &mut p.on).means(on)];
        keys.extend(probing_keys().into_iter().map(|key| key.within(|p: &mut ProbingDraft| &mut p.config)));
        keys
    });
    &KEYS
}

fn read_probing(end: &mut EndDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut draft = ProbingDraft::new(end.probing);
    match &node.value {
        Value::Switch(on) => draft.on = *on,
        Value::Table(_) => read_table(probing_table_keys(), &mut draft, node, path)?,
        _ => return Err(node.place.refuse(path, &node.shown(), "true, false or a table", "")),
    }
    end.probing = draft.config;
    end.config.probing = draft.on.then_some(draft.config);
    Ok(())
}
