//! Rates back [PETRA Fig. 14].

use super::plan_tests::plan;
use super::{Pdus, Plan, Statuses, gain};

/// Gain at 384 kbit/s with PDUs of the best size.
fn gain_at(errors: f64, bits_per_damaged: f64, statuses_per_rtt: f64) -> f64 {
    let base = plan(384e3, 2e6, 0.0);
    let mut path = *base.path();
    path.satellite.bit_error_rate = errors;
    let pdus = Pdus::best(160.0, errors, f64::MAX);
    let plan = Plan::new(path, *base.segments(), pdus).unwrap();
    gain(&plan, &Statuses { interval_s: 0.5 / statuses_per_rtt, bits_per_damaged })
}

#[test]
fn the_gain_over_nacks_is_that_of_figure_14() {
    let errors = [1e-5, 1e-4, 1e-3, 1e-2];
    let rows = [
        (2.0, 1.0, [0.84, 13.7, 51.4, 71.3]),
        (2.0, 2.0, [-0.08, 6.33, 25.2, 35.2]),
        (2.0, 8.0, [-0.77, 0.83, 5.55, 8.04]),
        (8.0, 1.0, [0.72, 8.46, 16.7, 18.5]),
        (8.0, 2.0, [-0.14, 3.73, 7.84, 8.74]),
        (8.0, 8.0, [-0.79, 0.18, 1.21, 1.44]),
    ];
    for (alpha, per_rtt, expected) in rows {
        for (errors, expected) in errors.into_iter().zip(expected) {
            let gain = gain_at(errors, alpha, per_rtt);
            // The last digit that is given.
            let digit = if f64::abs(expected) < 10.0 { 0.01 } else { 0.1 };
            assert!((gain - expected).abs() < digit * 0.51, "{alpha}, {per_rtt}, {errors}: {gain}");
        }
    }
}

#[test]
fn without_errors_statuses_cost_what_one_nack_a_round_trip_does() {
    assert!(gain_at(1e-9, 2.0, 1.0).abs() < 1e-2);
    assert!((gain_at(1e-9, 2.0, 2.0) + 0.5).abs() < 1e-2);
    assert!((gain_at(1e-9, 2.0, 8.0) + 0.875).abs() < 1e-2);
}
