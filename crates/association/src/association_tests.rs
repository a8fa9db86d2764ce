use std::vec::Vec;

use skyhaul_core::SECOND;
use skyhaul_core::envelope::Mode;

use crate::world::{A, B, Datagram, World};
use crate::*;

/// Ends that talk, and the association's name at both.
fn talking(mode: Mode) -> (World, AssociationId, AssociationId) {
    let mut world = World::acquainted(mode);
    let id = world.open(A);
    world.send(A, id, b"begin");
    world.settle();
    let back = world.ends[B].last.unwrap();
    world.send(B, back, b"begun");
    world.settle();
    for end in &mut world.ends {
        end.delivered.clear();
        end.events.clear();
    }
    (world, id, back)
}

/// Messages among datagrams.
fn messages(seen: &[Datagram]) -> usize {
    seen.iter().filter(|datagram| datagram.octets[1..4] == [0; 3]).count()
}

#[test]
fn keys_are_renewed_every_two_hours_beside_the_flow() {
    let (mut world, id, back) = talking(Mode::Encrypted);
    let mut handshakes = Vec::new();
    for minute in 0..600_u32 {
        world.send(A, id, &minute.to_be_bytes());
        world.send(B, back, &minute.to_be_bytes());
        if messages(&world.settle()) > 0 {
            handshakes.push(minute);
        }
        world.pass(60 * SECOND);
    }
    assert_eq!(handshakes, [120, 240, 360, 480]);
    for end in [A, B] {
        let times = world.deliveries(end);
        assert!(times.len() == 600 && times.values().all(|&times| times == 1), "each segment once");
    }
    assert_eq!(world.ends[A].associations.len() + world.ends[B].associations.len(), 2, "one association");
}

#[test]
fn late_records_of_the_last_keys_open_for_a_minute() {
    let (mut world, id, _) = talking(Mode::Encrypted);
    world.send(A, id, b"late");
    world.send(A, id, b"too late");
    let late = world.take(A);
    world.pass(REHANDSHAKE_NS);
    world.send(A, id, b"new");
    world.settle();
    assert_eq!(world.ends[B].events.len(), 1, "confirmed anew: {:?}", world.ends[B].events);
    world.deliver(&late[0]);
    assert_eq!(world.ends[B].delivered, [&b"new"[..], b"late"]);
    world.pass(LATE_NS);
    world.deliver(&late[1]);
    assert_eq!(world.ends[B].delivered.len(), 2);
    assert_eq!(world.ends[B].associations.counters().unknown_index, 1, "the keys are wiped");
}

#[test]
fn an_end_that_hears_nothing_finds_a_peer_that_restarted() {
    let (mut world, id, _) = talking(Mode::Encrypted);
    world.ends[B].restart(true);
    for _ in 0..8 {
        world.send(A, id, b"anybody?");
        world.settle();
        world.pass(SECOND);
    }
    assert!(world.ends[B].delivered.len() >= 2, "{}", world.ends[B].delivered.len());
    let back = world.ends[B].last.unwrap();
    world.send(B, back, b"here");
    world.settle();
    assert_eq!(world.ends[A].delivered, [b"here"]);
    assert_eq!(world.ends[A].associations.len(), 1, "the same association");
}

#[test]
fn an_opener_that_restarted_comes_as_another_process() {
    let (mut world, _, back) = talking(Mode::Encrypted);
    world.ends[A].restart(true);
    world.collect();
    let id = world.open(A);
    world.send(A, id, b"again");
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"again"]);
    assert_ne!(world.ends[B].last, Some(back));
    assert_eq!(world.ends[B].associations.len(), 2);
}

#[test]
fn a_peer_has_few_associations_and_the_one_least_used_gives_way_to_a_proven_one() {
    let (mut world, _, back) = talking(Mode::Encrypted);
    for process in 0..MAX_ASSOCIATIONS_PER_PEER {
        world.pass(SECOND);
        world.ends[A].restart(true);
        world.collect();
        let id = world.open(A);
        world.send(A, id, &[process as u8]);
        world.settle();
    }
    assert_eq!(world.ends[B].associations.len(), MAX_ASSOCIATIONS_PER_PEER);
    assert!(world.ends[B].events.contains(&Event::Closed { association: back }));
    assert_eq!(world.ends[B].delivered.len(), MAX_ASSOCIATIONS_PER_PEER);
}

/// An association rests for hours when its process has ended, and nobody tells the other end.
#[test]
fn a_process_more_than_a_peer_may_have_is_heard_as_soon_as_the_first() {
    const PROCESSES: usize = MAX_ASSOCIATIONS_PER_PEER + 4;
    let mut world = World::acquainted(Mode::Encrypted);
    for process in 0..PROCESSES as u8 {
        world.pass(SECOND);
        world.ends[A].restart(true);
        world.collect();
        let id = world.open(A);
        world.send(A, id, &[process]);
        for datagram in world.take(A) {
            world.deliver(&datagram);
        }
        let heard = world.ends[B].delivered.last().map(Vec::as_slice);
        assert_eq!(heard, Some(&[process][..]), "before its keys are proven");
        assert!(world.ends[B].associations.len() <= MAX_ASSOCIATIONS_PER_PEER);
        world.settle();
    }
    assert_eq!(world.ends[B].delivered.len(), PROCESSES);
}

#[test]
fn handshakes_that_cross_end_with_one_pair_of_keys_at_both_ends() {
    let (mut world, id, back) = talking(Mode::Encrypted);
    world.pass(REHANDSHAKE_NS + 300 * SECOND);
    world.send(A, id, b"from a");
    world.send(B, back, b"from b");
    assert_eq!(messages(&world.wire), 2, "both call");
    world.settle();
    world.pass(2 * LATE_NS);
    for round in 0..3_u8 {
        world.send(A, id, &[round; 3]);
        world.send(B, back, &[round; 3]);
        assert_eq!(messages(&world.settle()), 0);
    }
    for end in [A, B] {
        assert_eq!(world.ends[end].delivered.len(), 4);
        assert_eq!(world.ends[end].associations.counters().unknown_index, 0);
    }
}

#[test]
fn reflected_datagrams_are_refused() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"first");
    let mut seen = world.settle();
    let back = world.ends[B].last.unwrap();
    world.send(A, id, b"second");
    world.send(B, back, b"third");
    seen.extend(world.settle());
    let delivered = [world.ends[A].delivered.clone(), world.ends[B].delivered.clone()];
    for Datagram { from, to, octets } in seen {
        world.deliver(&Datagram { from: to, to: from, octets });
        assert_eq!(world.wire, [], "no answer");
    }
    assert_eq!([world.ends[A].delivered.clone(), world.ends[B].delivered.clone()], delivered);
}

#[test]
fn spliced_handshakes_are_refused() {
    let mut world = World::acquainted(Mode::Encrypted);
    let ids = [world.open(A), world.open(A)];
    let mut answers = Vec::new();
    for id in ids {
        world.send(A, id, b"x");
        for datagram in world.take(A) {
            world.deliver(&datagram);
        }
        answers.push(world.take(B).remove(0));
    }
    // The answer to the one handshake, under the head of the other one; mac1 can be made by anybody.
    let [mut spliced, other] = [answers[0].clone(), answers[1].clone()];
    spliced.octets[..8].copy_from_slice(&other.octets[..8]);
    let front = spliced.octets.len() - 16;
    let proof = cookie::mac1(world::identity(A).public(), &spliced.octets[..front]);
    spliced.octets[front..].copy_from_slice(&proof);
    world.deliver(&spliced);
    assert!(ids.iter().all(|&id| !world.ends[A].associations.is_confirmed(id)));
    world.deliver_all(&answers);
    assert!(ids.iter().all(|&id| world.ends[A].associations.is_confirmed(id)));
}

#[test]
fn idle_keys_are_wiped_and_the_next_segment_calls_again() {
    let (mut world, id, back) = talking(Mode::Encrypted);
    world.pass(IDLE_NS + 10 * SECOND);
    assert_eq!(world.ends[B].events, [Event::Closed { association: back }]);
    assert_eq!(world.ends[A].associations.deadline(), None);
    world.send(A, id, b"back");
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"back"]);
}

#[test]
fn a_spurious_timeout_emits_nothing() {
    let (mut world, id, _) = talking(Mode::Encrypted);
    world.send(A, id, b"x");
    world.take(A);
    for end in [A, B] {
        world.ends[end].associations.handle_timeout(world.now);
    }
    world.collect();
    assert_eq!(world.wire, []);
}

#[test]
fn random_datagrams_are_refused() {
    let (mut world, _, _) = talking(Mode::Encrypted);
    let mut random = skyhaul_core::Stream::new(1, "random datagrams");
    for length in 0..3000 {
        let octets = (0..length % 300).map(|_| random.next_u64() as u8).collect::<Vec<_>>();
        for first in [0x24, 0x28, 0x20] {
            let mut octets = octets.clone();
            if let Some(octet) = octets.first_mut() {
                *octet = first;
            }
            let (from, to) = (world.ends[A].address, world.ends[B].address);
            world.deliver(&Datagram { from, to, octets });
        }
    }
    assert_eq!((world.wire.len(), world.ends[B].delivered.len()), (0, 0));
}

#[test]
fn an_association_whose_first_handshake_was_never_proven_lives_on_with_the_next_one() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"first");
    for datagram in world.take(A) {
        world.deliver(&datagram);
    }
    world.take(B); // message 2 is lost, and with it everything under its keys
    let back = world.ends[B].last.unwrap();
    for _ in 0..7 {
        world.send(B, back, b"anybody?");
        world.take(A);
        if messages(&world.wire) > 0 {
            break;
        }
        world.wire.clear();
        world.pass(SECOND);
    }
    world.settle();
    assert!(world.ends[B].associations.is_confirmed(back), "the acceptor called itself");
    world.pass(PENDING_NS);
    assert!(world.ends[B].associations.contains(back));
}

#[test]
fn keys_that_the_opener_never_proved_do_not_outrank_others() {
    // The end that does not lead accepts, its answer is lost, and it calls within the minute.
    let leading = usize::from(world::identity(B).public() < world::identity(A).public());
    let other = 1 - leading;
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(leading);
    world.send(leading, id, b"first");
    let sent = world.take(leading);
    world.deliver_all(&sent);
    world.take(other);
    let back = world.ends[other].last.unwrap();
    for _ in 0..7 {
        world.send(other, back, b"anybody?");
        if messages(&world.wire) > 0 {
            break;
        }
        world.wire.clear();
        world.pass(SECOND);
        world.take(leading);
    }
    world.settle();
    world.ends[leading].delivered.clear();
    world.send(other, back, b"heard");
    world.settle();
    assert_eq!(world.ends[leading].delivered, [b"heard"]);
}

/// Strangers until now: what the opener seals under keys that it is never answered under, and the message
/// that it sends after a silence.
fn unheard() -> (World, Vec<Datagram>, Vec<Datagram>) {
    let mut world = World::new(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"first");
    let first = world.take(A);
    world.deliver_all(&first);
    let answer = world.take(B);
    world.deliver_all(&answer);
    let (mut records, mut calls) = (world.take(A), Vec::new());
    while calls.is_empty() {
        world.send(A, id, b"again");
        world.pass(SECOND);
        let (called, sealed) =
            world.take(A).into_iter().partition(|datagram| messages(std::slice::from_ref(datagram)) > 0);
        calls = called;
        records.extend::<Vec<Datagram>>(sealed);
    }
    (world, records, calls)
}

/// Found by the network swarm: records of the first keys came to one association, those of the next to
/// another one, at which no connection was known.
#[test]
fn a_handshake_goes_on_from_one_whose_proof_is_still_under_way() {
    for proof_comes_first in [true, false] {
        let (mut world, records, calls) = unheard();
        world.deliver_all(&calls);
        if proof_comes_first {
            world.deliver_all(&records);
            world.settle();
        } else {
            // The opener reads the answer and proves the later keys; records of the first ones are late.
            world.settle();
            world.deliver_all(&records);
        }
        let first = world.ends[B].last;
        let id = world.ends[A].last.unwrap();
        world.send(A, id, b"later");
        world.settle();
        assert_eq!(world.ends[B].last, first, "another association");
        assert_eq!(world.deliveries(B)[&b"first"[..]], 1);
        assert_eq!(world.deliveries(B)[&b"later"[..]], 1);
        let accepted = |event: &&Event| matches!(event, Event::Accepted { .. });
        assert_eq!(world.ends[B].events.iter().filter(accepted).count(), 1);
    }
}
