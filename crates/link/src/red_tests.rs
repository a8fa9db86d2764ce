use alloc::vec::Vec;

use skyhaul_core::event::DropCause::{Early, QueueFull};
use skyhaul_core::{Ecn, Instant, NullSink, Packet, Stream};

use crate::red::{Idle, Length, Red, RedDecision};
use crate::test_support::{Events, at, both_ways, drain, drops, link, packet};
use crate::{DirectionConfig, Link, QueueLimit, RedConfig};

/// 1 byte takes 1 microsecond.
const RATE_BPS: u64 = 8_000_000;

fn red(config: RedConfig) -> Red {
    Red::new(config, Stream::new(1, "test")).unwrap()
}

/// The average is the length that a packet finds.
const AT_ONCE: RedConfig = RedConfig {
    min: QueueLimit::Packets(10),
    max: QueueLimit::Packets(20),
    max_probability: 0.1,
    weight: 1.0,
    gentle: false,
    ecn: false,
    mean_packet_bytes: 1000,
};

/// Decisions on `count` packets that all find `packets` of 1000 bytes.
fn judgements(red: &mut Red, count: usize, packets: usize, ecn: Ecn) -> Vec<RedDecision> {
    let length = Length { packets, bytes: packets as u64 * 1000 };
    (0..count).map(|_| red.judge(ecn, 1000, length, None)).collect()
}

fn picked(judgements: &[RedDecision]) -> usize {
    judgements.iter().filter(|&&judgement| judgement != RedDecision::Pass).count()
}

#[test]
fn below_min_all_pass_and_from_max_none() {
    let mut red = red(AT_ONCE);
    assert_eq!(picked(&judgements(&mut red, 10_000, 9, Ecn::NotEct)), 0);
    assert_eq!(picked(&judgements(&mut red, 100, 20, Ecn::NotEct)), 100);
}

#[test]
fn between_them_the_picked_are_evenly_spread() {
    // At the middle the chance is p = 0.05. The n-th packet after one that was picked is picked with
    // p / (1 - np) [Floyd and Jacobson 1993, Fig. 2], which makes gaps uniform on 1 to 1/p - 1 = 19.
    let mut red = red(AT_ONCE);
    let judgements = judgements(&mut red, 100_000, 15, Ecn::NotEct);
    let places: Vec<usize> =
        (0..judgements.len()).filter(|&place| judgements[place] == RedDecision::Drop).collect();
    let gaps: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    assert!((9.8..10.2).contains(&mean), "{mean}");
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&19)));
}

#[test]
fn in_bytes_larger_packets_are_picked_more_often() {
    let config = RedConfig { min: QueueLimit::Bytes(10_000), max: QueueLimit::Bytes(20_000), ..AT_ONCE };
    let share = |wire_bytes| {
        let mut red = red(config);
        let length = Length { packets: 1, bytes: 15_000 };
        let all: Vec<_> = (0..50_000).map(|_| red.judge(Ecn::NotEct, wire_bytes, length, None)).collect();
        picked(&all) as f64 / 50_000.0
    };
    let ratio = share(1000) / share(250);
    assert!((3.5..4.5).contains(&ratio), "{ratio}");
}

#[test]
fn gentle_rises_to_certainty_at_twice_max() {
    let mut red = red(RedConfig { gentle: true, ..AT_ONCE });
    let share = |red: &mut Red, packets| picked(&judgements(red, 50_000, packets, Ecn::NotEct)) as f64 / 5e4;
    let (at_max, quarter, twice) = (share(&mut red, 20), share(&mut red, 25), share(&mut red, 40));
    assert!((0.19..0.21).contains(&at_max), "p = 0.1: gaps of 1 to 9: {at_max}");
    assert!((0.62..0.67).contains(&quarter), "p = 0.325: gaps of 1 to 3, 1.56 on average: {quarter}");
    assert!(twice > 0.999, "{twice}");
}

#[test]
fn the_average_follows_with_its_weight() {
    // 1 - 0.8^n of 30 is below 20 for n = 4 and above for n = 5; below 10 up to n = 1.
    let mut red = red(RedConfig { weight: 0.2, max_probability: 0.0, ..AT_ONCE });
    let judgements = judgements(&mut red, 6, 30, Ecn::NotEct);
    assert_eq!(judgements[..4], [RedDecision::Pass; 4]);
    assert_eq!(judgements[4..], [RedDecision::Drop; 2]);
}

#[test]
fn it_falls_while_nothing_waits() {
    // From 30, with weight 0.2, one packet's time a step of 0.8: one packet's time later it is still 24 *
    // 0.8.
    let after = |idle_ns| {
        let mut red = red(RedConfig { weight: 0.2, max_probability: 0.0, ..AT_ONCE });
        judgements(&mut red, 100, 30, Ecn::NotEct);
        let nothing = Length { packets: 0, bytes: 0 };
        let idle = Idle { ns: idle_ns, rate_bps: Some(RATE_BPS) };
        red.judge(Ecn::NotEct, 1000, nothing, Some(idle))
    };
    assert_eq!(after(0), RedDecision::Drop, "24");
    assert_eq!(after(1_000_000), RedDecision::Pass, "19.2");
}

#[test]
fn ecn_capable_packets_are_marked_unless_all_are_picked() {
    let mut red = red(RedConfig { ecn: true, ..AT_ONCE });
    let marked = judgements(&mut red, 1000, 15, Ecn::Ect0);
    assert!(marked.contains(&RedDecision::Mark) && !marked.contains(&RedDecision::Drop));
    let dropped = judgements(&mut red, 1000, 15, Ecn::NotEct);
    assert!(dropped.contains(&RedDecision::Drop) && !dropped.contains(&RedDecision::Mark));
    assert_eq!(judgements(&mut red, 10, 20, Ecn::Ect0), [RedDecision::Drop; 10]);
}

fn with_red(red: RedConfig) -> Link {
    let queue = QueueLimit::Packets(40);
    let direction =
        DirectionConfig { rate_bps: Some(RATE_BPS), queue, red: Some(red), ..DirectionConfig::default() };
    link(&both_ways(direction), 1)
}

fn capable(number: u32) -> Packet {
    let mut packet = packet(1000, number);
    packet.meta.fields.ecn = Ecn::Ect0;
    packet
}

#[test]
fn a_link_drops_early_and_counts_it_apart() {
    let mut link = with_red(RedConfig { max: QueueLimit::Packets(30), ..AT_ONCE });
    let mut events = Events::new();
    for number in 0..60 {
        link.handle(at(0), 0, packet(1000, number), &mut events);
    }
    let drops = drops(&events);
    assert!(drops.iter().all(|&(_, _, cause)| cause == Early), "the average is the queue: {drops:?}");
    let counters = link.counters(0, at(0));
    assert_eq!(counters.dropped.early, drops.len() as u64);
    assert_eq!(counters.dropped.congestion(), counters.dropped.total());
    assert_eq!(counters.max_queue_bytes, 30_000, "never above max");
}

#[test]
fn a_burst_may_fill_the_queue_while_the_average_is_low() {
    let mut link = with_red(RedConfig::default());
    let mut events = Events::new();
    for number in 0..60 {
        link.handle(at(0), 0, packet(1000, number), &mut events);
    }
    assert_eq!(drops(&events), [(0, 0, QueueFull); 20]);
}

#[test]
fn marked_packets_arrive_marked() {
    let mut link = with_red(RedConfig { ecn: true, max: QueueLimit::Packets(100), ..AT_ONCE });
    for number in 0..2000 {
        let now = Instant::from_ns(u64::from(number) * 500_000);
        link.handle(now, 0, capable(number), &mut NullSink);
    }
    let counters = link.counters(0, at(0));
    let arrived = drain(&mut link);
    let marked = arrived.iter().filter(|(_, _, packet)| packet.meta.fields.ecn == Ecn::Ce).count();
    assert_eq!(counters.marked_packets, marked as u64);
    assert!(marked > 10, "{marked}");
    assert_eq!(counters.dropped.early, 0);
}

#[test]
fn without_a_rate_nothing_is_picked() {
    let direction = DirectionConfig { red: Some(AT_ONCE), ..DirectionConfig::default() };
    let mut link = link(&both_ways(direction), 1);
    for number in 0..100 {
        link.handle(at(0), 0, packet(1000, number), &mut NullSink);
    }
    assert_eq!(drain(&mut link).len(), 100);
}
