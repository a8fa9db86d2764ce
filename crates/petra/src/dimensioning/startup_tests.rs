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

/// [PETRA Fig. 6]: with a threshold of 20 acknowledgements stop for longer than the least timeout, with 5
/// they do not. In the simulator 1.34 s pass between the last acknowledgement and the next one: nothing
/// leaves over the satellite link before its hop is open, so the window is smaller at the threshold.
#[test]
fn a_large_threshold_stops_acknowledgements_for_longer_than_the_least_timeout() {
    let plan = plan(128e3, 2e6, 0.0);
    let pause_s = plan.first_pause_s(20).unwrap();
    assert!((pause_s - 1.34).abs() < 0.03, "{pause_s}");
    assert!(plan.first_pause_s(5).unwrap() < 1.0);
}

/// Whatever the hop's round trip, a buffer is not full later than if segments had left from the beginning.
#[test]
fn a_hop_that_opens_first_fills_a_buffer_no_later() {
    for satellite_rtt_s in [1e-3, 0.05, 0.25, 0.5, 2.0, 30.0] {
        let base = plan(128e3, 2e6, 0.0);
        let mut path = *base.path();
        path.satellite.rtt_s = satellite_rtt_s;
        let plan = Plan::new(path, segments(), fixed_pdus()).unwrap();
        for threshold in [1_u64, 2, 5, 20, 64, 1000] {
            let pause_s = plan.first_pause_s(threshold).unwrap();
            let longest_s = plan.cycle().draining_s + satellite_rtt_s;
            assert!(pause_s > 0.0 && pause_s <= longest_s, "{satellite_rtt_s} s, {threshold}: {pause_s}");
        }
    }
}

/// A path whose first wire is of a local network with this round trip, s.
fn local(rtt_s: f64) -> Plan {
    let mut path = *plan(128e3, 10e6, 0.0).path();
    path.wires[0].rtt_s = rtt_s;
    Plan::new(path, segments(), fixed_pdus()).unwrap()
}

/// `n_rtt` of the appendix is 0, and the wire carries a segment after the other all the same.
#[test]
fn a_wire_that_takes_less_than_a_segment_in_a_round_trip_has_a_first_pause() {
    let plan = local(500e-6);
    // The 20th arrives after 16.6 ms; the hop is open after 0.5 s, and 19 segments leave then.
    let pause_s = plan.first_pause_s(20).unwrap();
    assert!((pause_s - 1.76).abs() < 0.01, "{pause_s}");
    let full_s = plan.first_full_s(20).unwrap();
    assert!((full_s - 0.017).abs() < 0.002, "{full_s}");
}

/// The window has grown by what was acknowledged, not by twice as much each round, where a round has room for
/// less: with 1 ms, too, 19 segments leave.
#[test]
fn a_window_that_the_wire_fills_grows_by_what_is_acknowledged() {
    let plan = local(1e-3);
    let pause_s = plan.first_pause_s(20).unwrap();
    assert!((pause_s - 1.76).abs() < 0.01, "{pause_s}");
}
