//! A field that is added to what a scenario file configures has a key, or these tests fail.

use std::collections::BTreeSet;
use std::fmt::Debug;

use skyhaul_link::{
    BurstLoss, ChannelConfig, ChannelState, DirectionConfig, LinkConfig, Reordering, StateConfig,
};
use skyhaul_stp::{Config, ProbingConfig};

use super::keys::Key;
use super::tables::{
    burst_keys, channel_keys, config_keys, direction_keys, link_keys, probing_keys, reordering_keys,
    state_keys,
};

/// Names of a structure's own fields, as `Debug` prints them, without units: the value carries the unit.
fn fields(value: &impl Debug) -> BTreeSet<String> {
    let text = format!("{value:#?}");
    let own = text
        .lines()
        .filter_map(|line| line.strip_prefix("    ").filter(|rest| !rest.starts_with([' ', ']', '}', ')'])));
    own.map(|field| {
        let name = field.split(':').next().unwrap();
        let unit = ["_ns", "_bps", "_bytes"].into_iter().find(|unit| name.ends_with(unit)).unwrap_or("");
        name.strip_suffix(unit).unwrap().to_string()
    })
    .collect()
}

fn names<T>(keys: &[Key<T>]) -> BTreeSet<String> {
    keys.iter().map(|key| key.name.to_string()).collect()
}

fn channel() -> ChannelConfig {
    let state = StateConfig { mean_stay_ns: 1, loss: 0.0, min_delay_ns: 0, max_delay_ns: 0 };
    ChannelConfig { good: state, bad: state, start: ChannelState::Good }
}

#[test]
fn every_field_has_a_key_of_its_name_and_no_key_has_none() {
    let mut config = names(&config_keys());
    config.insert("probing".to_string());
    assert_eq!(fields(&Config::standard()), config);
    assert_eq!(fields(&ProbingConfig::standard()), names(&probing_keys()));
    assert_eq!(fields(&DirectionConfig::default()), names(direction_keys()));
    assert_eq!(fields(&BurstLoss::default()), names(burst_keys()));
    assert_eq!(fields(&Reordering::default()), names(reordering_keys()));
    assert_eq!(fields(&channel()), names(channel_keys()));
    assert_eq!(fields(&channel().good), names(state_keys()));
    let mut link = fields(&LinkConfig::default());
    assert!(link.remove("name"), "the name of its table");
    link.extend(["between", "preset", "outages_every"].map(String::from));
    assert_eq!(link, names(link_keys()));
}
