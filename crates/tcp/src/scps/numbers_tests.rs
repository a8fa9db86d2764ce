//! Numbers of connections in compressed headers.

use alloc::vec::Vec;
use core::net::Ipv4Addr;
use core::num::NonZeroU8;

use super::numbers::Numbers;
use crate::segment::Way;

fn way(last: u8) -> Way {
    Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, last).into() }
}

fn number(value: u8) -> NonZeroU8 {
    NonZeroU8::new(value).unwrap()
}

#[test]
fn a_pair_of_hosts_has_255_numbers_and_the_next_connection_none() {
    let mut numbers = Numbers::new(0);
    let mut taken: Vec<_> = (0..255).map(|id| numbers.take(way(2), id).unwrap().get()).collect();
    taken.sort_unstable();
    assert_eq!(taken, (1..=255).collect::<Vec<_>>());
    assert_eq!(numbers.take(way(2), 255), None);
    assert!(numbers.take(way(3), 256).is_some(), "other hosts have their own");
    numbers.forget(way(2), 9, Some(number(10)), None);
    assert_eq!(numbers.take(way(2), 257), Some(number(10)), "the tenth is free again");
}

#[test]
fn every_number_is_given_out_wherever_that_begins() {
    for start in [0, 1, 200, 255] {
        let mut numbers = Numbers::new(start);
        assert!(!numbers.are_used());
        let first = numbers.take(way(2), 0).unwrap().get();
        assert_eq!((first, numbers.are_used()), (start.checked_add(1).unwrap_or(1), true));
        let mut taken: Vec<_> = (1..255).map(|id| numbers.take(way(2), id).unwrap().get()).collect();
        taken.push(first);
        taken.sort_unstable();
        assert_eq!(taken, (1..=255).collect::<Vec<_>>());
        assert_eq!(numbers.take(way(2), 255), None);
    }
}

#[test]
fn a_number_is_not_given_out_again_at_once() {
    let mut numbers = Numbers::new(0);
    let first = numbers.take(way(2), 1).unwrap();
    numbers.forget(way(2), 1, Some(first), None);
    assert_ne!(numbers.take(way(2), 2), Some(first));
}

#[test]
fn a_peer_s_number_belongs_to_the_connection_that_had_it_last() {
    let mut numbers = Numbers::new(0);
    numbers.learn(way(2), number(7), 1);
    assert_eq!((numbers.told_by(way(2), 7), numbers.told_by(way(3), 7)), (Some(1), None));
    assert_eq!(numbers.told_by(way(2), 0), None);
    numbers.learn(way(2), number(7), 2);
    numbers.forget(way(2), 1, None, Some(number(7)));
    assert_eq!(numbers.told_by(way(2), 7), Some(2));
    numbers.forget(way(2), 2, None, Some(number(7)));
    assert_eq!(numbers.told_by(way(2), 7), None);
}
