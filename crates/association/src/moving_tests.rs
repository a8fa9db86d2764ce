//! Peers whose address changes.

use std::net::SocketAddr;
use std::vec;
use std::vec::Vec;

use skyhaul_core::SECOND;
use skyhaul_core::envelope::Mode;

use crate::word::WORD_BYTES;
use crate::world::{A, B, Datagram, World};
use crate::*;

fn elsewhere(port: u16) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 7], port))
}

/// Ends that talk, with the association's name at both.
fn talking() -> (World, AssociationId, AssociationId) {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"a segment from a");
    world.settle();
    let back = world.ends[B].last.unwrap();
    world.send(B, back, b"a segment from b");
    world.settle();
    for end in &mut world.ends {
        end.delivered.clear();
        end.events.clear();
    }
    (world, id, back)
}

/// Address that an end has of the other.
fn known(world: &World, end: usize, id: AssociationId) -> SocketAddr {
    world.ends[end].associations.address(id).unwrap()
}

/// Seals a segment at B; whether it may leave.
fn leaves(world: &mut World, id: AssociationId, octets: usize) -> bool {
    let mut datagram = vec![0; octets + OVERHEAD_BYTES];
    let sealed = world.ends[B].associations.seal(world.now, id, &mut datagram);
    assert!(matches!(sealed, Ok(_) | Err(SealError::Unproven)), "{sealed:?}");
    sealed.is_ok()
}

#[test]
fn a_peer_that_moves_is_followed_and_asked_once() {
    let (mut world, id, back) = talking();
    world.ends[A].address = elsewhere(1);
    world.send(A, id, b"from a new address");
    let seen = world.settle();
    assert_eq!(known(&world, B, back), elsewhere(1));
    assert_eq!(world.ends[B].events, [Event::Moved { association: back, address: elsewhere(1) }]);
    assert_eq!(seen.len(), 3, "a challenge and its answer");
    assert!(seen[1..].iter().all(|datagram| datagram.octets.len() == OVERHEAD_BYTES + WORD_BYTES));
    world.send(B, back, b"to a new address");
    world.settle();
    assert_eq!(world.ends[A].delivered, [b"to a new address"]);
    assert_eq!(world.ends[B].delivered, [b"from a new address"]);
    assert!((0..100).all(|_| leaves(&mut world, back, 1000)), "the address is proven");
}

#[test]
fn the_end_that_was_opened_may_move_too() {
    let (mut world, id, back) = talking();
    world.ends[B].address = elsewhere(1);
    world.send(B, back, b"from a new address");
    world.settle();
    assert_eq!(known(&world, A, id), elsewhere(1));
    world.send(A, id, b"to a new address");
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"to a new address"]);
}

#[test]
fn three_times_as_much_goes_to_a_new_address_until_it_answers() {
    let (mut world, id, back) = talking();
    world.ends[A].address = elsewhere(1);
    world.send(A, id, &[7; 1000]);
    let record = world.take(A).remove(0);
    world.deliver(&record);
    let challenge = world.take(B).remove(0);
    let mut sent = challenge.octets.len();
    while leaves(&mut world, back, 500) {
        sent += 500 + OVERHEAD_BYTES;
    }
    assert!(sent <= 3 * 1024 && sent > 2 * 1024, "{sent}");
    world.deliver(&challenge);
    world.settle();
    assert!((0..100).all(|_| leaves(&mut world, back, 500)));
}

#[test]
fn a_lost_challenge_goes_again() {
    let (mut world, id, back) = talking();
    world.ends[A].address = elsewhere(1);
    world.send(A, id, &[7; 1000]);
    let record = world.take(A).remove(0);
    world.deliver(&record);
    world.wire.clear();
    world.pass(SECOND + SECOND / 2);
    world.settle();
    assert!((0..100).all(|_| leaves(&mut world, back, 500)), "it is answered the second time");
}

#[test]
fn neither_copies_nor_late_records_nor_forgeries_move_anybody() {
    let (mut world, id, back) = talking();
    let here = world.ends[A].address;
    world.send(A, id, b"a late one, that is");
    world.send(A, id, b"a punctual segment");
    let [mut late, mut copy] = [world.wire.remove(0), world.wire.remove(0)];
    world.deliver(&copy);
    let mut forged = copy.clone();
    forged.octets[7] += 1; // a higher number
    for datagram in [&mut late, &mut copy, &mut forged] {
        datagram.from = elsewhere(1);
        world.deliver(datagram);
    }
    assert_eq!((known(&world, B, back), world.wire.len()), (here, 0));
    assert_eq!(world.ends[B].delivered.len(), 2, "a late one from elsewhere is one, all the same");
    let counters = world.ends[B].associations.counters();
    assert_eq!((counters.replayed, counters.forged), (1, 1));
}

#[test]
fn who_only_forwards_a_record_cannot_answer_and_loses_the_peer_again() {
    let (mut world, id, back) = talking();
    let here = world.ends[A].address;
    world.send(A, id, &[1; 1000]);
    let mut stolen = world.take(A).remove(0);
    stolen.from = elsewhere(1);
    world.deliver(&stolen);
    assert_eq!(known(&world, B, back), elsewhere(1));
    let challenge = world.take(B).remove(0);
    let echo = Datagram { from: elsewhere(1), to: world.ends[B].address, octets: challenge.octets };
    world.deliver(&echo);
    assert!(!(0..10).all(|_| leaves(&mut world, back, 1000)), "a reflection is no answer");
    world.send(A, id, b"here, as always");
    world.settle();
    assert_eq!(known(&world, B, back), here);
    assert!((0..100).all(|_| leaves(&mut world, back, 1000)));
}

#[test]
fn an_end_that_only_answers_speaks_up_after_a_second_of_silence() {
    let (mut world, _, back) = talking();
    world.send(B, back, b"a segment, to begin");
    world.settle();
    world.ends[A].address = elsewhere(1);
    world.send(B, back, b"lost: nobody is there");
    world.settle();
    let before = world.now;
    world.pass(SPEAK_UP_NS);
    let spoken = world.take(A);
    assert!(spoken.len() == 1 && spoken[0].octets.len() == OVERHEAD_BYTES, "an empty record");
    assert_eq!(world.now.since(before), SECOND);
    world.deliver_all(&spoken);
    world.settle();
    world.send(B, back, b"found again");
    world.settle();
    assert_eq!(world.ends[A].delivered.last().unwrap(), b"found again");
}

#[test]
fn silence_between_idle_ends_costs_a_few_records() {
    let (mut world, _, back) = talking();
    world.send(B, back, b"a segment, the last one");
    world.settle();
    let mut records = 0;
    for _ in 0..600 {
        world.pass(SECOND);
        records += world.settle().len();
    }
    assert!((6..=16).contains(&records), "{records}");
}

#[test]
fn nobody_moves_between_ipv4_and_ipv6() {
    let (mut world, id, back) = talking();
    let here = world.ends[A].address;
    world.ends[A].address = "[2001:db8::7]:4700".parse().unwrap();
    world.send(A, id, b"from another family");
    world.settle();
    assert_eq!((known(&world, B, back), back.is_ipv6()), (here, false), "sizes of packets depend on it");
    assert_eq!(world.ends[B].delivered, Vec::from([b"from another family".to_vec()]));
}
