//! A field that is added to STPP's parameters has a key, or these tests fail.

use skyhaul_petra::stpp::{Config, MaskCoding};
use skyhaul_scenario::fields::{each_sets_its_field, field_names, names, shown_reads_as_itself};
use skyhaul_scenario::{File, Register};

use super::STPP;
use super::keys::config_keys;

#[test]
fn every_field_has_a_key_of_its_name_and_sets_it() {
    assert_eq!(field_names(&Config::standard()), names(&config_keys()));
    each_sets_its_field(&config_keys(), &Config::standard());
    let other = Config { mask: MaskCoding::List, timeout_ns: Some(1), ..Config::standard() };
    shown_reads_as_itself(&config_keys(), &Config::standard(), &other);
}

/// What is wrong with a transport of these keys.
fn problem(keys: &str) -> String {
    let text = format!(
        "[run]\ngoal = \"done\"\n[nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n[links.l]\nbetween = [\"a\", \
         \"b\"]\n[transports.t]\n{keys}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\nworkload = {{ kind = \
         \"bulk\", size = \"1kB\" }}\n"
    );
    let file = File::parse(&Register::new(&[&STPP]), "t.toml", &text)
        .and_then(|file| file.first_scenario().map(drop));
    file.map_or_else(|error| error.to_string(), |()| String::new())
}

#[test]
fn values_that_no_engine_could_keep_to_are_refused_where_they_stand() {
    assert_eq!(problem("payload = \"600B\""), "");
    assert!(problem("sdu_header = \"3B\"").contains("transports.t.sdu_header: found 3 octets"));
    assert!(problem("receive_limit = \"1kB\"\nthreshold = \"1kB\"").contains("transports.t.receive_limit"));
    assert!(problem("threshold = \"2MB\"").contains("transports.t.threshold"));
    assert!(problem("acceptor = { threshold = \"2MB\" }").contains("threshold"));
    // A PDU has room for 65 000 octets, and 65 500 were cut in silence: the line is the key's own.
    assert_eq!(problem("payload = \"65000B\""), "");
    let told = problem("payload = \"65500B\"");
    assert!(told.starts_with("t.toml:9:"), "{told}");
    assert!(told.contains("transports.t.payload: found 65500 octets; allowed (22): 1 to 65000"), "{told}");
    assert!(problem("acceptor = { payload = \"65500B\" }").contains("(22): 1 to 65000"));
    assert!(problem("window_pdus = 16385").contains("a whole number from 1 to 16384"));
}
