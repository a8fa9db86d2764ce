use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::event::DropCause::{Policed, QueueFull, TooLarge};
use skyhaul_core::{Instant, MS, NullSink, SECOND};

use crate::test_support::{
    Events, at, both_ways, burst, drain, drain_numbers, drops, hollow, link, packet, with_outages,
};
use crate::{DirectionConfig, Link, LinkConfig, PolicerConfig, QueueLimit, carried_packets};

/// A byte in a microsecond passes.
const RATE_BPS: u64 = 8_000_000;

/// Perfect link behind such a policer with a bucket of so many bytes.
fn policed(depth_bytes: u64) -> DirectionConfig {
    let policer = Some(PolicerConfig { rate_bps: RATE_BPS, depth_bytes });
    DirectionConfig { policer, ..DirectionConfig::default() }
}

/// Link both ways of such directions.
fn of(direction: DirectionConfig) -> Link {
    link(&both_ways(direction), 1)
}

#[test]
fn what_was_saved_passes_at_once_and_after_that_the_rate() {
    let mut link = of(policed(300));
    let mut events = Events::new();
    for number in 0..4 {
        link.handle(at(0), 0, packet(100, number), &mut events);
    }
    assert_eq!(drops(&events), [(0, 0, Policed)]);
    link.handle(at(99_999), 0, packet(100, 4), &mut events);
    assert_eq!(drops(&events)[1..], [(99_999, 0, Policed)], "a nanosecond too early");
    link.handle(at(100_000), 0, packet(100, 5), &mut events);
    link.handle(at(100_000), 1, packet(300, 6), &mut events);
    assert_eq!(drops(&events).len(), 2, "the other direction has a bucket of its own");
    assert_eq!(drain_numbers(&mut link), [0, 1, 2, 5, 6]);
    let counters = link.counters(0, at(100_000));
    assert_eq!((counters.dropped.policed, counters.dropped.total()), (2, 2));
    assert_eq!((counters.dropped.congestion(), counters.dropped.unserved()), (2, 2));
    assert_eq!((counters.served_bytes, counters.dropped_bytes), (400, 200));
}

#[test]
fn nothing_is_saved_beyond_the_depth_and_a_larger_packet_never_passes() {
    let mut link = of(policed(300));
    let day = at(86_400 * SECOND);
    burst(&mut link, 3, 100);
    link.handle(day, 0, packet(301, 3), &mut NullSink);
    for number in 4..8 {
        link.handle(day, 0, packet(100, number), &mut NullSink);
    }
    assert_eq!(drain_numbers(&mut link), [0, 1, 2, 4, 5, 6], "what was dropped has taken nothing");
}

#[test]
fn it_delays_nothing_and_stands_in_front_of_the_queue() {
    let queue = QueueLimit::Packets(2);
    let mut link = of(DirectionConfig { rate_bps: Some(RATE_BPS / 2), queue, ..policed(300) });
    let mut events = Events::new();
    for number in 0..4 {
        link.handle(at(0), 0, packet(100, number), &mut events);
    }
    assert_eq!(
        drops(&events),
        [(0, 0, QueueFull), (0, 0, Policed)],
        "the third took its tokens all the same"
    );
    let arrived: Vec<u64> = drain(&mut link).iter().map(|(at, ..)| at.as_ns()).collect();
    assert_eq!(arrived, [200_000, 400_000]);
}

#[test]
fn fragments_count_with_their_headers_and_what_is_too_large_takes_nothing() {
    let mut link = of(DirectionConfig { mtu_bytes: Some(700), ..policed(1040) });
    let mut events = Events::new();
    link.handle(at(0), 0, packet(1000, 0), &mut events);
    let mut fragmented = packet(1000, 1);
    fragmented.meta.fields.may_fragment = true;
    link.handle(at(0), 0, fragmented, &mut events);
    link.handle(at(0), 0, packet(20, 2), &mut events);
    link.handle(at(0), 0, packet(1, 3), &mut events);
    assert_eq!(drops(&events), [(0, 0, TooLarge), (0, 0, Policed)]);
    assert_eq!(drain_numbers(&mut link), [1, 2], "1000 and 20 bytes of headers, and 20");
}

#[test]
fn changes_of_the_running_link_leave_the_bucket_alone() {
    let mut link = of(DirectionConfig { rate_bps: Some(RATE_BPS), ..policed(300) });
    burst(&mut link, 3, 100);
    link.set_rate(at(0), 0, Some(100 * RATE_BPS), &mut NullSink).unwrap();
    link.force_outage(at(1), Some(at(2)), &mut NullSink).unwrap();
    let mut events = Events::new();
    link.handle(at(50_000), 0, packet(51, 3), &mut events);
    link.handle(at(50_000), 0, packet(50, 4), &mut events);
    assert_eq!(drops(&events), [(50_000, 0, Policed)]);
}

/// What comes out until a time, sent as fast as it passes.
fn carried_by_sending(config: &LinkConfig, seed: u64, from: Instant, until: Instant) -> u64 {
    let mut link = link(config, seed);
    let (mut now, mut carried, mut entered) = (from, 0, 0);
    while now <= until {
        // One that the policer drops has met no chance.
        while link.queue_bytes(0, now) < 30_000 {
            link.handle(now, 0, hollow(1500, 0), &mut NullSink);
            let dropped = link.counters(0, now).dropped.policed;
            if dropped > entered {
                entered = dropped;
                break;
            }
        }
        while link.poll_transmit(now).is_some() {
            carried += 1;
        }
        now = now.after(MS / 8);
    }
    while link.poll_transmit(until).is_some() {
        carried += 1;
    }
    carried
}

#[test]
fn the_physical_limit_is_what_passes() {
    let policer = Some(PolicerConfig { rate_bps: 3_000_000, depth_bytes: 40_000 });
    for rate_bps in [Some(50_000_000), Some(2_000_000)] {
        let direction = DirectionConfig {
            rate_bps,
            delay_ns: 30 * MS,
            loss: 0.02,
            policer,
            ..DirectionConfig::default()
        };
        let config = with_outages(both_ways(direction), &[(2 * SECOND, 2 * SECOND + 500 * MS)]);
        for (from, until) in [(at(0), at(5 * SECOND)), (at(1_234_567), at(4 * SECOND))] {
            let sent = carried_by_sending(&config, 1, from, until);
            let carried = carried_packets(&config, 1, 0, from, until, 1500).unwrap();
            // The one that is sent enters up to an eighth of a millisecond after it may.
            assert!(carried.abs_diff(sent) <= 1, "{rate_bps:?}: {carried} beside {sent}");
        }
    }
    let unlimited = both_ways(DirectionConfig { policer, ..DirectionConfig::default() });
    assert_eq!(carried_packets(&unlimited, 1, 0, at(0), at(SECOND), 1500), Some(276), "26 at once and 250");
    assert_eq!(carried_packets(&unlimited, 1, 0, at(0), at(SECOND), 40_001), Some(0));
}

/// Arrivals: time since the one before in ns, and size.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    proptest::collection::vec((prop_oneof![Just(0), 0u64..3_000_000], 1u32..2000), 1..200)
}

proptest! {
    #[test]
    fn in_any_time_no_more_passes_than_the_rate_and_the_depth(
        rate_bps in 1u64..1_000_000_000, depth_bytes in 1u64..20_000, arrivals in arrivals(),
    ) {
        let policer = Some(PolicerConfig { rate_bps, depth_bytes });
        let mut link = of(DirectionConfig { policer, ..DirectionConfig::default() });
        let mut now = Instant::ZERO;
        // Times, sizes, and whether they passed.
        let mut seen: Vec<(Instant, u64, bool)> = Vec::new();
        for (number, &(gap_ns, wire_bytes)) in (0..).zip(&arrivals) {
            now = now.after(gap_ns);
            let dropped = link.counters(0, now).dropped.policed;
            link.handle(now, 0, hollow(wire_bytes, number), &mut NullSink);
            let passed = link.counters(0, now).dropped.policed == dropped;
            seen.push((now, wire_bytes.into(), passed));
        }
        // In units of 10^-9 bit, in which all of it is exact.
        let allowed = |since: Instant, until: Instant| {
            u128::from(until.since(since)) * u128::from(rate_bps) + work(depth_bytes)
        };
        for (first, &(since, ..)) in seen.iter().enumerate() {
            let mut passed = 0;
            for &(until, bytes, has_passed) in &seen[first..] {
                passed += if has_passed { work(bytes) } else { 0 };
                prop_assert!(passed <= allowed(since, until));
            }
        }
        // And what was dropped would have been too much of some time that ends with it, or of all.
        for (last, &(until, bytes, has_passed)) in seen.iter().enumerate() {
            if has_passed {
                continue;
            }
            let mut passed = work(bytes);
            let mut is_over = passed > work(depth_bytes);
            for &(since, bytes, has_passed) in seen[..last].iter().rev() {
                passed += if has_passed { work(bytes) } else { 0 };
                is_over |= passed > allowed(since, until);
            }
            prop_assert!(is_over, "dropped at {until:?} without need");
        }
    }
}

fn work(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}
