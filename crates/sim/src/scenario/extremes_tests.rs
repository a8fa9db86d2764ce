//! Whatever a file may say about a transport or a link, the engines run with it.

use super::keys::Key;
use super::tables::{
    TCP_PROFILES, ack_policy_keys, channel_keys, config_keys, direction_keys, probing_table_keys, state_keys,
    tcp_config_keys,
};
use super::{File, Scenario};

const BASE: &str = r#"
[run]
duration = "5s"
max_events = 5000
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.space]
preset = "leo-handoff"
between = ["a", "b"]
forward = { loss = 0.05 }
[transports.stp]
probing = {}
send_limit = "1MB"
[transports.tcp]
protocol = "tcp"
ack_policy = {}
[flows.there]
from = "a"
to = "b"
transport = "stp"
workload = { kind = "bulk" }
[flows.pages]
from = "a"
to = "b"
transport = "stp"
workload = { kind = "requests", request = "400B", response = "8kB" }
"#;

/// Smallest and large values, of which each key takes some. Not the largest buffers: the test would fill them.
fn extremes<T>(key: &Key<T>) -> Vec<String> {
    let numbers = key.allowed.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let words = key.allowed.split('"').skip(1).step_by(2).map(|word| format!("\"{word}\""));
    let quantities = ["0s", "1ns", "8784h", "1bit/s", "1000Gbit/s", "0B", "1B", "64MB", "1000TB", "1packet"];
    let quantities = quantities.map(|quantity| format!("\"{quantity}\""));
    let words = words.filter(|word| word != "\"1GiB\"");
    let plain = ["0", "1", "[1, 1000]", "true", "false"].map(String::from);
    numbers.map(String::from).chain(words).chain(quantities).chain(plain).collect()
}

/// Runs each key of `table` with each of its extremes; how many runs there were.
fn run_extremes<T>(table: &str, keys: &[Key<T>], more: &[(&str, &str)]) -> usize {
    let owned = |(key, value): (&str, &str)| (key.to_string(), value.to_string());
    let mut runs = 0;
    for key in keys.iter().filter(|key| key.allowed != "a table") {
        for value in extremes(key) {
            let mut overrides: Vec<_> = more.iter().copied().map(owned).collect();
            overrides.push((format!("{table}.{}", key.name), value));
            if let Ok(file) = File::load("f.toml", BASE, &overrides) {
                let scenario: Scenario = file.scenario_at(&file.points().next().unwrap()).unwrap();
                let ran = crate::simulate(&scenario, 1);
                assert!(ran.is_ok(), "{overrides:?}: {ran:?}");
                runs += 1;
            }
        }
    }
    runs
}

#[test]
fn transports_run_with_extreme_values() {
    for more in [&[("transports.stp.rate", "10Mbit/s")][..], &[], &[("transports.stp.profile", "paper")]] {
        assert!(run_extremes("transports.stp", &config_keys(), more) > 100);
        assert!(run_extremes("transports.stp.probing", probing_table_keys(), more) > 40);
    }
}

#[test]
fn tcp_runs_with_extreme_values() {
    let tcp = [("flows.there.transport", "tcp"), ("flows.pages.transport", "tcp")];
    for profile in TCP_PROFILES {
        let more = [&tcp[..], &[("transports.tcp.profile", profile)]].concat();
        let runs = run_extremes("transports.tcp", &tcp_config_keys(), &more);
        assert!(runs > 60, "{runs}");
        assert!(run_extremes("transports.tcp.ack_policy", ack_policy_keys(), &more) > 8);
    }
}

#[test]
fn links_run_with_extreme_values() {
    assert!(run_extremes("links.space.forward", direction_keys(), &[]) > 15);
    assert!(run_extremes("links.space.reverse", direction_keys(), &[]) > 15);
    assert!(run_extremes("links.space.channel", channel_keys(), &[]) >= 2);
    assert!(run_extremes("links.space.channel.good", state_keys(), &[("run.duration", "1ms")]) > 5);
}
