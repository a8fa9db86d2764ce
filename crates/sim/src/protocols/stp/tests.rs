//! A field that is added to STP's parameters has a key, or these tests fail.

use skyhaul_scenario::fields::{each_sets_its_field, field_names, names, shown_reads_as_itself};
use skyhaul_stp::{Config, ProbingConfig};

use super::keys::{config_keys, probing_keys};

#[test]
fn every_field_has_a_key_of_its_name_and_no_key_has_none() {
    let mut config = names(&config_keys());
    config.insert("probing".to_string());
    assert_eq!(field_names(&Config::standard()), config);
    assert_eq!(field_names(&ProbingConfig::standard()), names(&probing_keys()));
}

#[test]
fn each_key_sets_the_field_of_its_name() {
    each_sets_its_field(&config_keys(), &Config::standard());
    each_sets_its_field(&config_keys(), &Config::paper());
    each_sets_its_field(&probing_keys(), &ProbingConfig::standard());
}

/// A default as the reference shows it can be read, and is the default.
#[test]
fn a_shown_value_reads_as_itself() {
    let other = Config { keepalive_ns: Some(1), ..Config::paper() };
    for start in [Config::standard(), Config::paper()] {
        shown_reads_as_itself(&config_keys(), &start, &other);
    }
}
