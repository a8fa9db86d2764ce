//! Connections between the same two hosts: one path, one rate, shared by weight.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP, simulate};

const GEO: &str = r#"
[run]
duration = "80s"
warm_up = "20s"
[nodes]
ship = { kind = "host" }
shore = { kind = "host" }
[links.geo]
between = ["ship", "shore"]
forward = { rate = "10Mbit/s", delay = "275ms", queue = "687500B" }
reverse = { rate = "10Mbit/s", delay = "275ms", queue = "687500B" }
[transports.stp]
protocol = "stp"
"#;
/// Rates of the path: none, so that it is measured, or that of the user.
const RATES: [&str; 2] = ["", "rate = \"10Mbit/s\"\n"];

/// Metrics of flows, each by name, more of its table, and workload.
fn run(rate: &str, flows: &[(&str, &str, &str)]) -> BTreeMap<String, f64> {
    let flow = |(name, more, workload): &(&str, &str, &str)| {
        let ends = "from = \"ship\"\nto = \"shore\"\ntransport = \"stp\"";
        format!("[flows.{name}]\n{ends}\n{more}\nworkload = {workload}\n")
    };
    let text = format!("{GEO}{rate}{}", flows.iter().map(flow).collect::<String>());
    let file = File::parse(&Register::new(&[&STP, &TCP]), "sharing.toml", &text)
        .unwrap_or_else(|error| panic!("{error}"));
    let measured = simulate(&file.first_scenario().unwrap(), 1).unwrap();
    measured.metrics.into_iter().collect()
}

const BULK: &str = "{ kind = \"bulk\" }";

#[test]
fn goodput_goes_by_weight() {
    for rate in RATES {
        let of = run(rate, &[("light", "", BULK), ("heavy", "weight = 3", BULK)]);
        let [light, heavy] = ["light", "heavy"].map(|name| of[&format!("flows.{name}.goodput_bps")]);
        assert!((heavy / light / 3.0 - 1.0).abs() < 0.05, "{rate:?}: {light} {heavy}");
        assert!(light + heavy > 8.5e6, "{rate:?}: {light} {heavy}");
    }
}

#[test]
fn eight_that_come_one_after_another_get_the_same() {
    for rate in RATES {
        let of = run(rate, &[("file", "count = 8\nstagger = \"1370ms\"", BULK)]);
        let (jain, goodput) = (of["jain"], of["goodput_bps"]);
        assert!(jain > 0.999 && goodput > 8.5e6, "{rate:?}: {jain} {goodput}");
    }
}

/// Exchanges of 10 kB back and forth, each over a connection of its own.
const TALK: &str = "{ kind = \"requests\", request = \"10kB\", response = \"100B\", think = \"1s\" }";

#[test]
fn a_short_connection_beside_a_long_one_takes_a_round_trip_more_at_most() {
    for rate in RATES {
        let alone = run(rate, &[("talk", "start = \"10s\"", TALK)]);
        let beside = run(rate, &[("talk", "start = \"10s\"", TALK), ("file", "", BULK)]);
        let median = |of: &BTreeMap<String, f64>, name: &str| of[&format!("{name}completion_ms.p50")];
        let (alone, with) = (median(&alone, ""), median(&beside, "flows.talk."));
        assert!(with < alone + 550.0, "{rate:?}: {alone} ms alone, {with} ms beside a transfer");
    }
}
