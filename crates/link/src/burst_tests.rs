use alloc::vec::Vec;

use skyhaul_core::Stream;
use skyhaul_core::event::DropCause::RandomLoss;

use crate::burst::GilbertElliott;
use crate::test_support::{Events, at, both_ways, drain_numbers, drops, hollow, link, with_outages};
use crate::{BurstLoss, DirectionConfig, LinkConfig};

const BURSTY: BurstLoss = BurstLoss { good_to_bad: 0.02, bad_to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };

/// Which of the first `count` packets are lost.
fn losses(config: BurstLoss, seed: u64, count: usize) -> Vec<bool> {
    let mut burst = GilbertElliott::new(config, Stream::new(seed, "l/forward/burst"));
    (0..count).map(|_| burst.draw()).collect()
}

fn share(losses: &[bool]) -> f64 {
    losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
}

fn bursty(burst_loss: BurstLoss, loss: f64) -> LinkConfig {
    both_ways(DirectionConfig { loss, burst_loss, ..DirectionConfig::default() })
}

/// Which of 2000 packets arrive, handed in one a nanosecond.
fn survivors(config: &LinkConfig) -> Vec<u32> {
    let mut link = link(config, 3);
    (0..2000).for_each(|n| link.handle(at(n), 0, hollow(100, n as u32), &mut Events::new()));
    drain_numbers(&mut link)
}

#[test]
fn the_average_loss_is_that_of_the_two_states_by_their_shares() {
    let two = BurstLoss { good_to_bad: 0.01, bad_to_good: 0.1, loss_good: 0.005, loss_bad: 0.6 };
    for config in [BURSTY, two] {
        let bad = config.good_to_bad / (config.good_to_bad + config.bad_to_good);
        let expected = bad * config.loss_bad + (1.0 - bad) * config.loss_good;
        for seed in 1..4 {
            let lost = share(&losses(config, seed, 400_000));
            assert!((lost / expected - 1.0).abs() < 0.08, "{lost}, not {expected}");
        }
    }
}

#[test]
fn a_burst_is_as_long_as_the_bad_state() {
    let lost = losses(BURSTY, 1, 400_000);
    let bursts: Vec<usize> =
        lost.split(|&lost| !lost).map(<[bool]>::len).filter(|&length| length > 0).collect();
    let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
    assert!((mean - 4.0).abs() < 0.15, "{mean} packets, not 1 / 0.25");
    // Geometric: a burst goes on with probability 3/4 after each packet.
    let single = bursts.iter().filter(|&&length| length == 1).count() as f64 / bursts.len() as f64;
    assert!((single - 0.25).abs() < 0.02, "{single}");
}

#[test]
fn the_first_packet_meets_the_good_state_and_each_takes_one_step() {
    let alternating = BurstLoss { good_to_bad: 1.0, bad_to_good: 1.0, loss_good: 1.0, loss_bad: 0.0 };
    assert_eq!(losses(alternating, 1, 6), [true, false, true, false, true, false]);
    let never_back = BurstLoss { good_to_bad: 1.0, loss_bad: 1.0, ..BurstLoss::default() };
    assert_eq!(losses(never_back, 1, 4), [false, true, true, true]);
}

#[test]
fn the_default_and_what_amounts_to_it_lose_nothing() {
    let unreachable = BurstLoss { loss_bad: 1.0, bad_to_good: 0.5, ..BurstLoss::default() };
    let harmless = BurstLoss { good_to_bad: 0.5, bad_to_good: 0.5, ..BurstLoss::default() };
    for config in [BurstLoss::default(), unreachable, harmless] {
        assert!(!losses(config, 1, 1000).contains(&true), "{config:?}");
    }
}

#[test]
fn the_realised_losses_are_the_same_on_every_machine() {
    assert_eq!(losses(BURSTY, 7, 1000), losses(BURSTY, 7, 1000));
    assert_ne!(losses(BURSTY, 7, 1000), losses(BURSTY, 8, 1000));
    let lost: Vec<usize> =
        (0..).zip(losses(BURSTY, 1, 120)).filter(|(_, lost)| *lost).map(|(n, _)| n).collect();
    assert_eq!(lost, [35, 36, 60, 61, 69, 70, 71, 72, 73, 74, 75, 76, 112, 113]);
}

#[test]
fn bursts_are_random_losses_and_the_directions_have_their_own() {
    let mut link = link(&bursty(BURSTY, 0.0), 1);
    let mut events = Events::new();
    for port in [0, 1] {
        (0..500).for_each(|n| link.handle(at(n), port, hollow(1, 0), &mut events));
    }
    let drops = drops(&events);
    assert!(drops.iter().all(|(.., cause)| *cause == RandomLoss));
    let of = |wanted| -> Vec<u64> {
        drops.iter().filter(|(_, port, _)| *port == wanted).map(|(at, ..)| *at).collect()
    };
    assert!(!of(0).is_empty());
    assert_ne!(of(0), of(1));
    assert_eq!(link.counters(0, at(500)).dropped.random_loss, of(0).len() as u64);
}

#[test]
fn bursts_come_on_top_of_single_losses_and_shift_neither_them_nor_themselves() {
    let (single, burst) = (survivors(&bursty(BurstLoss::default(), 0.1)), survivors(&bursty(BURSTY, 0.0)));
    let mut both = single.clone();
    both.retain(|number| burst.contains(number));
    assert_eq!(survivors(&bursty(BURSTY, 0.1)), both);
    let mut outside = burst;
    outside.retain(|n| !(300..400).contains(n));
    assert_eq!(
        survivors(&with_outages(bursty(BURSTY, 0.0), &[(300, 400)])),
        outside,
        "an outage takes draws"
    );
}
