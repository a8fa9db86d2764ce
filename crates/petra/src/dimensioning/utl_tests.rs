//! Bound of the end-to-end round trip [PETRA Fig. 4].

use super::plan_tests::plan;
use super::{Acknowledgement, Batches, PlanError};

const ACKNOWLEDGEMENT: Acknowledgement = Acknowledgement(320.0);

/// The bound of the paper's set; the threshold is (16) by the equivalent rate, as all rates in the bound.
fn bound_s(segments: u64, errors: f64) -> f64 {
    let plan = plan(128e3, 2e6, errors);
    let batches = Batches::new(segments, plan.least_threshold_segments()).unwrap();
    batches.rtt_bound_s(&plan, ACKNOWLEDGEMENT)
}

#[test]
fn the_bound_of_the_round_trip_is_that_of_figure_4() {
    let of_batches = [(1, 5.37), (10, 5.41), (50, 7.69), (100, 10.01)];
    for (segments, expected_s) in of_batches {
        let bound_s = bound_s(segments, 0.0);
        assert!((bound_s - expected_s).abs() < 0.006, "{segments}: {bound_s}");
    }
    let of_errors = [(1e-6, 10.06), (1e-5, 10.45), (1e-4, 18.9)];
    for (errors, expected_s) in of_errors {
        let bound_s = bound_s(100, errors);
        assert!((bound_s / expected_s - 1.0).abs() < 0.001, "{errors}: {bound_s}");
    }
}

#[test]
fn parts_of_the_bound_are_those_of_the_paper() {
    let plan = plan(128e3, 2e6, 0.0);
    let batches = Batches::new(100, 2).unwrap();
    assert!((batches.buffered_s(&plan) - 2.284).abs() < 1e-3);
}

#[test]
fn the_window_keeps_the_satellite_link_busy_for_a_round_trip() {
    let plan = plan(128e3, 2e6, 0.0);
    let batches = Batches::new(100, 2).unwrap();
    let window = batches.window_batches(&plan, ACKNOWLEDGEMENT);
    let time_s = window as f64 * 100.0 * plan.carried_bits() / 128e3;
    assert!(time_s >= batches.rtt_bound_s(&plan, ACKNOWLEDGEMENT));
    assert_eq!(window, 2);
}

#[test]
fn batches_of_nothing_are_refused() {
    assert!(matches!(Batches::new(0, 2), Err(PlanError::OutOfRange { .. })));
    assert!(matches!(Batches::new(1, 0), Err(PlanError::OutOfRange { .. })));
}

#[test]
fn a_timeout_has_the_opening_of_the_hops_and_the_round_trips_of_repeats_on_top() {
    let batches = Batches::new(100, 2).unwrap();
    let over_s = |errors: f64| {
        let plan = plan(128e3, 2e6, errors);
        batches.timeout_s(&plan, ACKNOWLEDGEMENT, 0.0625) - batches.rtt_bound_s(&plan, ACKNOWLEDGEMENT)
    };
    // 0.6 s of opening, and 0.1 s in which one and a half segments come to the last wire, and one leaves.
    let opening_s = |errors: f64| 0.7 - 1.0 / plan(128e3, 2e6, errors).drain_per_s();
    assert!((over_s(0.0) - opening_s(0.0)).abs() < 1e-9, "{}", over_s(0.0));
    let repeats = plan(128e3, 2e6, 1e-5).repeats(0.0625);
    let repeats_s = repeats * (0.5625 + 620.0 * 8.0 / 128e3);
    assert!(repeats > 0.5 && (over_s(1e-5) - opening_s(1e-5) - repeats_s).abs() < 1e-9, "{repeats}");
    let plan = plan(128e3, 2e6, 1e-5);
    let least = batches.window_batches(&plan, ACKNOWLEDGEMENT);
    assert!(batches.ample_window_batches(&plan, ACKNOWLEDGEMENT, 0.0625) > least, "{least}");
}

/// 43.3 segments come each second, 26 in a round trip of the last wire, whose window has 1, 2, 4, 8 and 16 in
/// the first five rounds: after them 99 of 130 still wait.
#[test]
fn a_timeout_has_what_waits_while_the_window_of_a_long_last_wire_opens() {
    let base = plan(372_413.0, 2e6, 0.0);
    let mut path = *base.path();
    path.wires[1].rtt_s = 0.6;
    let plan = crate::dimensioning::Plan::new(path, *base.segments(), *base.pdus()).unwrap();
    let batches = Batches::new(10, 16).unwrap();
    let over_s =
        batches.timeout_s(&plan, ACKNOWLEDGEMENT, 0.0625) - batches.rtt_bound_s(&plan, ACKNOWLEDGEMENT);
    let waiting = 5.0 * 0.6 * plan.drain_per_s() - 31.0;
    assert!((waiting - 99.0).abs() < 3.0, "{waiting}");
    assert!((over_s - 0.5 - 0.6 - waiting / plan.drain_per_s()).abs() < 1e-9, "{over_s}");
}
