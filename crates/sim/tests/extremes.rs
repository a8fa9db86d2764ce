//! Extremes: the engines run with all that a file may say about a transport or a link.

use std::sync::LazyLock;

use skyhaul_scenario::{File, Register, Scenario, reference};
use skyhaul_sim::{STP, TCP};

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

fn register() -> Register {
    Register::new(&[&STP, &TCP])
}

/// A key of a table and what the reference says that it takes.
type Key = (&'static str, &'static str);

/// Keys of the table with this title in the reference, which is made from the lists that read files.
fn keys(title: &str) -> Vec<Key> {
    static PAGE: LazyLock<String> = LazyLock::new(|| reference(&register()));
    let sections = PAGE.split("\n## ");
    let table =
        sections.filter_map(|section| section.strip_prefix(title)).find(|rest| rest.starts_with('\n'));
    let rows =
        table.unwrap_or_else(|| panic!("no table {title}")).lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.split(" | ");
        let name = cells.next().unwrap_or_default().trim_start_matches("| ").trim_matches('`');
        (name, cells.next().unwrap_or_default())
    })
    .collect()
}

/// Smallest and large values, of which each key takes some. Not the largest buffers: the test would fill
/// them.
fn extremes((_, allowed): Key) -> Vec<String> {
    let numbers = allowed.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let words = allowed.split('"').skip(1).step_by(2).map(|word| format!("\"{word}\""));
    let quantities = ["0s", "1ns", "8784h", "1bit/s", "1000Gbit/s", "0B", "1B", "64MB", "1000TB", "1packet"];
    let quantities = quantities.map(|quantity| format!("\"{quantity}\""));
    let words = words.filter(|word| word != "\"1GiB\"");
    let plain = ["0", "1", "[1, 1000]", "true", "false"].map(String::from);
    numbers.map(String::from).chain(words).chain(quantities).chain(plain).collect()
}

/// Runs each key of `table`, which has this title in the reference, with each of its extremes; how many runs
/// there were.
fn run_extremes(table: &str, title: &str, more: &[(&str, &str)]) -> usize {
    let owned = |(key, value): (&str, &str)| (key.to_string(), value.to_string());
    let mut runs = 0;
    for key in keys(title).into_iter().filter(|&(_, allowed)| allowed != "a table") {
        for value in extremes(key) {
            let mut overrides: Vec<_> = more.iter().copied().map(owned).collect();
            overrides.push((format!("{table}.{}", key.0), value));
            if let Ok(file) = File::load(&register(), "f.toml", BASE, &overrides) {
                let scenario: Scenario = file.first_scenario().expect("it was checked");
                let ran = skyhaul_sim::simulate(&scenario, 1);
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
        assert!(run_extremes("transports.stp", "[transports.NAME], protocol = \"stp\"", more) > 100);
        assert!(run_extremes("transports.stp.probing", "[transports.NAME.probing]", more) > 40);
    }
}

#[test]
fn tcp_runs_with_extreme_values() {
    let tcp = [("flows.there.transport", "tcp"), ("flows.pages.transport", "tcp")];
    for profile in ["standard", "paper", "sunos-4.1.3"] {
        let more = [&tcp[..], &[("transports.tcp.profile", profile)]].concat();
        let runs = run_extremes("transports.tcp", "[transports.NAME], protocol = \"tcp\"", &more);
        assert!(runs > 60, "{runs}");
        assert!(run_extremes("transports.tcp.ack_policy", "[transports.NAME.ack_policy]", &more) > 8);
    }
}

#[test]
fn links_run_with_extreme_values() {
    let direction = "[links.NAME.forward] and [links.NAME.reverse]";
    let state = "[links.NAME.channel.good] and [links.NAME.channel.bad]";
    assert!(run_extremes("links.space.forward", direction, &[]) > 15);
    assert!(run_extremes("links.space.reverse", direction, &[]) > 15);
    assert!(run_extremes("links.space.channel", "[links.NAME.channel]", &[]) >= 2);
    assert!(run_extremes("links.space.channel.good", state, &[("run.duration", "1ms")]) > 5);
}
