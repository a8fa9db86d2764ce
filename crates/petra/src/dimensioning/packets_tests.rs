//! PDUs against the tables of `docs/spec/petra.md`.

use super::plan_tests::{fixed_pdus, plan};
use super::{Pdus, Plan};
use std::vec::Vec;

const OVERHEAD_BITS: f64 = 160.0;

#[test]
fn the_best_payload_and_its_efficiency_are_those_of_figure_9() {
    let table = [
        (1e-3, 328.0, 0.4125, 0.0068),
        (1e-4, 1187.0, 0.7702, 0.5893),
        (1e-5, 3921.0, 0.9224, 0.9209),
        (1e-6, 12_569.0, 0.9749, 0.9630),
        (1e-7, 39_920.0, 0.9920, 0.9673),
        (1e-8, 126_411.0, 0.9975, 0.9677),
        (1e-9, 399_920.0, 0.9992, 0.9677),
    ];
    for (errors, payload_bits, best, fixed) in table {
        let pdus = Pdus::best(OVERHEAD_BITS, errors, f64::MAX);
        assert!((pdus.payload_bits - payload_bits).abs() < 0.5, "{errors}: {}", pdus.payload_bits);
        assert!((pdus.efficiency(errors) - best).abs() < 5e-5, "{errors}: {}", pdus.efficiency(errors));
        assert!((fixed_pdus().efficiency(errors) - fixed).abs() < 5e-5, "{errors}");
    }
}

#[test]
fn no_other_payload_carries_more_than_the_best_one() {
    for errors in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let best = Pdus::best(OVERHEAD_BITS, errors, f64::MAX);
        for part in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
            let other = Pdus { payload_bits: best.payload_bits * part, ..best };
            assert!(other.efficiency(errors) < best.efficiency(errors), "{errors}, {part}");
        }
    }
}

#[test]
fn the_best_payload_has_a_cap_and_needs_no_errors() {
    for errors in [0.0, 1e-9] {
        let capped = Pdus::best(OVERHEAD_BITS, errors, 12_000.0);
        assert!((capped.payload_bits - 12_000.0).abs() < 1e-9, "{errors}");
    }
}

#[test]
fn the_least_window_of_the_satellite_hop_fills_the_link() {
    let windows: Vec<u64> = [128e3, 384e3, 2e6].map(|bps| plan(bps, 4e6, 0.0).stpp_window_pdus()).into();
    assert_eq!(windows, [13, 39, 202]);
    let plan = plan(384e3, 2e6, 0.0);
    assert_eq!(plan.stpp_window_for_pdus(0.0), 39);
    assert_eq!(plan.stpp_window_for_pdus(0.5), 78);
}

/// [PETRA Fig. 15]: at 2 Mbit/s, 1e-4 and the best size an 8-bit number is too short.
#[test]
fn the_papers_own_case_needs_numbers_above_8_bits() {
    let pdus = Pdus::best(OVERHEAD_BITS, 1e-4, f64::MAX);
    let base = plan(2e6, 4e6, 1e-4);
    let plan = Plan::new(*base.path(), *base.segments(), pdus).unwrap();
    assert_eq!(plan.stpp_window_pdus(), 743);
}

/// What the window must be for repeats: none without errors, twelve times (1) and less at 1e-4.
#[test]
fn a_window_has_room_for_as_many_round_trips_as_the_unluckiest_pdu_is_repeated() {
    let clean = plan(384e3, 2e6, 0.0);
    assert!(clean.repeats(0.0625).abs() < 1e-9);
    assert_eq!(clean.stpp_window_with_repeats_pdus(0.0625), 46);
    let noisy = plan(384e3, 2e6, 1e-4);
    let repeats = noisy.repeats(0.0625);
    // Of a hundred windows of 44 PDUs, none or one is damaged so often and once more.
    let left = 4400.0 * noisy.pdu_error_probability().powf(repeats);
    assert!(left <= 1.0 && left / noisy.pdu_error_probability() > 1.0, "{repeats}: {left}");
    assert_eq!(noisy.stpp_window_with_repeats_pdus(0.0625), 46 * 10);
}
