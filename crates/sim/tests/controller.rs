//! What the model makes of links of which nothing is declared (`docs/spec/controller.md`). Figures are for the example
//! `controller`; these bounds are what must not be lost.

use skyhaul_core::NullSink;
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit, preset};
use skyhaul_sim::scenario::File;
use skyhaul_sim::{Outcome, Transfer, simulate};

fn run(link: LinkConfig, seed: u64, bytes: u64) -> Outcome {
    Transfer::new(link, seed, bytes).run(&mut NullSink).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

fn ready(name: &str) -> LinkConfig {
    preset(name).unwrap_or_else(|| panic!("no link called {name}"))
}

#[test]
fn the_rate_is_found_in_a_round_trip_and_held_with_a_short_queue() {
    let outcome = run(ready("geo"), 1, 20_000_000);
    assert!(outcome.share().unwrap() > 0.94, "{:?}", outcome.share());
    assert!(outcome.link[0].max_queue_bytes < 70_000, "{:?}", outcome.link[0]);
    assert_eq!(outcome.link[0].dropped.congestion(), 0);
}

#[test]
fn noise_is_no_reason_to_slow_down() {
    let outcome = run(ready("geo-noisy"), 1, 20_000_000);
    assert!(outcome.share().unwrap() > 0.9, "{:?}", outcome.share());
}

#[test]
fn an_outage_says_nothing_of_the_rate_before_and_after_it() {
    let outcome = run(ready("leo-handoff"), 1, 40_000_000);
    assert!(outcome.share().unwrap() > 0.9, "{:?}", outcome.share());
}

#[test]
fn a_short_fast_path_is_not_held_to_a_window_for_each_poll() {
    // POLLs are 10 ms apart at least; what may be under way has to last that long.
    let direction =
        DirectionConfig { rate_bps: Some(1_000_000_000), delay_ns: 50_000, ..DirectionConfig::default() };
    let link = LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() };
    let outcome = run(link, 1, 100_000_000);
    assert!(outcome.goodput_bps() > 5e8, "{} bit/s", outcome.goodput_bps());
}

#[test]
fn a_deep_queue_is_not_filled() {
    let mut link = ready("geo");
    link.forward.queue = QueueLimit::Bytes(20_000_000);
    let outcome = run(link, 1, 10_000_000);
    assert!(outcome.link[0].max_queue_bytes < 70_000, "{:?}", outcome.link[0]);
}

#[test]
fn an_opening_that_is_lost_again_and_again_does_not_leave_a_connection_at_ten_packets() {
    // It begins during an outage: the first packets leave seconds apart, so there is no first train.
    let outcome = run(ready("leo-passes"), 5, 10_000_000);
    assert!(outcome.share().unwrap() > 0.6, "{:?}", outcome.share());
}

/// The middle of so many is taken: single runs beside BBR differ by three times.
const SEEDS: u64 = 9;

/// These metrics of a ready scenario, of bit/s in Mbit/s, with these keys set.
fn rates(scenario: &str, seed: u64, set: &[(&str, &str)], metrics: &[&str]) -> Vec<f64> {
    let path = format!("{}/../../scenarios/{scenario}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
    let whole =
        File::parse(&path, &text).and_then(|file| file.with(&set)).unwrap_or_else(|error| panic!("{error}"));
    let point = whole.points().next().unwrap_or_else(|| panic!("{path} has no point"));
    let scenario = whole.scenario_at(&point).unwrap_or_else(|error| panic!("{error}"));
    let measured = simulate(&scenario, seed).unwrap_or_else(|error| panic!("{path}: {error}"));
    metrics.iter().map(|&metric| measured.metrics[metric] / 1e6).collect()
}

/// How much it gets for each bit of the other, by seeds, rising.
fn beside(rival: &str) -> Vec<f64> {
    let set = [("sweep", "{}"), ("transports.rival.controller", rival)];
    let ratio = |seed| {
        let found = rates("beside-tcp", seed, &set, &["flows.xstp.goodput_bps", "flows.rival.goodput_bps"]);
        found[0] / found[1]
    };
    let mut ratios: Vec<f64> = (1..=SEEDS).map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

#[test]
fn beside_one_flow_of_cubic_each_gets_a_third_of_the_other_at_least() {
    let ratios = beside("cubic");
    assert!((1.0 / 3.0..3.0).contains(&ratios[ratios.len() / 2]), "{ratios:?}");
}

#[test]
fn beside_one_flow_of_bbr_each_gets_a_third_of_the_other_at_least() {
    let ratios = beside("bbr");
    assert!((1.0 / 3.0..3.0).contains(&ratios[ratios.len() / 2]), "{ratios:?}");
}

#[test]
fn flows_from_different_hosts_do_not_starve_each_other() {
    let set = [("sweep", "{}"), ("transports.window.controller", "model")];
    let flows = ["flows.near.goodput_bps", "flows.middle.goodput_bps", "flows.far.goodput_bps"];
    let found = rates("fairness-rtt", 1, &set, &flows);
    let (sum, squares) = (found.iter().sum::<f64>(), found.iter().map(|x| x * x).sum::<f64>());
    assert!(sum * sum / (3.0 * squares) > 0.9, "{found:?}");
}

#[test]
fn capacity_is_followed_down_and_up() {
    let found = rates("steps", 1, &[("sweep", "{}")], &["goodput_bps"]);
    assert!(found[0] > 6.5, "{found:?}, of 7.5 and headers");
}
