//! A memory image that runs twice: each run has the other's keys, and no nonce comes twice all the same
//! (`docs/spec/protection.md`, section 4.6). The AEAD of all tests records them.

use std::vec::Vec;

use skyhaul_core::SECOND;
use skyhaul_core::envelope::Mode;

use crate::nonces::forget;
use crate::world::{A, B, World};
use crate::{AssociationId, Event, IDLE_NS, Secret};

/// What ran before the image was taken.
type Before = fn(&mut World) -> AssociationId;

/// An association that is in use.
fn in_use(world: &mut World) -> AssociationId {
    let id = world.open(A);
    for round in 0..5_u8 {
        world.send(A, id, &[round; 50]);
        world.settle();
        let theirs = world.ends[B].last.unwrap();
        world.send(B, theirs, &[round; 60]);
        world.settle();
    }
    id
}

/// Message 1 has left, early data behind it; nobody has answered.
fn calling(world: &mut World) -> AssociationId {
    let id = world.open(A);
    world.send(A, id, &[1; 50]);
    world.send(A, id, &[2; 50]);
    id
}

/// The peer's message 1 is answered, and the answer is under way.
fn called(world: &mut World) -> AssociationId {
    let theirs = world.open(B);
    world.send(B, theirs, &[1; 50]);
    let first = world.take(B);
    world.deliver_all(&first);
    world.ends[A].last.unwrap_or(theirs)
}

/// Goes on: A has something to say, and so has B.
fn go_on(world: &mut World, id: AssociationId, mark: u8) {
    for round in 0..4_u8 {
        if world.ends[A].associations.contains(id) {
            world.send(A, id, &[mark, round, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        }
        world.settle();
        world.pass(7 * SECOND);
        world.settle();
        if let Some(theirs) = world.ends[B].last.filter(|id| world.ends[B].associations.contains(*id)) {
            world.send(B, theirs, &[mark, round, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
        }
        world.settle();
    }
}

/// Lets a memory image of A run twice beside one B, after `before`. `renews`: both runs find out.
fn runs_twice(mode: Mode, before: Before, renews: bool) -> World {
    let mut world = World::acquainted(mode);
    let id = before(&mut world);
    // Equal seeds and calls give equal states: the copy.
    let mut copy = World::acquainted(mode);
    forget();
    assert_eq!(before(&mut copy), id);
    for mark in [10, 20] {
        if renews {
            let now = world.now;
            world.ends[A].associations.renew(now, &Secret::new([mark; 32]));
        }
        world.collect();
        go_on(&mut world, id, mark);
        std::mem::swap(&mut world.ends[A], &mut copy.ends[A]);
    }
    world
}

/// Segments with this mark that arrived at an end.
fn marked(world: &World, end: usize, mark: u8) -> usize {
    world.ends[end].delivered.iter().filter(|segment| segment[0] == mark).count()
}

#[test]
fn no_nonce_comes_twice_where_a_memory_image_runs_twice() {
    for mode in [Mode::Encrypted, Mode::Authenticated] {
        for before in [in_use as Before, calling, called] {
            let world = runs_twice(mode, before, true);
            assert_eq!(world.ends[A].associations.counters().renewals, 1);
            for mark in [10, 20] {
                assert!(marked(&world, B, mark) > 0, "{mode:?}: B hears run {mark}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "came twice")]
fn a_memory_image_that_runs_twice_and_is_not_told_repeats_nonces() {
    runs_twice(Mode::Encrypted, in_use, false);
}

#[test]
fn new_keys_after_a_jump_cost_no_association_and_no_round_trip() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = in_use(&mut world);
    let theirs = world.ends[B].last.unwrap();
    world.ends[B].delivered.clear();
    let now = world.now;
    world.ends[A].associations.renew(now, &Secret::new([9; 32]));
    assert!(!world.ends[A].associations.is_confirmed(id), "nobody has proven new keys");
    assert!(world.ends[A].associations.has_proven_keys(id), "no report of a refusal is believed meanwhile");
    // Late records of the peer still open.
    world.send(B, theirs, &[3; 40]);
    world.settle();
    assert_eq!(world.ends[A].delivered.last().unwrap(), &[3; 40]);
    world.send(A, id, &[4; 40]);
    let first: Vec<_> = world.take(A);
    world.deliver_all(&first);
    assert_eq!(world.ends[B].delivered, [[4; 40]], "it rides in message 1");
    world.settle();
    assert!(world.ends[A].associations.is_confirmed(id));
    assert_eq!(world.ends[B].last, Some(theirs), "the association goes on");
    assert!(!world.ends[B].events.iter().any(|event| matches!(event, Event::Closed { .. })));
}

#[test]
fn an_acceptor_that_has_given_its_keys_up_closes_what_stays_silent() {
    let mut world = World::acquainted(Mode::Encrypted);
    in_use(&mut world);
    let theirs = world.ends[B].last.unwrap();
    let now = world.now;
    world.ends[B].associations.renew(now, &Secret::new([9; 32]));
    world.pass(IDLE_NS / 2);
    assert!(world.ends[B].associations.contains(theirs));
    world.wire.clear();
    world.pass(IDLE_NS);
    assert!(!world.ends[B].associations.contains(theirs));
}
