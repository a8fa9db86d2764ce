//! Doubts and their ends: real falls, queues that are full, and how often chance passes for a fall.

use super::*;
use crate::{MS, Stream};

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

/// A doubt that began at 100 ms: packets of 1500 bytes are lost, new ones have 1280.
fn doubted() -> BlackHole {
    let mut hole = BlackHole::default();
    hole.large_arrived(at(1));
    (0..5).for_each(|_| hole.large_lost(at(10)));
    assert!(!hole.conclude(at(100), 1280, 576));
    assert_eq!(hole.doubted(), Some((1280, at(100))));
    hole
}

#[test]
fn a_fall_is_proven_by_thirty_four_packets() {
    let mut hole = doubted();
    for packets in 1.. {
        if packets % 4 == 0 {
            hole.large_lost(at(110));
        } else {
            hole.small_arrived(1);
        }
        if hole.conclude(at(300), 1280, 576) {
            assert_eq!(packets, 34);
            return;
        }
    }
}

#[test]
fn what_left_before_a_doubt_proves_nothing_and_what_arrives_of_it_ends_the_doubt() {
    let mut hole = doubted();
    hole.small_arrived(100);
    (0..50).for_each(|_| hole.large_lost(at(99)));
    assert!(!hole.conclude(at(300), 1280, 576));
    hole.large_arrived(at(9));
    assert!(hole.doubted().is_some(), "older than the row");
    hole.large_arrived(at(11));
    assert_eq!((hole.doubted(), hole.row_since()), (None, None));
}

#[test]
fn where_even_small_packets_are_lost_smaller_ones_are_tried() {
    let mut hole = doubted();
    (0..5).for_each(|_| hole.small_lost(at(101)));
    assert!(!hole.conclude(at(300), 1280, 576));
    assert_eq!(hole.doubted(), Some((576, at(300))));
    (0..BLIND_PACKETS).for_each(|_| hole.small_lost(at(301)));
    assert!(hole.conclude(at(500), 1280, 576), "nothing arrives at all");
}

#[test]
fn where_nothing_small_is_sent_a_long_row_decides() {
    let mut hole = doubted();
    for lost in 1..=BLIND_PACKETS {
        hole.large_lost(at(101));
        assert_eq!(hole.conclude(at(300), 1280, 576), lost == BLIND_PACKETS, "{lost}");
    }
}

/// Doubts of 10,000 in which the path is blamed, where every packet is lost with this chance, whatever its
/// size. One of four that leave is large; a report tells of eight at a time.
fn blamed(loss_percent: u64) -> u32 {
    let mut dice = Stream::new(loss_percent, "doubts");
    let mut is_lost = || dice.next_u64() % 100 < loss_percent;
    let mut doubt_is_blamed = || {
        let mut hole = doubted();
        loop {
            for packet in 0..8 {
                match (packet % 4 == 0, is_lost()) {
                    (true, true) => hole.large_lost(at(101)),
                    (true, false) => return false,
                    (false, true) => hole.small_lost(at(101)),
                    (false, false) => hole.small_arrived(1),
                }
            }
            if hole.conclude(at(101), 1280, 576) {
                return true;
            }
        }
    };
    (0..10_000).filter(|_| doubt_is_blamed()).count() as u32
}

#[test]
fn chance_passes_for_a_fall_once_in_thousands_of_doubts() {
    let counts: std::vec::Vec<u32> = (10..=70).step_by(10).map(blamed).collect();
    assert!(counts.iter().all(|&count| count <= 3), "of 10,000 at a loss of 10, 20 ... 70 %: {counts:?}");
}

#[test]
fn rows_that_are_usual_raise_no_doubt_and_decide_none() {
    let mut dice = Stream::new(1, "overload");
    let mut hole = BlackHole::default();
    hole.full_arrived(at(1), 10);
    hole.large_arrived(at(1));
    (0..90).for_each(|_| hole.large_lost(at(0))); // as the first report tells
    for packet in 2..100_000 {
        if dice.next_u64().is_multiple_of(10) {
            hole.full_arrived(at(packet), 1);
            hole.large_arrived(at(packet));
        } else {
            hole.large_lost(at(packet));
        }
        assert!(!hole.conclude(at(packet), 1280, 576), "nine of ten are lost, whatever their size");
    }
    (0..200).for_each(|_| hole.large_lost(at(200_000)));
    assert!(!hole.conclude(at(200_000), 1280, 576));
    assert_eq!(hole.doubted(), Some((1280, at(200_000))), "more than is usual");
}

#[test]
fn a_short_packet_that_arrives_makes_no_losses_usual() {
    let mut hole = BlackHole::default();
    hole.large_arrived(at(50)); // the rest of a file: above the least size, and far from full
    (0..150).for_each(|packet| hole.large_lost(at(packet / 4)));
    (0..5).for_each(|_| hole.large_lost(at(60)));
    assert!(!hole.conclude(at(100), 576, 576));
    assert_eq!(hole.doubted(), Some((576, at(100))), "five in a row are enough");
}
