//! Mode `authenticated`, in which nothing may be hidden: callsigns in clear, and data that anybody reads
//! without keys (`docs/spec/protection.md`, section 4.7).

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Connections, Integrity, MS, SECOND};
use skyhaul_stp::segment::decode_with;

use crate::pair::{Pair, content};
use crate::record::text_range;
use crate::world::{A, B, Datagram, World};
use crate::{CALLSIGN_NS, HEAD_BYTES, OVERHEAD_BYTES};

/// Text of zero-padded octets.
fn text(octets: &[u8]) -> String {
    octets.iter().take_while(|&&octet| octet != 0).map(|&octet| char::from(octet)).collect()
}

/// Callsigns that somebody without keys reads: in messages behind the head, in records as words 3 and 4.
fn told(datagrams: &[Datagram]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for Datagram { octets, .. } in datagrams {
        let clear = &octets[text_range(octets.len())];
        match (&octets[1..5], clear) {
            ([0, 0, 0, 1 | 2], _) => told.push(text(&octets[8..24])),
            (_, [3, half @ ..]) if half.len() == 8 => told.push(text(half)),
            (_, [4, half @ ..]) if half.len() == 8 => {
                told.last_mut().expect("a first half").push_str(&text(half));
            }
            _ => {}
        }
    }
    told
}

#[test]
fn both_messages_tell_callsigns_in_clear_unless_all_is_encrypted() {
    for (mode, expected) in
        [(Mode::Authenticated, &["DL1ABC", "K1ABCDEF/P-1234"][..]), (Mode::Encrypted, &[])]
    {
        let mut world = World::new(mode);
        let id = world.open(A);
        world.send(A, id, &[7; 100]);
        let seen = world.settle();
        let told = if mode == Mode::Encrypted { Vec::new() } else { told(&seen) };
        assert_eq!(told, expected);
        let has =
            |name: &str| seen.iter().any(|d| d.octets.windows(name.len()).any(|at| at == name.as_bytes()));
        assert_eq!(has("DL1ABC") || has("K1ABCDEF"), mode == Mode::Authenticated);
    }
}

#[test]
fn who_sends_tells_its_callsign_every_ten_minutes_and_who_is_silent_does_not() {
    let mut world = World::new(Mode::Authenticated);
    let id = world.open(A);
    world.send(A, id, &[7; 100]);
    world.settle();
    let theirs = world.ends[B].last.unwrap();
    for minute in 1..=40_u64 {
        world.pass(60 * SECOND);
        world.settle();
        world.send(A, id, &[7; 100]);
        let mut seen = world.settle();
        world.send(B, theirs, &[7; 100]);
        seen.extend(world.settle());
        let expected: &[&str] = if minute % 10 == 0 { &["DL1ABC", "K1ABCDEF/P-1234"] } else { &[] };
        assert_eq!(told(&seen), expected, "minute {minute}");
    }
    world.pass(CALLSIGN_NS * 3);
    let silence = told(&world.settle());
    assert!(silence.len() <= 2, "{silence:?}");
    assert_eq!(world.ends[B].delivered.len(), 41, "callsigns are no segments");
}

#[test]
fn a_capture_in_mode_authenticated_is_read_without_keys() {
    let mut pair = Pair::new(5, Mode::Authenticated);
    (pair.way.loss_percent, pair.way.copies_percent) = (0, 0);
    (pair.way.delay_ms, pair.way.jitter_ms) = (50, 1);
    let data = content(5, 60_000);
    let id = pair.connect(A);
    assert_eq!(pair.hosts[A].engine.write(id, &data), Ok(data.len()));
    pair.hosts[A].engine.finish(id);
    pair.transmit();
    let mut packets: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for _ in 0..1000 {
        for (to, _, octets) in pair.under_way.values() {
            read(*to, octets, &mut packets);
        }
        pair.run(20 * MS);
    }
    let first = *packets.keys().next().expect("some data");
    let read: Vec<u8> = packets.into_values().flatten().collect();
    assert!(read == data, "{} of {} octets, from packet {first}", read.len(), data.len());
}

/// Reads a datagram as somebody does who only listens.
fn read(to: usize, octets: &[u8], packets: &mut BTreeMap<u32, Vec<u8>>) {
    if to != B || octets.len() <= OVERHEAD_BYTES || octets[1..4] == [0; 3] {
        return;
    }
    let clear = &octets[HEAD_BYTES..octets.len() - 16];
    let Ok(segment) = decode_with(Integrity::Seal, clear) else { return };
    if let Some((first, second)) = segment.data {
        packets.insert(segment.number, [first, second].concat());
    }
}
