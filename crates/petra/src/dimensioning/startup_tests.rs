//! The beginning of a connection.

use super::plan_tests::{fixed_pdus, plan, segments};
use super::{Plan, Segments};

#[test]
fn slow_start_doubles_until_the_window_or_the_wire_is_full() {
    let plan = plan(128e3, 2e6, 0.0);
    let sent = |rounds: f64| plan.sent_segments(rounds * 0.1 + 1e-9) as u64;
    let sums = [sent(1.0), sent(2.0), sent(3.0), sent(4.0), sent(5.0), sent(6.0)];
    // 24 segments fit into a round trip of the wire.
    assert_eq!(sums, [1, 3, 7, 15, 31, 55]);
}

#[test]
fn the_threshold_is_first_reached_when_the_formula_says() {
    let plan = plan(128e3, 2e6, 0.0);
    let full_s = plan.first_full_s(2).unwrap();
    assert!((full_s - 0.263).abs() < 1e-3, "{full_s}");
    // By definition: there it holds, and a moment before it does not.
    let held = |tau: f64| plan.sent_segments(tau + 1e-9) - plan.drain_per_s() * tau;
    for threshold in [1_u32, 2, 5, 20, 64, 1000] {
        let tau = plan.first_full_s(u64::from(threshold)).unwrap() - 0.05;
        assert!(held(tau) >= f64::from(threshold) - 1e-6, "{threshold}: {}", held(tau));
        assert!(held(tau - 1e-4) < f64::from(threshold), "{threshold}: {}", held(tau - 1e-4));
    }
}

#[test]
fn a_window_that_the_satellite_link_drains_never_fills_the_buffer() {
    let base = plan(1e6, 2e6, 0.0);
    let small = Segments { window_segments: 4, ..segments() };
    let plan = Plan::new(*base.path(), small, fixed_pdus()).unwrap();
    assert_eq!(plan.first_full_s(100), None);
    assert_eq!(plan.first_pause_s(100), None);
}

/// [PETRA Fig. 6]: with a threshold of 20 the new connection's timer ends before acknowledgements go on,
/// with 5 it does not. A timer of a wire of 100 ms is 1 s by coarse clocks.
#[test]
fn a_large_threshold_stops_acknowledgements_for_longer_than_a_timer_waits() {
    let plan = plan(128e3, 2e6, 0.0);
    assert!(plan.first_pause_s(20).unwrap() > 1.5);
    assert!(plan.first_pause_s(5).unwrap() < 1.0);
}
