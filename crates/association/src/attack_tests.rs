//! Attacks on an acceptor that need more than a copy: floods, cookies, lists of AEADs that nobody offered.

use std::net::SocketAddr;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND};

use crate::aead::{AeadName, ring_aead};
use crate::cookie::mac1;
use crate::message::{Kind, MESSAGE_HEAD_BYTES, MessageHead, Payload1, Payload2, prologue};
use crate::noise::{Acceptor, Opener};
use crate::opening::{Occasion, Opening};
use crate::world::{A, B, Datagram, World, identity};
use crate::{
    COOKIE_MESSAGE_BYTES, COOKIE_NS, Event, Identity, Index, MAX_ASSOCIATIONS_PER_PEER, MAX_PENDING, Offer,
    Secret, Token,
};

/// Addresses of a flood, and datagrams of it a second.
const ADDRESSES: u32 = 10_000;
const DATAGRAMS_PER_S: u64 = 20_000;

fn index(number: u32) -> Index {
    Index::new(number).unwrap()
}

/// Message 1 of somebody who knows B's key but is no peer of B's.
fn strangers_message(world: &World, number: u16, port: u16) -> Datagram {
    let stranger = Identity::new(Secret::new([0x99; 32]));
    let occasion = Occasion {
        identity: &stranger,
        peer: identity(B).public(),
        psk: &Secret::new([0; 32]),
        mode: Mode::Encrypted,
        offer: Offer { aes: true },
        maker: ring_aead,
        index: Index::new(u32::from(number) + 1).unwrap(),
        continues: None,
        token: Token::NONE,
        counter: 0,
        callsign: [0; 16],
        segment: b"",
    };
    let [high, low] = number.to_be_bytes();
    let opening = Opening::new(Instant::ZERO, &occasion, &Secret::new([low; 32])).unwrap();
    let from = SocketAddr::from(([198, 51, high, low], port));
    Datagram { from, to: world.ends[B].address, octets: opening.datagram() }
}

/// Message 1 of a peer at an address of its own, each with a fresh index.
fn flood(world: &mut World, number: u16) -> Datagram {
    let id = world.open(A);
    world.send(A, id, b"");
    let mut first = world.take(A).remove(0);
    world.ends[A].associations.close(id);
    let [high, low] = number.to_be_bytes();
    first.from = SocketAddr::from(([198, 51, high, low], 9));
    first
}

#[test]
fn under_load_200_handshakes_a_second_are_computed_without_a_cookie() {
    let mut world = World::new(Mode::Encrypted);
    let floods: Vec<Datagram> = (0..2000).map(|number| flood(&mut world, number)).collect();
    let begun = world.ends[B].associations.counters();
    for datagram in &floods {
        world.deliver(datagram);
        for answer in world.take(B) {
            assert!(answer.octets.len() <= datagram.octets.len(), "no answer is longer than its question");
        }
        world.pass(500_000);
    }
    let counters = world.ends[B].associations.counters();
    let computed = counters.computed - begun.computed;
    assert!((390..=402).contains(&computed), "200 at once, 200 in the second: {computed}");
    assert_eq!(counters.cookies, 2000 - computed);
    assert!(world.ends[B].associations.len() <= MAX_ASSOCIATIONS_PER_PEER);
}

#[test]
fn a_cookie_lets_an_honest_opener_in_while_others_flood() {
    let mut world = World::acquainted(Mode::Encrypted);
    for number in 0..300 {
        let datagram = strangers_message(&world, number, 9);
        world.deliver(&datagram);
    }
    assert_eq!(world.ends[B].associations.counters().cookies, 300 - 199, "one was of the acquaintance");
    world.take(B);
    let id = world.open(A);
    world.send(A, id, b"in");
    let sizes: Vec<usize> = world.settle().iter().map(|datagram| datagram.octets.len()).collect();
    assert_eq!(sizes, [214, 56, 214, 116, 24, 24], "a cookie costs a round trip");
    assert_eq!(world.ends[B].delivered, [b"in"]);
}

#[test]
fn a_cookie_holds_for_its_address_and_for_four_minutes_at_most() {
    let mut world = World::acquainted(Mode::Encrypted);
    let exhaust = |world: &mut World| {
        for number in 0..300 {
            let datagram = strangers_message(world, number, 9);
            world.deliver(&datagram);
        }
        world.take(B);
    };
    exhaust(&mut world);
    let id = world.open(A);
    world.send(A, id, b"in");
    let first = world.take(A).remove(0);
    world.deliver(&first);
    let cookie = world.take(B).remove(0);
    world.deliver(&cookie);
    let proven = world.take(A).remove(0);
    let elsewhere = Datagram { from: "203.0.113.9:4700".parse().unwrap(), ..proven.clone() };
    world.deliver(&elsewhere);
    assert_eq!(world.take(B)[0].octets.len(), COOKIE_MESSAGE_BYTES);
    world.pass(2 * COOKIE_NS);
    world.take(A);
    exhaust(&mut world);
    exhaust(&mut world);
    world.pass(COOKIE_NS);
    world.take(A);
    exhaust(&mut world);
    world.deliver(&proven);
    assert_eq!(world.take(B)[0].octets.len(), COOKIE_MESSAGE_BYTES);
    assert!(world.ends[B].delivered.is_empty());
}

#[test]
fn of_a_peer_few_handshakes_wait_and_none_gives_way_to_one_that_is_not_fresh() {
    let mut world = World::new(Mode::Encrypted);
    world.ends[A].disk.is_writable = false;
    for number in 0..MAX_PENDING as u16 + 3 {
        let datagram = flood(&mut world, number);
        world.deliver(&datagram);
    }
    assert_eq!(world.take(B).len(), MAX_PENDING);
    assert_eq!(world.ends[B].associations.counters().crowded, 3);
    assert_eq!(world.ends[B].associations.len(), 0);
}

#[test]
fn copies_that_find_no_room_are_not_told_of() {
    let mut world = World::acquainted(Mode::Encrypted);
    let copies: Vec<_> = (0..MAX_PENDING + 8)
        .map(|_| {
            let id = world.open(A);
            world.send(A, id, b"once");
            let first = world.take(A);
            world.deliver_all(&first);
            world.settle();
            world.ends[A].associations.close(id);
            first
        })
        .collect();
    world.pass(86_400 * SECOND);
    world.ends[B].events.clear();
    for _ in 0..3 {
        for copy in &copies {
            world.deliver_all(copy);
        }
    }
    let is_told = |event: &&Event| matches!(event, Event::CounterTaken { .. });
    let told = world.ends[B].events.iter().filter(is_told).count();
    assert_eq!((told, world.ends[B].associations.counters().crowded), (MAX_PENDING, 3 * 8));
}

#[test]
fn a_flood_from_10_000_addresses_makes_no_state_and_keeps_no_peer_out() {
    let mut world = World::acquainted(Mode::Encrypted);
    let messages: Vec<_> = (0..50).map(|number| strangers_message(&world, number, 9).octets).collect();
    let begun = world.ends[B].associations.counters();
    let (mut asked, mut answered) = (0, 0);
    for number in 0..ADDRESSES {
        let [_, high, middle, low] = number.to_be_bytes();
        let from = SocketAddr::from(([100, high, middle, low], 9));
        let octets = messages[number as usize % messages.len()].clone();
        asked += octets.len();
        world.deliver(&Datagram { from, to: world.ends[B].address, octets });
        answered += world.take(B).iter().map(|answer| answer.octets.len()).sum::<usize>();
        world.pass(SECOND / DATAGRAMS_PER_S);
        if number == ADDRESSES / 2 {
            assert_eq!(world.ends[B].associations.len(), 0, "no state");
            let id = world.open(A);
            world.send(A, id, b"let me in");
            world.settle();
            assert!(world.ends[A].associations.is_confirmed(id), "a cookie lets a peer in");
        }
    }
    assert_eq!(world.ends[B].delivered, [b"let me in"]);
    assert_eq!(world.ends[B].associations.len(), 1);
    assert!(answered < asked / 2, "{answered} octets for {asked}");
    let counters = world.ends[B].associations.counters();
    let computed = counters.computed - begun.computed;
    assert!(
        (200..=302).contains(&computed),
        "200 at once, 200 a second for half of one, and the peer's: {computed}"
    );
    assert_eq!(counters.computed + counters.cookies - begun.computed, u64::from(ADDRESSES) + 2);
    assert_eq!(counters.overflows, begun.overflows);
}

/// Message 1 of A whose list of AEADs has these bits.
fn with_list(bits: u8, number: u32) -> Vec<u8> {
    let payload = Payload1 {
        counter: 0,
        token: Token::NONE,
        early: [7; 32],
        continues: None,
        offer: Offer { aes: false },
        segment: b"",
    };
    let mut payload = payload.encode();
    *payload.last_mut().unwrap() = bits;
    let head = MessageHead { mode: Mode::Encrypted, kind: Kind::First, opener: index(number) }.encode();
    let (psk, ephemeral) = (Secret::new([0x33; 32]), Secret::new([number as u8; 32]));
    let (peer, prologue) = (identity(B).public(), prologue(&head));
    let (_, sealed) = Opener::new(&identity(A), peer, &psk, &prologue, ephemeral, &payload).unwrap();
    let mut message = [&head[..], &sealed].concat();
    message.extend(mac1(peer, &message));
    message.extend([0; 16]);
    message
}

#[test]
fn a_list_of_aeads_without_the_one_that_all_have_is_refused_and_unknown_ones_are_ignored() {
    let mut world = World::new(Mode::Encrypted);
    for (number, (bits, is_answered)) in
        [(1, true), (3, true), (0xFD, true), (0, false), (2, false), (0xFE, false)].into_iter().enumerate()
    {
        let (from, to) = (world.ends[A].address, world.ends[B].address);
        let refused = world.ends[B].associations.counters().refused;
        world.deliver(&Datagram { from, to, octets: with_list(bits, number as u32 + 1) });
        assert_eq!(world.take(B).len(), usize::from(is_answered), "{bits:#x}");
        let refused = world.ends[B].associations.counters().refused - refused;
        assert_eq!(refused, u64::from(!is_answered), "{bits:#x}");
    }
}

#[test]
fn an_aead_that_was_not_offered_is_refused() {
    for (name, is_taken) in [(AeadName::Aes128Gcm, false), (AeadName::ChaCha20Poly1305, true)] {
        let mut world = World::with_aes(Mode::Encrypted, [false, true]);
        let id = world.open(A);
        world.send(A, id, b"");
        let first = world.take(A).remove(0);
        let (front, sealed) = first.octets[..first.octets.len() - 32].split_at(MESSAGE_HEAD_BYTES);
        let noise = Acceptor::new(&identity(B), &prologue(front), Secret::new([0x66; 32]), sealed).unwrap();
        let payload = Payload2 { counter: 1, token: Token([7; 32]), acceptor: index(9), aead: name };
        let (sealed, _) = noise.answer(&Secret::new([0x33; 32]), &payload.encode()).unwrap();
        let head = MessageHead { kind: Kind::Second, ..MessageHead::decode(&first.octets).unwrap() };
        let mut octets = [&head.encode()[..], &sealed].concat();
        octets.extend(mac1(identity(A).public(), &octets));
        world.deliver(&Datagram { from: first.to, to: first.from, octets });
        assert_eq!(world.ends[A].associations.is_confirmed(id), is_taken, "{name:?}");
    }
}
