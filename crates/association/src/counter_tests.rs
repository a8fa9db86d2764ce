//! Counters of several processes of one machine, which share a disk.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::RESERVATION;
use crate::counter::Counter;

/// What a disk grants: counters that it granted to nobody before.
fn grant(disk: &mut u64, up_to: u64) -> Range<u64> {
    let from = (*disk).max(up_to - RESERVATION);
    *disk = from + RESERVATION;
    from..*disk
}

#[test]
fn two_processes_of_a_machine_never_use_one_counter() {
    let mut disk = 1;
    let mut processes = [Counter::new(disk), Counter::new(disk)];
    let mut used = BTreeSet::new();
    for turn in 0..1000_usize {
        // The other one of the two follows what the acceptor last heard.
        let counter = &mut processes[turn % 7 % 2];
        if let Some(up_to) = counter.ask() {
            counter.reserve(grant(&mut disk, up_to));
        }
        let taken = counter.take();
        assert!(taken == 0 || used.insert(taken), "{taken} comes twice");
        let next = used.last().copied().unwrap_or(0) + 1;
        counter.count_on_from(next);
    }
    assert!(used.len() > 900, "{} of 1000 handshakes had a counter", used.len());
}

#[test]
fn what_lies_in_front_of_a_grant_is_another_ones() {
    let mut counter = Counter::new(10);
    counter.reserve(10..20);
    assert_eq!(counter.take(), 10);
    counter.reserve(30..40);
    assert_eq!(counter.take(), 30);
    counter.reserve(5..12);
    assert_eq!(counter.take(), 31, "an earlier grant takes nothing back");
}
