//! `[transports.NAME]`, protocol = "stp".

use std::sync::LazyLock;

use skyhaul_stp::{Config, ProbingConfig};

use super::stp::{config_keys, probing_keys};
use super::transport::protocol_key;
use crate::scenario::error::ScenarioError;
use crate::scenario::keys::{Key, read_table};
use crate::scenario::kinds::{Choice, Kind, Switch};
use crate::scenario::model::Transport;
use crate::scenario::tree::{Node, Value};

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct StpDraft {
    profile: Profile,
    end: EndDraft,
    acceptor: Option<EndDraft>,
}

/// Parameters of one end.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct EndDraft {
    config: Config,
    /// What probing would be like if it was switched on.
    probing: ProbingConfig,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::scenario) enum Profile {
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
    pub(in crate::scenario) fn new(profile: Profile) -> Self {
        Self { profile, end: profile.end(), acceptor: None }
    }

    /// What it comes to.
    pub(in crate::scenario) fn finish(self, name: &str) -> Transport {
        let acceptor = self.acceptor.unwrap_or_else(|| self.end.accepting());
        Transport { name: name.to_string(), opener: self.end.config.into(), acceptor: acceptor.config.into() }
    }
}

impl EndDraft {
    /// The same at the accepting end: what was declared and what is remembered is about the way to it.
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

pub(in crate::scenario) fn stp_transport_keys() -> &'static [Key<StpDraft>] {
    static KEYS: LazyLock<Vec<Key<StpDraft>>> = LazyLock::new(|| {
        let mut keys = vec![
            protocol_key(),
            Key::custom("profile", "\"default\" or \"paper\"", read_profile)
                .means("Start values: what a user today should have, or the constants of the papers."),
        ];
        keys.extend(end_keys().into_iter().map(|key| key.within(|t: &mut StpDraft| &mut t.end)));
        keys.push(Key::custom("acceptor", "a table", read_acceptor).means(
            "Changes for the end that accepts: every key but `protocol`, `profile` and \
             `acceptor`. Without it both ends are alike, but that the accepting one declares no \
             rate. All flows of STP that end at one node need the same.",
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
pub(in crate::scenario) struct ProbingDraft {
    on: bool,
    config: ProbingConfig,
}

impl ProbingDraft {
    /// Switched on, with these parameters.
    pub(in crate::scenario) fn new(config: ProbingConfig) -> Self {
        Self { on: true, config }
    }
}

pub(in crate::scenario) fn probing_table_keys() -> &'static [Key<ProbingDraft>] {
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
