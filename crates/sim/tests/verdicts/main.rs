//! Verdicts on lost packets beside what the links really did: right for nine packets in ten that have one.
//! Example `verdicts` prints the whole matrix.

mod matrix;

use matrix::{Cell, NOISES, PATHS, RIVALS, STARTS, score, sum};
use skyhaul_sim::Confusion;

const SECONDS: u32 = 40;
/// Index of `alone` in [`RIVALS`], of `bursts` in [`NOISES`].
const ALONE: usize = 0;
const BURSTS: usize = 4;

/// One noise, alone and beside all others, on both paths; those of half of them are there first.
fn beside_all(noise: usize, queue_percent: u32) -> Confusion {
    let cells = PATHS.into_iter().flat_map(|path| {
        RIVALS.into_iter().enumerate().map(move |(at, rivals)| {
            let start = if rivals.2 > 0 { STARTS[at % 2] } else { STARTS[0] };
            Cell { path, noise: NOISES[noise], rivals, queue_percent, start, keys: "" }
        })
    });
    cells.map(|cell| cell.confusion(1, SECONDS)).fold(Confusion::default(), |all, one| sum(all, &one))
}

/// Shares: right of those with a verdict; without a verdict, of all.
fn shares(confusion: &Confusion) -> (f64, f64) {
    let (judged, right, unknown) = score(confusion);
    assert!(judged > 1000, "{confusion:?}");
    (right as f64 / judged as f64, unknown as f64 / (judged + unknown) as f64)
}

fn nine_in_ten(noise: usize) {
    let confusion = beside_all(noise, 100);
    let (right, unknown) = shares(&confusion);
    assert!(right >= 0.9, "{right:.3} of {confusion:?}");
    assert!(unknown <= 0.25, "{unknown:.3} of {confusion:?}");
}

#[test]
fn on_a_clean_link_beside_others_a_full_queue_is_named() {
    nine_in_ten(0);
}

#[test]
fn at_a_bit_error_rate_of_a_millionth_nine_verdicts_in_ten_are_right() {
    nine_in_ten(1);
}

#[test]
fn at_a_bit_error_rate_of_a_hundred_thousandth_nine_verdicts_in_ten_are_right() {
    nine_in_ten(2);
}

#[test]
fn at_one_percent_of_random_loss_nine_verdicts_in_ten_are_right() {
    nine_in_ten(3);
}

#[test]
fn a_burst_is_unknown_rather_than_wrong() {
    let confusion = beside_all(BURSTS, 100);
    let (right, _) = shares(&confusion);
    // A burst of damage that happens to meet the longest queue cannot be told from a full one.
    assert!(right >= 0.85, "{right:.3} of {confusion:?}");
}

#[test]
fn a_full_queue_too_short_to_show_is_unknown_rather_than_damage() {
    // Ten packets: 6 ms, where a controller aims at half of that.
    let (path, noise, rivals) = (PATHS[1], NOISES[0], RIVALS[ALONE]);
    let cell = Cell { path, noise, rivals, queue_percent: 10, start: STARTS[0], keys: "" };
    let [full, ..] = cell.confusion(1, SECONDS);
    let all: u64 = full.iter().sum();
    assert!(all > 100 && full[1] * 10 < all, "{full:?}");
}

#[test]
fn answers_alone_that_stay_out_are_no_outage_of_the_data() {
    // A row of damage, and behind it seconds in which the way back loses each STAT.
    let (path, noise, rivals) = (PATHS[0], NOISES[BURSTS], RIVALS[ALONE]);
    let cell = Cell { path, noise, rivals, queue_percent: 100, start: STARTS[0], keys: "" };
    let [_, damaged, ..] = cell.confusion(1, SECONDS);
    assert!(damaged[1] > 100 && damaged[2] == 0, "{damaged:?}");
}

#[test]
fn damage_alone_on_a_link_is_named() {
    for path in PATHS {
        for noise in &NOISES[1..BURSTS] {
            let rivals = RIVALS[ALONE];
            let cell = Cell { path, noise: *noise, rivals, queue_percent: 100, start: STARTS[0], keys: "" };
            let [_, damaged, ..] = cell.confusion(1, SECONDS);
            let all: u64 = damaged.iter().sum();
            assert!(all > 100 && damaged[1] * 100 >= all * 97, "{} {noise:?}: {damaged:?}", path.name);
        }
    }
}
