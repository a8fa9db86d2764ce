//! What the model makes of links of which nothing is declared (`docs/spec/controller.md`). Figures are for the example
//! `controller`; these bounds are what must not be lost.

use skyhaul_core::NullSink;
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit, preset};
use skyhaul_sim::{Outcome, Transfer};

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
