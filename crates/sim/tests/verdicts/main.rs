//! Verdicts on lost packets beside what the links really did: right for nine packets in ten that have one.
//! Example `verdicts` prints the whole matrix.

mod matrix;
mod neighbours;
mod no_damage;
mod short_queues;

use matrix::{Cell, NOISES, PATHS, RIVALS, STARTS, score, sum};
use short_queues::Narrow;
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

const NOBODY: (&str, u32) = ("cubic", 0);
const TWO_BBR: Narrow = Narrow {
    rate_mbps: 20,
    delay: "30ms",
    queue_packets: 50,
    noise: ", loss = 0.01",
    own: 1,
    rivals: ("bbr", 2),
};
const FOUR_BBR: Narrow =
    Narrow { delay: "20ms", queue_packets: 10, noise: "", rivals: ("bbr", 4), ..TWO_BBR };

/// Nine in ten of the verdicts are right, and there are `at_least` so many; no more than a fiftieth of what a
/// full queue drops passes for an outage.
fn nine_in_ten_of(narrow: Narrow, seeds: u64, at_least: u64) {
    let confusion = narrow.confusion(seeds);
    let (judged, right, _) = score(&confusion);
    assert!(judged >= at_least, "{narrow:?}: {confusion:?}");
    assert!(right as f64 >= 0.9 * judged as f64, "{right} of {judged}, {narrow:?}: {confusion:?}");
    let full: u64 = confusion[0].iter().sum();
    assert!(confusion[0][2] * 50 <= full, "{narrow:?}: {confusion:?}");
}

#[test]
fn two_flows_of_bbr_that_fill_a_short_queue_are_no_damage_on_a_noisy_link() {
    nine_in_ten_of(TWO_BBR, 3, 2000);
}

#[test]
fn two_flows_of_bbr_that_fill_a_short_queue_are_no_damage() {
    nine_in_ten_of(Narrow { noise: "", ..TWO_BBR }, 1, 1000);
}

#[test]
fn four_flows_that_fill_a_queue_of_ten_packets_are_no_damage() {
    nine_in_ten_of(FOUR_BBR, 3, 1000);
    nine_in_ten_of(Narrow { rivals: ("cubic", 4), ..FOUR_BBR }, 1, 100);
}

#[test]
fn what_flows_of_stp_lose_in_each_others_queue_is_no_damage() {
    let own = Narrow { rivals: NOBODY, ..FOUR_BBR };
    nine_in_ten_of(Narrow { queue_packets: 5, rate_mbps: 10, delay: "50ms", own: 3, ..own }, 1, 1000);
    nine_in_ten_of(Narrow { queue_packets: 100, own: 3, ..own }, 1, 500);
    nine_in_ten_of(Narrow { own: 4, ..own }, 1, 1000);
    nine_in_ten_of(Narrow { queue_packets: 5, own: 5, ..own }, 1, 1000);
    nine_in_ten_of(Narrow { queue_packets: 100, rate_mbps: 30, delay: "10ms", own: 5, ..own }, 1, 1000);
}

#[test]
fn on_a_short_path_a_train_longer_than_the_queue_is_neither_damage_nor_an_outage() {
    let short = Narrow { delay: "100us", queue_packets: 20, own: 1, rivals: NOBODY, ..FOUR_BBR };
    let [full, ..] = short.confusion(1);
    assert!(full.iter().sum::<u64>() > 100 && full[1] == 0 && full[2] == 0, "{full:?}");
}

#[test]
fn damage_in_front_of_a_short_queue_that_nobody_shares_is_named() {
    let [_, damaged, ..] = Narrow { rivals: NOBODY, ..TWO_BBR }.confusion(3);
    let all: u64 = damaged.iter().sum();
    assert!(all > 1000 && damaged[1] * 100 >= all * 95, "{damaged:?}");
}
