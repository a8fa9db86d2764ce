//! Cycle, threshold and size of a relay's buffer.

use super::plan_tests::{plan, segments};

fn is_about(value: f64, expected: f64) -> bool {
    (value - expected).abs() < expected.abs() * 5e-4
}

#[test]
fn the_cycle_is_that_of_the_papers_first_set() {
    let cycle = plan(128e3, 2e6, 0.0).cycle();
    assert!(is_about(cycle.draining_s, 2.149_333), "{cycle:?}");
    assert!((cycle.filling_s - 0.007).abs() < 5e-4, "{cycle:?}");
    assert!(is_about(cycle.length_s, 2.256), "{cycle:?}");
    assert!(is_about(cycle.segments, 33.59), "{cycle:?}");
}

/// Over a cycle as much arrives as leaves.
#[test]
fn a_cycle_drains_what_it_brings() {
    for (satellite_bps, errors) in [(128e3, 0.0), (128e3, 1e-5), (1e6, 1e-4)] {
        let plan = plan(satellite_bps, 4e6, errors);
        let cycle = plan.cycle();
        assert!(is_about(cycle.length_s * plan.drain_per_s(), cycle.segments), "{cycle:?}");
    }
}

/// The paper's printed 1 and 24 are these rounded down, with segments of 1040 octets on the satellite link;
/// (16) rounds up.
#[test]
fn the_least_threshold_is_rounded_up() {
    assert_eq!(plan(128e3, 2e6, 0.0).least_threshold_segments(), 2);
    assert_eq!(plan(2e6, 4e6, 0.0).least_threshold_segments(), 24);
}

#[test]
fn no_buffer_needs_more_than_threshold_and_window() {
    let plan = plan(128e3, 2e6, 1e-5);
    assert_eq!(plan.buffer_segments(5), 37);
    let full = plan.full_buffer_segments(5);
    let drained = 128e3 / 2e6 * 8320.0 / (8320.0 * 620.0 / 600.0) * segments().window_segments as f64;
    assert_eq!(full, (37.0 - drained).ceil() as u64);
    assert!(full < plan.buffer_segments(5));
}
