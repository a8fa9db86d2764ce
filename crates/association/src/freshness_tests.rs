use std::vec::Vec;

use skyhaul_core::SECOND;
use skyhaul_core::envelope::Mode;

use crate::world::{A, B, Datagram, World};
use crate::*;

const DAY_NS: u64 = 86_400 * SECOND;

#[test]
fn first_contact_withholds_early_data_until_the_opener_has_proven_the_keys() {
    for mode in [Mode::Encrypted, Mode::Authenticated] {
        let mut world = World::new(mode);
        let id = world.open(A);
        world.send(A, id, b"one");
        world.send(A, id, b"two");
        for datagram in world.take(A) {
            world.deliver(&datagram);
        }
        assert!(world.ends[B].delivered.is_empty() && world.ends[B].associations.is_empty());
        world.settle();
        assert_eq!(world.ends[B].delivered, [b"one", b"two"]);
    }
}

#[test]
fn with_a_token_early_data_is_delivered_at_once() {
    for mode in [Mode::Encrypted, Mode::Authenticated] {
        let mut world = World::acquainted(mode);
        let id = world.open(A);
        world.send(A, id, b"one");
        world.send(A, id, b"two");
        for datagram in world.take(A) {
            world.deliver(&datagram);
        }
        assert_eq!(world.ends[B].delivered, [b"one", b"two"]);
        let back = world.ends[B].last.unwrap();
        let accepted = world.ends[B].events.iter().find(|event| matches!(event, Event::Accepted { .. }));
        assert!(matches!(accepted, Some(Event::Accepted { is_address_proven: true, .. })), "{accepted:?}");
        world.send(B, back, b"answer");
        let seen = world.settle();
        assert_eq!(seen.iter().filter(|datagram| datagram.from == world.ends[B].address).count(), 3);
        assert_eq!(world.ends[A].delivered, [b"answer"], "half a round trip behind the question");
    }
}

#[test]
fn a_token_of_another_address_proves_no_address() {
    let mut world = World::acquainted(Mode::Encrypted);
    world.ends[A].address = "198.51.100.9:1".parse().unwrap();
    let id = world.open(A);
    world.send(A, id, b"x");
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"x"], "it is fresh all the same");
    let accepted = world.ends[B].events.iter().find(|event| matches!(event, Event::Accepted { .. }));
    assert!(matches!(accepted, Some(Event::Accepted { is_address_proven: false, .. })));
}

/// World in which a fresh message 1 with early data was delivered, and all that was sent then.
fn captured() -> (World, Vec<Datagram>) {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"once");
    world.send(A, id, b"more");
    let sent = world.take(A);
    world.wire.clone_from(&sent);
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"once", b"more"]);
    (world, sent)
}

fn replay(world: &mut World, sent: &[Datagram]) {
    world.deliver_all(sent);
    world.take(B);
    assert_eq!(world.ends[B].delivered.len(), 2, "nothing is delivered again");
}

#[test]
fn what_is_replayed_is_delivered_once() {
    let (mut world, mut sent) = captured();
    replay(&mut world, &sent);
    world.pass(60 * SECOND);
    replay(&mut world, &sent);
    world.pass(DAY_NS);
    replay(&mut world, &sent);
    assert!(world.ends[B].events.contains(&Event::CounterTaken { peer: world.ends[B].peer }));
    for datagram in &mut sent {
        datagram.from = "203.0.113.5:99".parse().unwrap();
    }
    replay(&mut world, &sent);
    world.ends[B].restart(true);
    replay(&mut world, &sent);
}

#[test]
fn what_is_held_back_for_a_day_is_delivered_once_at_most() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"held");
    let held = world.take(A);
    world.ends[A].associations.close(id);
    world.pass(DAY_NS);
    for _ in 0..3 {
        world.deliver_all(&held);
    }
    assert!(world.ends[B].delivered.len() <= 1);
    world.pass(DAY_NS);
    world.deliver_all(&held);
    assert!(world.ends[B].delivered.len() <= 1);
    assert!(world.ends[B].associations.is_empty(), "what was never confirmed is closed");
}

#[test]
fn a_disk_that_went_back_is_withheld_from_and_counts_on() {
    let mut world = World::acquainted(Mode::Encrypted);
    let backup = world.ends[A].disk;
    let id = world.open(A);
    world.send(A, id, b"one");
    world.settle();
    world.ends[A].disk = backup;
    world.ends[A].restart(true);
    // Reserved again from where the backup was: counters of the first life come again.
    for expected in [b"two", b"six"] {
        world.collect();
        let id = world.open(A);
        world.send(A, id, expected);
        world.settle();
        assert_eq!(world.ends[B].delivered.last().unwrap(), expected);
    }
    assert_eq!(world.deliveries(B).values().max(), Some(&1));
}

#[test]
fn two_machines_with_one_identity_are_told_of() {
    let mut world = World::acquainted(Mode::Encrypted);
    let clone = world.ends[A].disk;
    world.ends[A].restart(true);
    world.collect();
    let id = world.open(A);
    world.send(A, id, b"first");
    world.settle();
    world.ends[A].disk = clone;
    world.ends[A].restart(true);
    world.collect();
    let id = world.open(A);
    world.send(A, id, b"other");
    let sent = world.take(A);
    world.deliver_all(&sent);
    assert!(world.ends[B].events.contains(&Event::CounterTaken { peer: world.ends[B].peer }));
    assert_eq!(world.ends[B].delivered, [b"first"], "withheld");
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"first", b"other"]);
}

#[test]
fn an_acceptor_that_restarted_withholds_and_then_knows_its_peer_again() {
    let mut world = World::acquainted(Mode::Encrypted);
    world.ends[B].restart(true);
    for (at_once, segment) in [(false, b"one"), (true, b"two")] {
        let id = world.open(A);
        world.send(A, id, segment);
        let sent = world.take(A);
        world.deliver_all(&sent);
        assert_eq!(world.ends[B].delivered.contains(&segment.to_vec()), at_once);
        world.settle();
        assert!(world.ends[B].delivered.contains(&segment.to_vec()));
    }
}

#[test]
fn without_room_for_the_counter_nothing_is_fresh_and_nothing_refused() {
    let mut world = World::acquainted(Mode::Encrypted);
    world.ends[A].disk.is_writable = false;
    world.ends[A].restart(true);
    for segment in [b"one", b"two"] {
        let id = world.open(A);
        world.send(A, id, segment);
        let sent = world.take(A);
        world.deliver_all(&sent);
        assert!(!world.ends[B].delivered.contains(&segment.to_vec()));
        world.settle();
        assert!(world.ends[B].delivered.contains(&segment.to_vec()));
    }
}

#[test]
fn counters_are_reserved_ahead_and_never_used_twice() {
    let mut world = World::acquainted(Mode::Encrypted);
    for life in 0..3 {
        for _ in 0..RESERVATION {
            let id = world.open(A);
            world.send(A, id, b"x");
            world.settle();
            world.ends[A].associations.close(id);
        }
        assert!(
            !world.ends[B].events.contains(&Event::CounterTaken { peer: world.ends[B].peer }),
            "life {life}"
        );
        world.ends[A].restart(true);
        world.collect();
    }
    assert_eq!(world.ends[B].early + world.ends[B].delivered.len(), 3 * RESERVATION as usize);
}

#[test]
fn what_is_withheld_is_bounded() {
    let mut world = World::new(Mode::Encrypted);
    let id = world.open(A);
    for _ in 0..100 {
        world.send(A, id, &[1; 1000]);
    }
    for datagram in world.take(A) {
        world.deliver(&datagram);
    }
    world.settle();
    assert_eq!(world.ends[B].delivered.len(), MAX_WITHHELD_BYTES / 1000);
}

#[test]
fn a_fresh_handshake_that_gave_way_is_not_delivered_again() {
    let mut world = World::acquainted(Mode::Encrypted);
    let mut sent = Vec::new();
    for number in 0..=MAX_PENDING as u8 {
        let id = world.open(A);
        world.send(A, id, &[number]);
        sent.extend(world.take(A));
        if number == 0 {
            continue;
        }
        world.ends[A].associations.close(id);
    }
    world.deliver_all(&sent);
    assert_eq!(world.ends[B].delivered.len(), MAX_PENDING + 1, "all are fresh, none is refused");
    world.wire.clear();
    for _ in 0..200 {
        // The opener of the first one goes on: its message, and then another one, without that segment.
        world.pass(SECOND);
        world.settle();
    }
    assert_eq!(world.deliveries(B)[&[0][..]], 1);
    assert!(world.ends[A].associations.len() == 1 && world.ends[B].associations.len() == 1);
}
