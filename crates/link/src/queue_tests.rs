use skyhaul_core::event::DropCause::QueueFull;
use skyhaul_core::{Instant, NullSink};

use crate::queue::Queue;
use crate::test_support::{Events, at, both_ways, drain, drain_numbers, drops, hollow, link, packet};
use crate::{DirectionConfig, Link, MAX_PACKETS, QueueLimit};

/// 1 byte takes 1 microsecond.
fn limited(queue: QueueLimit) -> Link {
    let direction = DirectionConfig { rate_bps: Some(8_000_000), queue, ..DirectionConfig::default() };
    link(&both_ways(direction), 1)
}

#[test]
fn a_limit_in_packets_counts_the_one_in_service() {
    let mut link = limited(QueueLimit::Packets(3));
    let mut events = Events::new();
    for number in 0..5 {
        link.handle(at(0), 0, packet(100, number), &mut events);
    }
    assert_eq!(drops(&events), [(0, 0, QueueFull); 2]);
    link.handle(at(99_999), 0, packet(100, 5), &mut events);
    assert_eq!(drops(&events).len(), 3, "the first one's last bit is not out yet");
    link.handle(at(100_000), 0, packet(100, 6), &mut events);
    link.handle(at(100_000), 0, packet(100, 7), &mut events);
    assert_eq!(drops(&events)[3..], [(100_000, 0, QueueFull)], "one place is free at its end");
    assert_eq!(drain_numbers(&mut link), [0, 1, 2, 6]);
}

#[test]
fn a_limit_in_bytes_takes_what_fits_exactly() {
    let mut link = limited(QueueLimit::Bytes(250));
    let mut events = Events::new();
    for (number, bytes) in [(0, 100), (1, 100), (2, 51), (3, 50), (4, 1)] {
        link.handle(at(0), 0, packet(bytes, number), &mut events);
    }
    assert_eq!(drops(&events), [(0, 0, QueueFull); 2]);
    assert_eq!(link.queue_bytes(0, at(0)), 250);
    assert_eq!(link.queue_bytes(0, at(99_999)), 250);
    assert_eq!(link.queue_bytes(0, at(100_000)), 150);
    assert_eq!(link.queue_bytes(0, at(250_000)), 0);
    assert_eq!(link.queue_bytes(1, at(0)), 0, "the other direction has its own");
    assert_eq!(link.counters(0, at(200_000)).queue_bytes, 50);
    assert_eq!(link.counters(0, at(200_000)).max_queue_bytes, 250);
    assert_eq!(drain_numbers(&mut link), [0, 1, 3]);
}

#[test]
fn a_packet_larger_than_the_queue_never_fits() {
    let mut link = limited(QueueLimit::Bytes(250));
    link.handle(at(0), 0, packet(251, 0), &mut NullSink);
    assert_eq!(link.counters(0, at(0)).dropped.queue_full, 1);
}

#[test]
fn without_a_rate_nothing_ever_waits() {
    let direction = DirectionConfig { queue: QueueLimit::Packets(1), ..DirectionConfig::default() };
    let mut link = link(&both_ways(direction), 1);
    for number in 0..10 {
        link.handle(at(5), 0, packet(100, number), &mut NullSink);
    }
    assert_eq!(link.counters(0, at(5)).max_queue_bytes, 0);
    assert_eq!(drain(&mut link).len(), 10);
}

#[test]
fn an_unlimited_queue_has_a_hard_bound() {
    let mut queue = Queue::new(QueueLimit::Unlimited);
    for _ in 0..MAX_PACKETS {
        assert!(queue.has_room(u32::MAX));
        queue.push(at(1), u32::MAX, 0);
    }
    assert!(!queue.has_room(0));
    queue.release(at(1));
    assert!(queue.has_room(0));
    assert_eq!(queue.bytes(at(1)), 0);
}

#[test]
fn so_has_what_is_under_way() {
    let mut link = link(&both_ways(DirectionConfig { delay_ns: 1, ..DirectionConfig::default() }), 1);
    for number in 0..=MAX_PACKETS as u32 {
        link.handle(Instant::ZERO, 0, hollow(1, number), &mut NullSink);
    }
    assert_eq!(link.counters(0, at(0)).dropped.queue_full, 1);
    assert_eq!(link.packets_inside(0), MAX_PACKETS);
}
