use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::event::DropCause::{QueueFull, RandomLoss, TooLarge};
use skyhaul_core::{Instant, NetworkFields, NullSink, Packet, US};

use crate::fragments::Pieces;
use crate::test_support::{Events, at, both_ways, drain, drain_numbers, drops, hollow, link, packet};
use crate::{
    BurstLoss, Conditions, DirectionConfig, MAX_MTU_BYTES, MIN_MTU_BYTES, Problem, QueueLimit, Reordering,
    ScheduleStep,
};

/// 1 byte takes 1 microsecond.
fn direction(mtu_bytes: u32) -> DirectionConfig {
    DirectionConfig { rate_bps: Some(8_000_000), mtu_bytes: Some(mtu_bytes), ..DirectionConfig::default() }
}

fn may_fragment(mut packet: Packet) -> Packet {
    packet.meta.fields = NetworkFields { may_fragment: true, ..packet.meta.fields };
    packet
}

#[test]
fn a_packet_over_the_mtu_is_dropped_at_once_and_counted_with_its_own_cause() {
    let mut link = link(&both_ways(direction(1300)), 1);
    let mut events = Events::new();
    for (number, bytes) in [(0, 1300), (1, 1301), (2, 1500), (3, 68)] {
        link.handle(at(5), 0, packet(bytes, number), &mut events);
    }
    assert_eq!(drops(&events), [(5, 0, TooLarge); 2]);
    let counters = link.counters(0, at(5));
    assert_eq!((counters.dropped.too_large, counters.dropped.total(), counters.dropped_bytes), (2, 2, 2801));
    assert_eq!((counters.dropped.congestion(), counters.dropped.unserved()), (0, 2));
    assert_eq!((counters.served_bytes, counters.fragmented_packets), (1368, 0));
    assert_eq!(drain_numbers(&mut link), [0, 3]);
}

#[test]
fn each_direction_has_its_own() {
    let mut config = both_ways(direction(1300));
    config.reverse.mtu_bytes = None;
    let mut link = link(&config, 1);
    let mut events = Events::new();
    link.handle(at(0), 0, packet(1500, 0), &mut events);
    link.handle(at(0), 1, packet(65_000, 1), &mut events);
    assert_eq!(drops(&events), [(0, 0, TooLarge)]);
    assert_eq!(drain_numbers(&mut link), [1]);
    let mtus = [0, 1].map(|port| (link.conditions().mtu_bytes(port, at(9)), link.conditions().has_mtu(port)));
    assert_eq!(mtus, [(Some(1300), true), (None, false)]);
}

#[test]
fn a_packet_that_may_be_fragmented_crosses_with_a_header_for_each_fragment() {
    let mut link = link(&both_ways(direction(1300)), 1);
    link.handle(at(0), 0, may_fragment(packet(1500, 0)), &mut NullSink);
    link.handle(at(0), 0, may_fragment(packet(1300, 1)), &mut NullSink);
    // 1480 bytes of payload: 1280, and 200 in a second packet.
    assert_eq!(link.queue_bytes(0, at(0)), 1520 + 1300);
    let arrived: Vec<_> = drain(&mut link)
        .into_iter()
        .map(|(time, _, packet)| {
            (time.as_ns() / US, packet.bytes.len(), packet.meta.wire_bytes, packet.meta.fragment_bytes)
        })
        .collect();
    assert_eq!(arrived, [(1520, 1500, 1500, 1300), (2820, 1300, 1300, 0)]);
    let counters = link.counters(0, at(0));
    assert_eq!((counters.served_bytes, counters.fragmented_packets), (2820, 1));
    assert_eq!((counters.entered_bytes, counters.delivered_bytes), (2800, 2800));
}

#[test]
fn what_was_cut_stays_in_fragments_on_a_wider_link_and_is_cut_smaller_on_a_narrower_one() {
    let mut cut = link(&both_ways(direction(1300)), 1);
    cut.handle(at(0), 0, may_fragment(packet(1500, 0)), &mut NullSink);
    let (_, _, fragments) = drain(&mut cut).pop().unwrap();
    for (mtu_bytes, served, fragment_bytes) in [(9000, 1520, 1300), (1300, 1520, 1300), (600, 1540, 600)] {
        let mut next = link(&both_ways(direction(mtu_bytes)), 1);
        next.handle(at(0), 0, fragments.clone(), &mut NullSink);
        assert_eq!(next.counters(0, at(0)).served_bytes, served, "{mtu_bytes}");
        assert_eq!(drain(&mut next)[0].2.meta.fragment_bytes, fragment_bytes);
    }
    let mut without = link(&both_ways(DirectionConfig { mtu_bytes: None, ..direction(68) }), 1);
    without.handle(at(0), 0, fragments, &mut NullSink);
    assert_eq!(without.counters(0, at(0)).served_bytes, 1520);
}

#[test]
fn the_loss_of_one_fragment_loses_all() {
    let loss = 0.3;
    let lost = |wire_bytes: u32| {
        let mut link = link(&both_ways(DirectionConfig { loss, ..direction(516) }), 3);
        let mut events = Events::new();
        for number in 0..4000 {
            link.handle(at(0), 0, may_fragment(hollow(wire_bytes, number)), &mut events);
        }
        assert!(drops(&events).iter().all(|&(_, _, cause)| cause == RandomLoss));
        drops(&events).len() as f64 / 4000.0
    };
    for (wire_bytes, fragments) in [(500, 1), (800, 2), (1508, 3)] {
        let expected = 1.0 - (1.0f64 - loss).powi(fragments);
        assert!((lost(wire_bytes) - expected).abs() < 0.03, "{fragments}: {}", lost(wire_bytes));
    }
}

/// The n-th piece on the wire meets the n-th draw, be it a packet or a fragment.
#[test]
fn fragments_take_the_draws_that_packets_of_their_number_would_take() {
    let burst_loss = BurstLoss { good_to_bad: 0.2, bad_to_good: 0.3, loss_good: 0.0, loss_bad: 0.8 };
    let config = both_ways(DirectionConfig { burst_loss, ..direction(516) });
    let [mut whole, mut cut] = [(); 2].map(|()| link(&config, 5));
    for number in 0..600 {
        whole.handle(at(0), 0, hollow(516, number), &mut NullSink);
    }
    for number in 0..200 {
        cut.handle(at(0), 0, may_fragment(hollow(1508, number)), &mut NullSink);
    }
    let arrived = drain_numbers(&mut whole);
    let expected: Vec<u32> =
        (0..200).filter(|three| (0..3).all(|one| arrived.contains(&(three * 3 + one)))).collect();
    assert_eq!(drain_numbers(&mut cut), expected);
    assert!((20..180).contains(&expected.len()), "{}", expected.len());
}

#[test]
fn a_packet_in_fragments_comes_late_if_any_does_and_twice_if_all_do() {
    let reordering = Reordering { probability: 0.5, extra_delay_ns: 1 };
    let config =
        both_ways(DirectionConfig { reordering, duplication: 0.5, rate_bps: None, ..direction(516) });
    let mut link = link(&config, 5);
    for number in 0..4000 {
        link.handle(at(0), 0, may_fragment(hollow(1000, number)), &mut NullSink);
    }
    let all = drain(&mut link);
    let twice = link.counters(0, at(0)).duplicated_packets as f64 / 4000.0;
    let late = all.iter().filter(|(time, ..)| *time > Instant::ZERO).count() as f64 / all.len() as f64;
    assert!((twice - 0.25).abs() < 0.03 && (late - 0.75).abs() < 0.03, "{twice} {late}");
}

#[test]
fn a_queue_in_bytes_counts_the_headers_of_fragments() {
    let mut link = link(&both_ways(DirectionConfig { queue: QueueLimit::Bytes(1519), ..direction(1300) }), 1);
    let mut events = Events::new();
    link.handle(at(0), 0, may_fragment(packet(1500, 0)), &mut events);
    assert_eq!(drops(&events), [(0, 0, QueueFull)]);
}

#[test]
fn a_schedule_changes_it_for_what_enters_from_then_on() {
    let step = |us: u64, mtu_bytes| ScheduleStep {
        at: at(us * US),
        rate_bps: Some(8_000_000),
        delay_ns: 0,
        mtu_bytes,
    };
    let schedule = vec![step(100, Some(1300)), step(200, None)];
    let mut link = link(&both_ways(DirectionConfig { schedule, ..direction(1500) }), 1);
    let mut events = Events::new();
    for (number, us) in [(0, 0), (1, 99), (2, 100), (3, 199), (4, 200)] {
        link.handle(at(us * US), 0, packet(1400, number), &mut events);
    }
    assert_eq!(drops(&events), [(100 * US, 0, TooLarge), (199 * US, 0, TooLarge)]);
    assert_eq!(drain_numbers(&mut link), [0, 1, 4]);
}

#[test]
fn it_changes_while_the_link_runs_and_what_waits_stays_as_it_is() {
    let mut link = link(&both_ways(DirectionConfig { mtu_bytes: None, ..direction(68) }), 1);
    let mut events = Events::new();
    link.handle(at(0), 0, packet(1500, 0), &mut events);
    link.handle(at(0), 0, packet(1500, 1), &mut events);
    link.set_mtu(at(10), 0, Some(1300), &mut events).unwrap();
    link.handle(at(20), 0, packet(1500, 2), &mut events);
    link.handle(at(20), 1, packet(1500, 3), &mut events);
    assert_eq!(drops(&events), [(20, 0, TooLarge)]);
    link.set_mtu(at(30), 0, None, &mut events).unwrap();
    link.handle(at(40), 0, packet(1500, 4), &mut events);
    let seen = [9, 10, 29, 30].map(|ns| link.conditions().mtu_bytes(0, at(ns)));
    assert_eq!(seen, [None, Some(1300), Some(1300), None]);
    let arrived: Vec<_> = drain(&mut link)
        .iter()
        .map(|(time, port, packet)| (time.as_ns() / 1000, *port, packet.meta.flow))
        .collect();
    assert_eq!(arrived, [(1500, 1, 0), (1500, 0, 3), (3000, 1, 1), (4500, 1, 4)]);
}

#[test]
fn values_that_no_link_has_are_refused() {
    for bytes in [0, MIN_MTU_BYTES - 1, MAX_MTU_BYTES + 1, u32::MAX] {
        let error = both_ways(direction(bytes)).validate().unwrap_err();
        assert_eq!((error.field.as_str(), error.problem), ("forward.mtu_bytes", Problem::Mtu(bytes)));
        let mut link = link(&both_ways(direction(1300)), 1);
        let error = link.set_mtu(at(9), 1, Some(bytes), &mut NullSink).unwrap_err();
        assert_eq!((error.field.as_str(), error.problem), ("reverse.mtu_bytes", Problem::Mtu(bytes)));
        let schedule = vec![ScheduleStep { mtu_bytes: Some(bytes), ..direction(68).first_step() }];
        let error = both_ways(DirectionConfig { schedule, ..direction(68) }).validate().unwrap_err();
        assert_eq!(error.field, "forward.schedule[0].mtu_bytes");
    }
    for bytes in [MIN_MTU_BYTES, MAX_MTU_BYTES] {
        assert_eq!(both_ways(direction(bytes)).validate(), Ok(()));
    }
}

#[test]
fn what_no_ip_packet_can_be_is_not_fragmented() {
    let mut link = link(&both_ways(direction(68)), 1);
    let mut events = Events::new();
    link.handle(at(0), 0, may_fragment(hollow(65_535, 0)), &mut events);
    link.handle(at(0), 0, may_fragment(hollow(65_536, 1)), &mut events);
    link.handle(at(0), 0, may_fragment(hollow(u32::MAX, 2)), &mut events);
    assert_eq!(drops(&events), [(0, 0, TooLarge); 2]);
    assert_eq!(link.counters(0, at(0)).served_bytes, 65_515 + 20 * 1365);
}

/// Digests of scenarios are made of this text.
#[test]
fn a_link_without_an_mtu_prints_as_before_there_was_one() {
    let without = DirectionConfig { mtu_bytes: None, ..direction(68) };
    let shown = alloc::format!("{without:?}");
    assert!(!shown.contains("mtu") && shown.contains("order: Preserve, queue: Unlimited"), "{shown}");
    assert!(alloc::format!("{:?}", direction(1300)).contains("order: Preserve, mtu_bytes: 1300, queue"));
    let step = without.first_step();
    assert!(!alloc::format!("{step:?}").contains("mtu"));
    assert!(Conditions::new(&both_ways(without), 1).is_ok());
}

proptest! {
    #[test]
    fn fragments_fit_and_carry_all_of_the_packet(wire_bytes in 69u32..=65_535, mtu_bytes in 68u32..=65_535) {
        prop_assume!(wire_bytes > mtu_bytes);
        let pieces = Pieces::fragments(wire_bytes, mtu_bytes);
        let each: Vec<u32> = pieces.each().collect();
        prop_assert!(each.len() >= 2 && each.len() == pieces.count as usize);
        prop_assert!(each.iter().all(|&bytes| bytes > 20 && bytes <= mtu_bytes));
        prop_assert_eq!(each.iter().map(|bytes| bytes - 20).sum::<u32>(), wire_bytes - 20);
        prop_assert_eq!(each.iter().sum::<u32>(), pieces.total_bytes);
        let before_last = &each[..each.len() - 1];
        prop_assert!(before_last.iter().all(|bytes| (bytes - 20) % 8 == 0));
    }
}
