//! `docs/guide/metrics.md` lists every metric that a run has, and none that no run has.

#![allow(clippy::float_cmp)] // counts are exact, and equal runs are equal

use std::collections::BTreeSet;

use super::names::{is_metric, listed, stands_for};
use crate::{Measured, VERDICTS, simulate};
use skyhaul_scenario::File;

fn run(text: &str) -> Measured {
    let file = File::parse(&crate::standard(), "test.toml", text).unwrap_or_else(|error| panic!("{error}"));
    let scenario = file.scenario_at(&file.points().next().unwrap()).unwrap();
    simulate(&scenario, 1).unwrap()
}

const PATH: &str = r#"
[run]
duration = "20s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.space]
between = ["a", "b"]
forward = { rate = "2Mbit/s", delay = "50ms", queue = "20packets", loss = 0.05 }
reverse = { rate = "2Mbit/s", delay = "50ms", queue = "20packets" }
[transports]
window = { protocol = "stp" }
[metrics]
verdicts = true
series = "100ms"
[flows.file]
from = "a"
to = "b"
transport = "window"
workload = { kind = "bulk", size = "500kB" }
"#;

const REQUESTS: &str = r#"
[flows.web]
from = "b"
to = "a"
transport = "window"
workload = { kind = "requests", request = "200B", response = "5kB", think = "100ms", requests = 5 }
"#;

/// A path that two relays split, with an end-to-end layer above.
const SPLIT: &str = r#"
[run]
duration = "20s"
[nodes]
a = { kind = "host" }
relay = { kind = "relay" }
far = { kind = "relay" }
b = { kind = "host" }
[links.wire]
between = ["a", "relay"]
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
[links.space]
between = ["relay", "far"]
forward = { rate = "2Mbit/s", delay = "50ms" }
[links.last]
between = ["far", "b"]
forward = { delay = "1ms" }
[metrics]
series = "100ms"
[transports]
window = { protocol = "stp" }
hop = { protocol = "stpp" }
[flows.file]
from = "a"
to = "b"
transport = "window"
via = [{ relay = "relay", transport = "hop" }, { relay = "far", transport = "window" }]
utl = { batch = "50kB" }
workload = { kind = "bulk", size = "500kB" }
"#;

fn check<'a>(names: impl Iterator<Item = &'a String>, documented: &[&str], groups: &[&str]) {
    let mut met = BTreeSet::new();
    for name in names {
        // Of a group, the same metrics as of all.
        let of_group = |group: &&str| name.strip_prefix(&format!("flows.{group}.")).map(str::to_string);
        let bare = groups.iter().find_map(of_group).unwrap_or_else(|| name.clone());
        let row = documented.iter().find(|row| stands_for(row, &bare));
        assert!(groups.is_empty() || is_metric(name), "{name} is a metric");
        met.insert(*row.unwrap_or_else(|| panic!("docs/guide/metrics.md does not list {name}")));
    }
    let unmet: Vec<_> = documented.iter().filter(|row| !met.contains(**row)).collect();
    assert!(unmet.is_empty(), "no run has {unmet:?}, which docs/guide/metrics.md lists");
}

#[test]
fn the_guide_lists_every_metric() {
    let (one, two) = (run(PATH), run(&format!("{PATH}{REQUESTS}")));
    let documented = listed(false);
    assert!(documented.len() > 40, "{documented:?}");
    // An early timeout, which needs an outage and nothing else that is noticed first.
    let outage = "queue = \"100packets\" }\noutages = [{ from = \"1s\", to = \"2s\" }]";
    let declared = PATH.replace(", loss = 0.05", "").replace("\"stp\" }", "\"stp\", rate = \"2Mbit/s\" }");
    let (head, tail) = declared.rsplit_once("queue = \"20packets\" }").expect("the reverse direction");
    let three = run(&format!("{head}{outage}{tail}"));
    let policed = "mtu = \"1500B\", policer = { rate = \"1Mbit/s\", depth = \"15kB\" }";
    let four = run(&PATH.replace("loss = 0.05", policed));
    let five = run(SPLIT);
    // Ten batches and their confirmations, 12 octets each around them, and the end.
    let read_bytes = five.metrics["relays.relay.read_bytes"];
    assert!((500_240.0..500_300.0).contains(&read_bytes), "{read_bytes}");
    let six = run(&PATH.replace("\"stp\" }", "\"scps-tp\", best_effort = \"1s\" }"));
    let runs = [&one, &two, &three, &four, &five, &six];
    let names = runs.into_iter().flat_map(|run| run.metrics.keys());
    check(names, &documented, &["file", "web"]);
    assert!(two.metrics.contains_key("flows.web.completion_ms.p99"));
    for name in ["goodputt", "", "flows.web", "links.space.goodput_bps", "verdicts.none.guilty"] {
        assert!(!is_metric(name), "{name}");
    }
}

#[test]
fn packets_over_the_mtu_of_a_link_are_dropped_and_counted_as_too_large() {
    let narrow = run(&PATH.replace("loss = 0.05", "mtu = \"1300B\""));
    let metric = |name: &str| narrow.metrics.get(&format!("links.space.{name}")).copied();
    let dropped = metric("forward.drops.too_large").unwrap();
    assert!(dropped > 10.0, "{dropped} packets of 1500 bytes were dropped");
    assert_eq!(metric("forward.fragmented_packets"), Some(0.0), "nobody asked for it");
    assert_eq!(metric("forward.loss"), Some(0.0), "they were not served");
    assert_eq!(metric("reverse.drops.too_large"), None, "the other direction has none");
    let judged = |verdict: &&str| narrow.metrics.get(&format!("verdicts.corruption.{verdict}"));
    assert!(VERDICTS.iter().filter_map(judged).all(|&packets| packets == 0.0), "no verdict would be right");
    // Until the sender cuts its packets smaller, small ones alone arrive.
    assert!(narrow.metrics["links.space.forward.delivered_packets"] > 0.0);
    let wide = run(&PATH.replace("loss = 0.05", "mtu = \"1500B\""));
    let whole = run(&PATH.replace(", loss = 0.05", ""));
    assert_eq!(wide.metrics["links.space.forward.drops.too_large"], 0.0);
    assert_eq!(
        wide.metrics["elapsed_s"], whole.metrics["elapsed_s"],
        "an mtu that nothing exceeds changes nothing"
    );
    assert!(!whole.metrics.keys().any(|name| name.contains("too_large") || name.contains("fragmented")));
}

#[test]
fn what_a_policer_drops_is_congestion_and_has_a_metric_where_there_is_one() {
    let policed = run(&PATH.replace("loss = 0.05", "policer = { rate = \"1Mbit/s\", depth = \"15kB\" }"));
    let metric = |name: &str| policed.metrics.get(name).copied();
    let dropped = metric("links.space.forward.drops.policed").unwrap();
    assert!(dropped > 10.0, "{dropped} packets");
    assert_eq!(metric("links.space.reverse.drops.policed"), None, "the other direction has none");
    assert_eq!(metric("links.space.forward.loss"), Some(0.0), "they were not served");
    let judged =
        |cause: &str| VERDICTS.iter().map(|v| metric(&format!("verdicts.{cause}.{v}")).unwrap()).sum::<f64>();
    assert!(judged("congestion") > 10.0, "{policed:?}");
    assert_eq!(judged("corruption"), 0.0);
    let elapsed_s = metric("elapsed_s").unwrap();
    assert!(elapsed_s > (500_000.0 - 15_000.0) / 125_000.0, "{elapsed_s} s");
}

#[test]
fn the_guide_lists_every_series() {
    let (one, split) = (run(PATH), run(SPLIT));
    let samples = one.series.iter().chain(&split.series);
    let names: BTreeSet<&String> = samples.flat_map(|sample| sample.values.keys()).collect();
    check(names.into_iter(), &listed(true), &[]);
}
