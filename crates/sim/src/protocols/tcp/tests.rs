//! A field that is added to TCP's parameters has a key, or these tests fail.

use skyhaul_scenario::fields::{each_sets_its_field, field_names, names, shown_reads_as_itself};
use skyhaul_tcp::{AckPolicy, Config, ExplicitConfig};

use super::ack_policy::{AckDraft, ack_policy_keys};
use super::keepalive::{KEEPALIVE, keepalive_keys};
use super::keys::{config_keys, explicit_keys};
use super::transport::TCP_PROFILES;

#[test]
fn every_field_has_a_key_of_its_name_and_no_key_has_none() {
    let mut tcp = names(&config_keys());
    // Code; a family of its own; a list of tables.
    tcp.extend(["loss_judge", "scps", "routes"].map(String::from));
    assert_eq!(field_names(&Config::standard()), tcp);
    assert_eq!(field_names(&KEEPALIVE), names(keepalive_keys()));
    let explicit = field_names(&ExplicitConfig::default());
    assert_eq!(explicit, names(explicit_keys()));
}

#[test]
fn each_key_sets_the_field_of_its_name() {
    each_sets_its_field(&config_keys(), &Config::standard());
    each_sets_its_field(&config_keys(), &Config::paper());
    each_sets_its_field(keepalive_keys(), &KEEPALIVE);
}

/// A default as the reference shows it can be read, and is the default.
#[test]
fn a_shown_value_reads_as_itself() {
    for name in TCP_PROFILES {
        let start = Config::profile(name).expect("it is one of the profiles");
        shown_reads_as_itself(&config_keys(), &start, &Config::paper());
        let start = AckDraft::from(start.ack_policy);
        shown_reads_as_itself(ack_policy_keys(), &start, &AckDraft::from(AckPolicy::Immediate));
    }
}
