use alloc::vec::Vec;

use skyhaul_core::event::DropCause::{BitError, RandomLoss};
use skyhaul_core::{Instant, MS, NullSink, Stream};

use crate::test_support::{
    Events, at, both_ways, burst, drain, drain_numbers, drops, hollow, link, packet, with_outages,
};
use crate::{Damage, DirectionConfig, LinkConfig, Reordering};

fn lossy(loss: f64) -> LinkConfig {
    both_ways(DirectionConfig { loss, ..DirectionConfig::default() })
}

fn noisy(bit_error_rate: f64, damage: Damage) -> LinkConfig {
    both_ways(DirectionConfig { bit_error_rate, damage, ..DirectionConfig::default() })
}

/// Which of `sizes` pass, handed in one after the other.
fn survivors(config: &LinkConfig, seed: u64, sizes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut link = link(config, seed);
    for (number, bytes) in sizes.enumerate() {
        link.handle(Instant::ZERO, 0, hollow(bytes, number as u32), &mut NullSink);
    }
    drain_numbers(&mut link)
}

#[test]
fn losses_come_at_the_stated_rate_and_again_with_the_seed() {
    let passed = |seed| survivors(&lossy(0.1), seed, core::iter::repeat_n(1500, 100_000));
    let first = passed(1);
    // Standard deviation: 95 packets.
    assert!((89_600..90_400).contains(&first.len()), "{}", first.len());
    assert_eq!(first, passed(1));
    assert_ne!(first, passed(2));
}

#[test]
fn the_realised_losses_are_the_same_on_every_machine() {
    let lost = |config| {
        let passed = survivors(&config, 1, core::iter::repeat_n(1500, 60));
        (0..60).filter(|n| !passed.contains(n)).collect::<Vec<u32>>()
    };
    assert_eq!(lost(lossy(0.1)), [8, 24, 44, 56]);
    assert_eq!(lost(noisy(1e-5, Damage::Drop)), [13, 22, 33, 39, 40, 41, 42, 43, 46, 53, 56, 57]);
}

#[test]
fn losses_depend_on_the_place_and_not_on_the_length() {
    let config = both_ways(DirectionConfig { loss: 0.3, bit_error_rate: 1e-12, ..Default::default() });
    let equal = survivors(&config, 5, core::iter::repeat_n(1500, 1000));
    let mixed = survivors(&config, 5, (0..1000).map(|n| n * 37 % 1500));
    assert_eq!(equal, mixed);
}

#[test]
fn a_packet_without_bits_takes_its_draw_too() {
    let config = noisy(1e-4, Damage::Drop);
    let full = survivors(&config, 5, core::iter::repeat_n(1500, 1000));
    let gaps = survivors(&config, 5, (0..1000).map(|n| if n % 3 == 0 { 0 } else { 1500 }));
    let expected: Vec<u32> = (0..1000).filter(|n| n % 3 == 0 || full.contains(n)).collect();
    assert_eq!(gaps, expected);
}

#[test]
fn an_outage_does_not_shift_the_losses_after_it() {
    let numbers = |config: &LinkConfig| {
        let mut link = link(config, 9);
        (0..1000).for_each(|n| link.handle(at(n), 0, hollow(100, n as u32), &mut NullSink));
        drain_numbers(&mut link)
    };
    let mut without = numbers(&lossy(0.2));
    without.retain(|n| !(300..400).contains(n));
    assert_eq!(numbers(&with_outages(lossy(0.2), &[(300, 400)])), without);
}

#[test]
fn the_directions_have_losses_of_their_own() {
    let mut link = link(&lossy(0.5), 1);
    let mut events = Events::new();
    for port in [0, 1] {
        (0..100).for_each(|n| link.handle(at(n), port, hollow(1, 0), &mut events));
    }
    let of = |wanted| -> Vec<u64> {
        drops(&events).iter().filter(|(_, port, _)| *port == wanted).map(|(at, ..)| *at).collect()
    };
    assert_ne!(of(0), of(1));
    assert!(drops(&events).iter().all(|(.., cause)| *cause == RandomLoss));
}

#[test]
fn bit_errors_take_long_packets_more_often() {
    for (bytes, rate) in [(40u32, 1e-5), (1500, 1e-5), (9000, 1e-5), (1500, 1e-7)] {
        let count = 100_000;
        let passed = survivors(&noisy(rate, Damage::Drop), 3, core::iter::repeat_n(bytes, count));
        let lost = 1.0 - passed.len() as f64 / count as f64;
        let formula = 1.0 - (1.0 - rate).powi(8 * bytes as i32);
        let deviation = (formula * (1.0 - formula) / count as f64).sqrt();
        assert!((lost - formula).abs() < 4.0 * deviation, "{bytes} bytes at {rate}: {lost}, not {formula}");
    }
}

#[test]
fn damaged_packets_are_dropped_with_their_cause() {
    let mut link = link(&noisy(1.0, Damage::Drop), 1);
    let mut events = Events::new();
    link.handle(at(3), 1, packet(10, 0), &mut events);
    assert_eq!(drops(&events), [(3, 1, BitError)]);
    assert_eq!(link.counters(1, at(3)).dropped.bit_error, 1);
}

#[test]
fn damaged_packets_that_are_delivered_differ_in_their_bytes_alone() {
    let (config, dropping) = (noisy(1e-4, Damage::Deliver), noisy(1e-4, Damage::Drop));
    let intact = survivors(&dropping, 4, core::iter::repeat_n(600, 200));
    let mut link = link(&config, 4);
    burst(&mut link, 200, 600);
    let arrived = drain(&mut link);
    assert_eq!(arrived.len(), 200);
    for (number, (_, _, got)) in (0..).zip(&arrived) {
        let sent = packet(600, number);
        assert_eq!(got.meta, sent.meta);
        assert_eq!(got.bytes.len(), sent.bytes.len());
        assert_eq!(got.bytes == sent.bytes, intact.contains(&number), "packet {number}");
    }
    assert_eq!(link.counters(0, at(0)).damaged_packets, 200 - intact.len() as u64);
}

#[test]
fn the_worst_noise_still_differs_and_ends() {
    let mut link = link(&noisy(1.0, Damage::Deliver), 4);
    burst(&mut link, 500, 1);
    let arrived = drain(&mut link);
    assert!((0..).zip(&arrived).all(|(n, (_, _, got))| got.bytes != packet(1, n).bytes));
}

#[test]
fn a_packet_without_bytes_cannot_be_delivered_damaged() {
    let mut link = link(&noisy(1.0, Damage::Deliver), 4);
    link.handle(at(0), 0, hollow(100, 0), &mut NullSink);
    assert_eq!(link.counters(0, at(0)).dropped.bit_error, 1);
}

#[test]
fn only_the_picked_packets_are_overtaken() {
    let reordering = Reordering { probability: 0.2, extra_delay_ns: 5 * MS };
    let direction = DirectionConfig { rate_bps: Some(12_000_000), reordering, ..DirectionConfig::default() };
    let mut link = link(&both_ways(direction), 6);
    burst(&mut link, 500, 1500);
    let arrived = drain(&mut link);
    let mut stream = Stream::new(6, "l/forward/reorder");
    let picked: Vec<bool> = (0..500).map(|_| stream.next_u64() < u64::MAX / 5).collect();
    let mut end = 0;
    let mut overtaken = 0;
    for (time, _, packet) in &arrived {
        let number = packet.meta.flow;
        let late = if picked[number as usize] { 5 * MS } else { 0 };
        assert_eq!(time.as_ns(), u64::from(number + 1) * MS + late, "packet {number}");
        assert!(number >= end || picked[number as usize], "{number} was overtaken without being picked");
        overtaken += u64::from(number < end);
        end = end.max(number + 1);
    }
    assert!(overtaken > 50);
    assert_eq!(link.counters(0, at(0)).reordered_packets, overtaken);
}
