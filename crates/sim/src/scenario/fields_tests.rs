//! A field that is added to what a scenario file configures has a key, or these tests fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use skyhaul_link::{
    BurstLoss, ChannelConfig, ChannelState, DirectionConfig, LinkConfig, RedConfig, Reordering, StateConfig,
};
use skyhaul_stp::{Config, ProbingConfig};

use std::sync::Arc;

use super::error::Source;
use super::keys::{Key, read_table};
use super::tables::{
    AckDraft, KEEPALIVE, TCP_PROFILES, ack_policy_keys, burst_keys, channel_keys, config_keys,
    direction_keys, keepalive_keys, link_keys, probing_keys, red_keys, reordering_keys, state_keys,
    tcp_config_keys,
};
use super::tree::Node;

/// A structure's own fields and their values, as `Debug` prints them. The names are without units: in a file
/// the value carries the unit.
fn fields(value: &impl Debug) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let mut current = String::new();
    for line in format!("{value:#?}").lines().filter_map(|line| line.strip_prefix("    ")) {
        let begins = line.starts_with(|c: char| c.is_ascii_lowercase());
        let (name, value) = line.split_once(':').filter(|_| begins).unwrap_or((&current, line));
        let unit = ["_ns", "_bps", "_bytes"].into_iter().find(|unit| name.ends_with(unit)).unwrap_or("");
        current = name.strip_suffix(unit).unwrap().to_string();
        fields.entry(current.clone()).or_insert_with(String::new).push_str(value);
    }
    fields
}

fn field_names(value: &impl Debug) -> BTreeSet<String> {
    fields(value).into_keys().collect()
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
    assert_eq!(field_names(&Config::standard()), config);
    let mut tcp = names(&tcp_config_keys());
    tcp.extend(["loss_judge", "offered_options"].map(String::from)); // code, not values
    assert_eq!(field_names(&skyhaul_tcp::Config::standard()), tcp);
    assert_eq!(field_names(&KEEPALIVE), names(keepalive_keys()));
    assert_eq!(field_names(&ProbingConfig::standard()), names(&probing_keys()));
    let mut direction = field_names(&DirectionConfig::default());
    assert!(direction.remove("schedule"), "traces bring it");
    assert_eq!(direction, names(direction_keys()));
    assert_eq!(field_names(&BurstLoss::default()), names(burst_keys()));
    assert_eq!(field_names(&RedConfig::default()), names(red_keys()));
    assert_eq!(field_names(&Reordering::default()), names(reordering_keys()));
    assert_eq!(field_names(&channel()), names(channel_keys()));
    assert_eq!(field_names(&channel().good), names(state_keys()));
    let mut link = field_names(&LinkConfig::default());
    assert!(link.remove("name"), "the name of its table");
    link.extend(["between", "preset", "outages_every", "trace", "trace_repeats"].map(String::from));
    assert_eq!(link, names(link_keys()));
}

/// Sets each key to each of many values; what can be read changes the field of that name and no other.
fn each_sets_its_field<T: Clone + Debug + 'static>(keys: &[Key<T>], start: &T) {
    for key in keys.iter().filter(|key| key.allowed != "a table") {
        let words = key.allowed.split('"').skip(1).step_by(2).map(|word| format!("\"{word}\""));
        let values =
            ["7", "[7, 7]", "0.7", "true", "false", "\"7us\"", "\"7bit/s\"", "\"7B\""].map(String::from);
        let mut changes = 0;
        for value in words.chain(values) {
            let text = format!("{} = {value}", key.name);
            let source = Arc::new(Source { text, ..Source::default() });
            let mut target = start.clone();
            if read_table(keys, &mut target, &Node::document(&source).unwrap(), "").is_err() {
                continue;
            }
            let (before, mut after) = (fields(start), fields(&target));
            changes += usize::from(before != after);
            after.insert(key.name.to_string(), before[key.name].clone());
            assert_eq!(before, after, "{}", source.text);
        }
        assert!(changes > 0, "{} changes nothing", key.name);
    }
}

#[test]
fn each_key_sets_the_field_of_its_name() {
    each_sets_its_field(&config_keys(), &Config::standard());
    each_sets_its_field(&config_keys(), &Config::paper());
    each_sets_its_field(&tcp_config_keys(), &skyhaul_tcp::Config::standard());
    each_sets_its_field(&tcp_config_keys(), &skyhaul_tcp::Config::paper());
    each_sets_its_field(keepalive_keys(), &KEEPALIVE);
    each_sets_its_field(&probing_keys(), &ProbingConfig::standard());
    each_sets_its_field(direction_keys(), &DirectionConfig::default());
    each_sets_its_field(burst_keys(), &BurstLoss::default());
    each_sets_its_field(red_keys(), &RedConfig::default());
    each_sets_its_field(reordering_keys(), &Reordering::default());
    each_sets_its_field(channel_keys(), &channel());
    each_sets_its_field(state_keys(), &channel().good);
}

/// What the reference says as a default can be read, and is the default.
#[test]
fn a_shown_value_reads_as_itself() {
    let other = Config { keepalive_ns: Some(1), ..Config::paper() };
    for start in [Config::standard(), Config::paper()] {
        shown_reads_as_itself(&config_keys(), &start, &other);
    }
    for name in TCP_PROFILES {
        let start = skyhaul_tcp::Config::profile(name).unwrap();
        shown_reads_as_itself(&tcp_config_keys(), &start, &skyhaul_tcp::Config::paper());
        let start = AckDraft::from(start.ack_policy);
        shown_reads_as_itself(ack_policy_keys(), &start, &AckDraft::from(skyhaul_tcp::AckPolicy::Immediate));
    }
}

fn shown_reads_as_itself<T: Clone + Debug + 'static>(keys: &[Key<T>], start: &T, other: &T) {
    for key in keys.iter().filter(|key| !key.allowed.contains("a table")) {
        let text = format!("{} = {}", key.name, key.shown(&mut start.clone()));
        let source = Arc::new(Source { text, ..Source::default() });
        let mut target = other.clone();
        read_table(keys, &mut target, &Node::document(&source).unwrap(), "").unwrap();
        assert_eq!(fields(&target)[key.name], fields(start)[key.name], "{}", source.text);
    }
}
