use std::string::String;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, MS, SECOND};

use crate::aead::{AeadName, ring_aead};
use crate::message::{Kind, MessageHead, Payload2, callsign_bytes, front, front_bytes, prologue};
use crate::name::CallsignOctets;
use crate::noise::Acceptor;
use crate::opening::{Occasion, Opening};
use crate::world::{A, B, Datagram, World};
use crate::*;

const MODES: [Mode; 2] = [Mode::Encrypted, Mode::Authenticated];

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |text, octet| text + &std::format!("{octet:02x}"))
}

#[test]
fn messages_have_the_sizes_of_the_specification() {
    assert_eq!((MESSAGE_1_BYTES, MESSAGE_2_BYTES, COOKIE_MESSAGE_BYTES), (212, 116, 56));
    for mode in MODES {
        let mut world = World::acquainted(mode);
        let id = world.open(A);
        world.send(A, id, &[7; 1300]);
        let seen = world.settle();
        let sizes: Vec<usize> = seen.iter().map(|datagram| datagram.octets.len()).collect();
        let (first, second) = if mode == Mode::Encrypted { (212, 116) } else { (228, 148) };
        assert_eq!(sizes, [first, 1324, second, 24, 24], "two messages, early data, and a proof each way");
    }
}

/// Messages and secrets of a handshake in a mode, in rows as the specification has them.
fn golden_rows(mode: Mode, callsigns: [CallsignOctets; 2]) -> String {
    let index = |number| Index::new(number).unwrap();
    let (opener, acceptor, psk) = (world::identity(A), world::identity(B), Secret::new([0x33; 32]));
    let occasion = Occasion {
        identity: &opener,
        peer: acceptor.public(),
        psk: &psk,
        mode,
        offer: Offer { aes: true },
        maker: ring_aead,
        index: index(0x0A_0B0C),
        continues: None,
        token: Token([0x55; 32]),
        counter: 5,
        callsign: callsigns[A],
        segment: b"",
    };
    let mut opening = Opening::new(Instant::ZERO, &occasion, &Secret::new([0x44; 32])).unwrap();
    let first = opening.datagram();
    let (clear, sealed) = first[..first.len() - 32].split_at(front_bytes(mode));
    let noise = Acceptor::new(&acceptor, &prologue(clear), Secret::new([0x66; 32]), sealed).unwrap();
    let (aead, token) = (AeadName::Aes128Gcm, Token([0x77; 32]));
    let payload = Payload2 { counter: 6, token, acceptor: index(0x0D_0E0F), aead };
    let told = [&payload.encode()[..], &callsigns[B][..callsign_bytes(mode)]].concat();
    let (sealed, secrets) = noise.answer(&psk, &told).unwrap();
    let head = MessageHead { mode, kind: Kind::Second, opener: occasion.index };
    let mut second = [front(head, &callsigns[B]), sealed].concat();
    second.extend(cookie::mac1(opener.public(), &second));
    let (read, ours) = opening.read(head, &second).unwrap();
    assert_eq!((read, ours.from_opener.octets()), (payload, secrets.from_opener.octets()));
    let rows = [
        ("message 1", &first[..]),
        ("message 2", &second),
        ("S(0) of the opener", ours.from_opener.octets()),
        ("S(0) of the acceptor", ours.from_acceptor.octets()),
    ];
    rows.map(|(name, octets)| std::format!("| {name} | `{}` |", hex(octets))).join("\n")
}

#[test]
fn messages_are_the_golden_octets_of_the_specification() {
    let callsigns = [A, B].map(|end| world::callsign(end).octets());
    for (mode, callsigns) in MODES.into_iter().zip([[[0; 16]; 2], callsigns]) {
        let rows = golden_rows(mode, callsigns);
        let page = include_str!("../../../docs/spec/protection.md");
        assert!(page.contains(&rows), "the page lacks:\n{rows}");
    }
}

#[test]
fn both_ends_talk_after_one_round_trip() {
    for mode in MODES {
        let mut world = World::new(mode);
        let id = world.open(A);
        world.send(A, id, b"question");
        world.settle();
        assert_eq!(world.ends[B].delivered, [b"question"]);
        let back = world.ends[B].last.unwrap();
        assert!(world.ends[A].associations.is_confirmed(id) && world.ends[B].associations.is_confirmed(back));
        world.send(B, back, b"answer");
        let seen = world.settle();
        assert_eq!(seen.len(), 1, "no further message");
        assert_eq!(world.ends[A].delivered, [b"answer"]);
    }
}

#[test]
fn a_small_segment_rides_in_message_1_unless_all_may_read() {
    for (mode, rides) in MODES.into_iter().zip([true, false]) {
        let mut world = World::acquainted(mode);
        let id = world.open(A);
        world.send(A, id, b"rides");
        let sent = world.take(A);
        assert_eq!(sent.len(), if rides { 1 } else { 2 });
        assert_eq!(sent[0].octets.len(), if rides { 217 } else { 228 });
        let clear = sent.iter().any(|datagram| datagram.octets.windows(5).any(|octets| octets == b"rides"));
        assert_eq!(clear, mode == Mode::Authenticated);
        world.deliver_all(&sent);
        assert_eq!(world.ends[B].delivered, [b"rides"]);
    }
}

#[test]
fn the_aead_is_one_that_both_offer() {
    for (aes, expected) in [
        ([true, true], AeadName::Aes128Gcm),
        ([true, false], AeadName::ChaCha20Poly1305),
        ([false, true], AeadName::ChaCha20Poly1305),
    ] {
        let mut world = World::with_aes(Mode::Encrypted, aes);
        let id = world.open(A);
        world.send(A, id, b"x");
        world.settle();
        assert_eq!(world.ends[B].delivered, [b"x"]);
        assert_eq!(Offer { aes: aes[A] }.choose(Offer { aes: aes[B] }), expected);
    }
}

#[test]
fn every_flipped_bit_and_every_cut_of_the_messages_is_refused() {
    MODES.into_iter().for_each(mutations_are_refused);
}

fn mutations_are_refused(mode: Mode) {
    let mut world = World::acquainted(mode);
    let id = world.open(A);
    world.send(A, id, b"once");
    let sent = world.take(A);
    let first = sent[0].clone();
    for octets in mutations(&first.octets) {
        // Bits of mac2 are looked at under load alone.
        if octets.len() == first.octets.len()
            && octets[..octets.len() - 16] == first.octets[..octets.len() - 16]
        {
            continue;
        }
        world.deliver(&Datagram { octets, ..first.clone() });
        assert_eq!((world.take(B).len(), world.ends[B].associations.len()), (0, 0), "no answer, no state");
    }
    world.deliver_all(&sent);
    let second = world.take(B).remove(0);
    for octets in mutations(&second.octets) {
        world.deliver(&Datagram { octets, ..second.clone() });
        assert!(!world.ends[A].associations.is_confirmed(id));
        assert_eq!(world.take(A).len(), 0);
    }
    world.deliver(&second);
    assert!(world.ends[A].associations.is_confirmed(id), "the genuine one is still taken");
    assert_eq!(world.ends[B].delivered, [b"once"]);
}

/// All flips of one bit, and all cuts.
fn mutations(octets: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let flips = (0..octets.len() * 8).map(|bit| {
        let mut flipped = octets.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    });
    flips.chain((0..octets.len()).map(|length| octets[..length].to_vec()))
}

#[test]
fn who_does_not_know_the_key_gets_no_answer() {
    let mut world = World::new(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"x");
    let mut first = world.take(A).remove(0);
    let end = first.octets.len() - 16;
    first.octets[end - 16..end].fill(0);
    world.deliver(&first);
    assert_eq!(world.wire, []);
    assert_eq!(world.ends[B].associations.counters().strangers, 1);
}

#[test]
fn an_unknown_peer_and_a_removed_one_meet_silence() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"x");
    world.settle();
    let peer = world.ends[B].peer;
    world.ends[B].associations.remove_peer(peer);
    assert!(world.ends[B].associations.is_empty());
    world.send(A, id, b"y");
    world.settle();
    let id = world.open(A);
    world.send(A, id, b"z");
    assert_eq!(world.settle().len(), 1);
    assert_eq!(world.ends[B].delivered, [b"x"]);
    assert_eq!(world.ends[B].associations.counters().refused, 1);
}

#[test]
fn other_modes_meet_silence() {
    for (ours, theirs) in [(0, 1), (1, 0)] {
        let (mut world, mut other) = (World::new(MODES[ours]), World::new(MODES[theirs]));
        let id = world.open(A);
        world.send(A, id, b"x");
        for datagram in world.take(A) {
            other.deliver(&datagram);
        }
        assert_eq!((other.wire.len(), other.ends[B].delivered.len()), (0, 0));
        assert_eq!(other.ends[B].associations.counters().refused, 1);
    }
}

#[test]
fn a_plain_datagram_is_dropped() {
    let mut world = World::acquainted(Mode::Encrypted);
    let (from, to) = (world.ends[A].address, world.ends[B].address);
    world.deliver(&Datagram { from, to, octets: [&[0x20][..], &[0; 100]].concat() });
    assert_eq!((world.wire.len(), world.ends[B].delivered.len()), (0, 0));
    assert_eq!(world.ends[B].associations.counters().alien, 1);
}

#[test]
fn message_1_goes_again_more_and_more_rarely() {
    let mut world = World::new(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"x");
    let (begun, mut times) = (world.now, Vec::new());
    for _ in 0..700 {
        times.extend(world.take(A).iter().map(|_| world.now.since(begun) / SECOND));
        world.pass(SECOND);
    }
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423, 483, 543]);
    assert_eq!(world.ends[A].events.last(), Some(&Event::Unanswered { association: id }));
    assert_eq!(world.ends[A].associations.deadline(), None);
    world.send(A, id, b"y");
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"y"], "what is sealed next calls again");
}

#[test]
fn a_copy_of_message_1_gets_the_same_answer_until_the_keys_are_proven() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"x");
    let first = world.take(A).remove(0);
    world.deliver(&first);
    world.deliver(&first);
    let answers = world.take(B);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(world.ends[B].delivered, [b"x"], "delivered once");
    world.wire.push(answers[0].clone());
    world.settle();
    world.deliver(&first);
    assert_eq!(world.take(B).len(), 0);
    assert_eq!(world.ends[B].associations.counters().computed, 2, "one of the acquaintance, one of this");
}

#[test]
fn a_lost_confirmation_goes_again() {
    let mut world = World::new(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"x");
    let first = world.take(A).remove(0);
    world.deliver(&first);
    let second = world.take(B).remove(0);
    world.deliver(&second);
    assert_eq!(world.take(A).len(), 1, "the proof, which is lost");
    assert_eq!(world.ends[B].delivered.len(), 0);
    world.pass(1100 * MS);
    world.settle();
    assert_eq!(world.ends[B].delivered, [b"x"]);
    world.pass(100 * SECOND);
    assert_eq!(world.settle().len(), 0, "it is heard");
}

#[test]
fn debug_output_has_no_secret() {
    let mut world = World::acquainted(Mode::Encrypted);
    let id = world.open(A);
    world.send(A, id, b"x");
    let text = std::format!("{:?}", world.ends[A].associations);
    // Octets of the identity (17) and of the shared secret (51), four in a row.
    assert!(!text.contains("17, 17, 17, 17") && !text.contains("51, 51, 51, 51"), "{text}");
    assert!(text.contains("Secret(..)"));
}
