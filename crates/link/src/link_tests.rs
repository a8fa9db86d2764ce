use alloc::format;
use alloc::vec::Vec;

use skyhaul_core::{Instant, MS, NullSink, SECOND};

use crate::test_support::{Events, at, both_ways, burst, drain, drain_numbers, hollow, link, packet};
use crate::{DirectionConfig, Link, LinkConfig, QueueLimit, Reordering};

fn everything() -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(10_000_000),
        delay_ns: 20 * MS,
        loss: 0.05,
        bit_error_rate: 1e-6,
        reordering: Reordering { probability: 0.1, extra_delay_ns: 3 * MS },
        ..DirectionConfig::default()
    };
    both_ways(direction)
}

#[test]
fn ten_thousand_packets_arrive_when_they_should_to_the_nanosecond() {
    let rate_bps = 7_000_003;
    let direction =
        DirectionConfig { rate_bps: Some(rate_bps), delay_ns: 275 * MS, ..DirectionConfig::default() };
    let mut link = link(&both_ways(direction), 1);
    (0..10_000).for_each(|n| link.handle(Instant::ZERO, 0, hollow(1499, n), &mut NullSink));
    for (n, (time, port, packet)) in (1u128..).zip(drain(&mut link)) {
        let exact = n * 1499 * 8 * u128::from(SECOND) / u128::from(rate_bps);
        assert_eq!(u128::from(time.as_ns()), exact + 275 * u128::from(MS));
        assert_eq!((port, u128::from(packet.meta.flow)), (1, n - 1));
    }
}

#[test]
fn a_packet_comes_out_after_the_delay_and_not_before() {
    let config = both_ways(DirectionConfig { delay_ns: 275 * MS, ..DirectionConfig::default() });
    let mut link = link(&config, 1);
    link.handle(at(5), 1, packet(100, 3), &mut NullSink);
    assert_eq!(link.poll_transmit(at(5 + 275 * MS - 1)), None);
    assert_eq!(link.poll_transmit(at(5 + 275 * MS)), Some((0, packet(100, 3))));
    assert_eq!(link.poll_transmit(Instant::MAX), None);
}

#[test]
fn at_equal_times_port_1_comes_first_and_then_the_order_of_entry() {
    let mut link = link(&LinkConfig::default(), 1);
    for (port, number) in [(1, 10), (0, 20), (1, 11), (0, 21)] {
        link.handle(at(5), port, packet(1, number), &mut NullSink);
    }
    assert_eq!(drain_numbers(&mut link), [20, 21, 10, 11]);
}

#[test]
fn a_spurious_poll_emits_nothing_and_changes_nothing() {
    let mut link = link(&everything(), 1);
    assert_eq!(link.poll_transmit(Instant::MAX), None);
    burst(&mut link, 20, 1000);
    let before = format!("{link:?}");
    let due = link.deadline().unwrap();
    for now in [Instant::ZERO, due.before(1), due.before(MS)] {
        assert_eq!(link.poll_transmit(now), None);
    }
    assert_eq!(format!("{link:?}"), before);
}

#[test]
fn asking_for_the_deadline_changes_nothing() {
    let mut link = link(&everything(), 1);
    assert_eq!(link.deadline(), None);
    burst(&mut link, 20, 1000);
    let before = format!("{link:?}");
    let first = link.deadline();
    assert_eq!(link.deadline(), first);
    assert_eq!(format!("{link:?}"), before);
    assert!(link.poll_transmit(first.unwrap()).is_some(), "the deadline is kept");
}

/// Everything that can be seen from the outside.
fn trace(seed: u64) -> alloc::string::String {
    let mut link = link(&everything(), seed);
    let mut events = Events::new();
    let mut out = Vec::new();
    for n in 0..2000u32 {
        let now = at(u64::from(n) * 700_000);
        link.handle(now, n % 3 % 2, packet(40 + n % 1400, n), &mut events);
        while let Some((port, packet)) = link.poll_transmit(now) {
            out.push((now, port, packet.meta.flow));
        }
    }
    let rest: Vec<_> = drain(&mut link).iter().map(|(t, port, p)| (*t, *port, p.meta.flow)).collect();
    format!("{out:?} {rest:?} {events:?} {:?} {:?}", link.counters(0, at(0)), link.counters(1, at(0)))
}

#[test]
fn two_runs_give_equal_traces_and_another_seed_another() {
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
}

#[test]
fn a_clone_goes_on_like_the_original() {
    let mut link = link(&everything(), 8);
    burst(&mut link, 50, 700);
    let mut clone = link.clone();
    for copy in [&mut link, &mut clone] {
        burst(copy, 50, 900);
    }
    assert_eq!(drain(&mut link), drain(&mut clone));
}

#[test]
fn time_that_runs_backwards_counts_as_the_latest_time_seen() {
    let queue = QueueLimit::Packets(1);
    let config = both_ways(DirectionConfig { delay_ns: 10, queue, ..DirectionConfig::default() });
    let mut link = link(&config, 1);
    for (number, ns) in [(0, 100), (1, 40), (2, 41), (3, 101)] {
        link.handle(at(ns), 0, packet(1, number), &mut NullSink);
    }
    assert_eq!(link.queue_bytes(0, at(0)), 0);
    assert_eq!(link.poll_transmit(at(0)), None);
    let times: Vec<u64> = drain(&mut link).iter().map(|(t, ..)| t.as_ns()).collect();
    assert_eq!(times, [110, 110, 110, 111]);
}

#[test]
fn a_sink_that_wants_nothing_is_not_called() {
    struct Deaf;
    impl skyhaul_core::EventSink for Deaf {
        fn wants(&self) -> bool {
            false
        }
        fn emit(&mut self, _: Instant, _: u64, event: skyhaul_core::Event) {
            panic!("{event:?}");
        }
    }
    let config = both_ways(DirectionConfig { loss: 1.0, ..DirectionConfig::default() });
    let mut link = link(&config, 1);
    link.handle(at(0), 0, packet(1, 0), &mut Deaf);
    assert_eq!(link.counters(0, at(0)).dropped.random_loss, 1);
}

#[test]
fn a_senseless_configuration_makes_no_link() {
    let config = both_ways(DirectionConfig { loss: 2.0, ..DirectionConfig::default() });
    assert_eq!(Link::new(config, 1, 0).unwrap_err().field, "forward.loss");
}
