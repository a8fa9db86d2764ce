//! A field that is added to SCPS-TP's parameters has a key, or these tests fail.

use skyhaul_scenario::fields::{each_sets_its_field, field_names, names, shown_reads_as_itself};
use skyhaul_tcp::Config;
use skyhaul_tcp::scps::Scps;

use super::keys::scps_keys;
use super::transport::PROFILES;

#[test]
fn every_field_has_a_key_of_its_name_and_no_key_has_none() {
    assert_eq!(field_names(&Scps::standard()), names(&scps_keys()));
}

#[test]
fn each_key_sets_the_field_of_its_name() {
    each_sets_its_field(&scps_keys(), &Scps::standard());
}

/// A default as the reference shows it can be read, and is the default.
#[test]
fn a_shown_value_reads_as_itself() {
    for name in PROFILES {
        let start = Config::scps_profile(name).and_then(|config| config.scps).expect("it speaks SCPS-TP");
        shown_reads_as_itself(&scps_keys(), &start, &Scps::standard());
    }
}
