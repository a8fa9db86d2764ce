//! Packets that a full queue dropped on links that lose nothing by themselves, which none may call damaged:
//! over short queues and long ones, alone and beside others, in each single run.

use skyhaul_core::Limit;

use crate::neighbours::{Beside, Other};

const SHORT: Beside = Beside {
    rate_kbps: 12_000,
    delay: "100ms",
    queue: "20packets",
    noise: "",
    bytes: 5_000_000,
    start_ms: 2000,
    other: Other::Nobody,
    other_ms: 400,
};
const LONG: Beside = Beside { rate_kbps: 8_000, delay: "60ms", queue: "60kB", bytes: 4_000_000, ..SHORT };
const ALONE: Beside = Beside { rate_kbps: 20_000, bytes: 10_000_000, start_ms: 0, ..SHORT };
/// Packets that may be taken for damage in a run, and in how many of those that have a verdict.
const FEW: u64 = 2;
const PART: u64 = 10;

/// Holds every run of a case: at most [`FEW`] packets, or one in [`PART`]. Of all runs there are `least`
/// drops.
fn is_no_damage(case: Beside, least: u64) {
    let runs = case.runs(1);
    let drops: u64 = runs.iter().flat_map(|run| run.confusion[0]).sum();
    assert!(drops >= least, "{case:?}: {drops}");
    for run in &runs {
        let (damage, judged) = run.damage();
        assert!(damage <= FEW || damage * PART <= judged, "{damage} of {judged}, {case:?}");
    }
}

#[test]
fn drops_of_a_short_queue_beside_flows_of_tcp_are_no_damage() {
    is_no_damage(Beside { other: Other::Tcp("cubic", 4), ..SHORT }, 300);
    is_no_damage(Beside { other: Other::Tcp("bbr", 2), ..SHORT }, 1000);
}

#[test]
fn drops_beside_a_constant_rate_are_no_damage() {
    is_no_damage(Beside { start_ms: 0, other: Other::Constant(7_000), other_ms: 1500, ..LONG }, 1000);
    is_no_damage(Beside { start_ms: 0, other: Other::Constant(5_000), other_ms: 1500, ..LONG }, 200);
    is_no_damage(Beside { other: Other::Constant(12_000), bytes: 1_000_000, ..LONG }, 50);
}

#[test]
fn drops_of_a_short_queue_beside_senders_of_its_kind_are_no_damage() {
    let own = Beside { rate_kbps: 10_000, bytes: 2_500_000, start_ms: 300, other_ms: 300, ..SHORT };
    let two = Beside { delay: "30ms", queue: "5packets", other: Other::Own(1, 0), ..own };
    is_no_damage(two, 1000);
    is_no_damage(Beside { delay: "150ms", other: Other::Own(2, 500), ..own }, 1000);
}

#[test]
fn drops_of_a_short_queue_that_nobody_shares_are_no_damage() {
    is_no_damage(Beside { delay: "3ms", queue: "3packets", ..ALONE }, 1000);
    is_no_damage(Beside { delay: "10ms", queue: "6packets", ..ALONE }, 1000);
    is_no_damage(Beside { rate_kbps: 50_000, delay: "5ms", queue: "10packets", ..ALONE }, 1000);
}

#[test]
fn damage_before_a_long_queue_is_named_from_the_first_packets_on() {
    let noise = ", bit_error_rate = 1e-6";
    let noisy = Beside { rate_kbps: 10_000, delay: "265ms", queue: "", noise, ..ALONE };
    for run in noisy.runs(2) {
        let [_, damaged, _, unknown] = run.confusion[1];
        assert!(damaged > 50 && unknown * PART <= damaged, "{:?}", run.confusion);
    }
}

#[test]
fn what_a_thin_path_takes_to_carry_what_has_left_is_its_rate_and_no_confirmation() {
    let thin = Beside { rate_kbps: 16, delay: "250ms", queue: "", bytes: 20_000, ..ALONE };
    for run in thin.runs(1) {
        assert_eq!(run.first(), Limit::PathRate);
        assert!(run.spent_ms(Limit::Drained) <= 1300, "a round trip with a packet's time: {run:?}");
    }
}

#[test]
fn a_sender_that_nobody_is_beside_never_waits_for_a_neighbour() {
    for case in [
        Beside { rate_kbps: 10_000, delay: "50ms", queue: "", ..ALONE },
        Beside { rate_kbps: 16, delay: "250ms", queue: "", bytes: 20_000, ..ALONE },
    ] {
        for run in case.runs(1) {
            assert_eq!((run.first(), run.spent_ms(Limit::Neighbour)), (Limit::PathRate, 0), "{case:?}");
        }
    }
}
