use alloc::vec::Vec;

use skyhaul_core::{MS, NullSink};

use crate::test_support::{at, both_ways, burst, drain, drain_numbers, link, packet, with_outages};
use crate::{Damage, DirectionConfig, LinkConfig, Reordering, carried_packets};

fn direction(duplication: f64) -> DirectionConfig {
    DirectionConfig {
        rate_bps: Some(8_000_000),
        delay_ns: 20 * MS,
        loss: 0.1,
        duplication,
        ..DirectionConfig::default()
    }
}

fn copying(duplication: f64) -> LinkConfig {
    both_ways(direction(duplication))
}

/// How often each number comes in a row.
fn runs(numbers: &[u32]) -> Vec<(u32, usize)> {
    numbers.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

#[test]
fn a_copy_arrives_with_its_packet_and_right_behind_it() {
    let mut link = link(&both_ways(DirectionConfig { loss: 0.0, ..direction(1.0) }), 1);
    burst(&mut link, 2, 1000);
    assert_eq!(link.packets_inside(0), 2);
    let out = drain(&mut link);
    let times: Vec<_> = out.iter().map(|(t, port, p)| (t.as_ns() / MS, *port, p.meta.flow)).collect();
    assert_eq!(times, [(21, 1, 0), (21, 1, 0), (22, 1, 1), (22, 1, 1)], "the copy costs no rate");
    assert_eq!(out[0].2, packet(1000, 0));
    assert_eq!(out[0].2, out[1].2);
    let counters = link.counters(0, at(0));
    assert_eq!((counters.delivered_packets, counters.duplicated_packets), (4, 2));
    assert_eq!((counters.delivered_bytes, counters.served_bytes), (4000, 2000));
    assert_eq!(counters.reordered_packets, 0);
}

#[test]
fn the_first_of_two_leaves_the_other_inside() {
    let mut link = link(&both_ways(DirectionConfig { duplication: 1.0, ..DirectionConfig::default() }), 1);
    burst(&mut link, 1, 100);
    assert!(link.poll_transmit(at(0)).is_some());
    assert_eq!((link.packets_inside(0), link.deadline()), (1, Some(at(0))));
    assert!(link.poll_transmit(at(0)).is_some());
    assert_eq!((link.packets_inside(0), link.deadline()), (0, None));
}

#[test]
fn copies_come_at_the_stated_rate_and_change_no_other_draw() {
    let numbers = |duplication| {
        let mut link = link(&copying(duplication), 3);
        burst(&mut link, 20_000, 10);
        (drain_numbers(&mut link), link.counters(0, at(0)))
    };
    let (plain, none) = numbers(0.0);
    let (copied, counters) = numbers(0.2);
    let runs = runs(&copied);
    assert_eq!(runs.iter().map(|&(number, _)| number).collect::<Vec<_>>(), plain, "the same losses");
    let twice = runs.iter().filter(|&&(_, times)| times == 2).count();
    assert!(runs.iter().all(|&(_, times)| times <= 2));
    assert_eq!((counters.duplicated_packets, none.duplicated_packets), (twice as u64, 0));
    // 18,000 packets get through; standard deviation: 54.
    assert!((3_380..3_820).contains(&twice), "{twice}");
}

#[test]
fn an_outage_does_not_shift_the_copies_after_it() {
    let passed = |config: &LinkConfig| {
        let mut link = link(config, 5);
        (0..500).for_each(|n| link.handle(at(n * MS), 0, packet(100, n as u32), &mut NullSink));
        runs(&drain_numbers(&mut link))
    };
    let mut without = passed(&copying(0.5));
    without.retain(|&(number, _)| !(100..200).contains(&number));
    assert_eq!(passed(&with_outages(copying(0.5), &[(100 * MS - 1, 199 * MS + MS / 2)])), without);
}

#[test]
fn damaged_and_late_packets_have_copies_that_are_the_same() {
    let direction = DirectionConfig {
        bit_error_rate: 1e-3,
        damage: Damage::Deliver,
        reordering: Reordering { probability: 0.5, extra_delay_ns: 7 * MS },
        ..direction(1.0)
    };
    let mut link = link(&both_ways(direction), 2);
    burst(&mut link, 200, 500);
    let out = drain(&mut link);
    assert!(out.chunks(2).all(|pair| pair[0] == pair[1]));
    let counters = link.counters(0, at(0));
    assert!(counters.damaged_packets > 100 && counters.damaged_packets.is_multiple_of(2));
    assert!(counters.reordered_packets > 50 && counters.reordered_packets.is_multiple_of(2));
}

#[test]
fn the_limit_does_not_count_copies() {
    let limit = |duplication| carried_packets(&copying(duplication), 1, 0, at(0), at(1000 * MS), 1500);
    assert_eq!(limit(1.0), limit(0.0));
}
