//! The golden vectors of `docs/spec/petra.md`, read from the page itself, and what any bytes do.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::stpp::MaskCoding;

const PAGE: &str = include_str!("../../../../../docs/spec/petra.md");

fn vector(name: &str) -> Vec<u8> {
    let marker = alloc::format!("vector {name}:");
    let text = PAGE.split(&marker).nth(1).unwrap_or_else(|| panic!("no {marker} on the page"));
    let hex: Vec<u8> = text.split("```").next().unwrap().bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |b: u8| (b as char).to_digit(16).unwrap() as u8;
    hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn pdu(body: Body<'_>) -> Pdu<'_> {
    Pdu { source_port: 0xC001, destination_port: 4, tag: 0x5A5A, body }
}

fn encoded(pdu: &Pdu<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(pdu, &mut bytes);
    bytes
}

fn check(name: &str, pdu: &Pdu<'_>) {
    let bytes = encoded(pdu);
    assert_eq!(bytes, vector(name), "{name} is {bytes:02x?}");
    assert_eq!(decode(&bytes).as_ref(), Ok(pdu), "{name}");
}

fn opening() -> Opening {
    Opening { tag: 0x1234, payload_bytes: 600, window_pdus: 512, sdu_header_bytes: 40 }
}

fn status(missing: &[u16], coding: MaskCoding) -> Status {
    let span = if missing.is_empty() { 0 } else { 11 };
    let mask = Mask::new(missing.to_vec(), span, coding);
    Status { last_io: 0x10, last_seq_no: 0x10 + span, echo: None, is_stopped: false, mask }
}

#[test]
fn golden_vectors() {
    check("open", &Pdu { tag: 0, ..pdu(Body::Open(opening())) });
    check("open-ack", &pdu(Body::OpenAck(opening())));
    check("data", &pdu(Body::Data { number: 0x11, poll: None, payload: b"hello" }));
    check("data-poll", &pdu(Body::Data { number: 0x11, poll: Some(0x0001_0203), payload: b"hello" }));
    check("poll", &pdu(Body::Poll { clock: 0x0001_0203 }));
    let clean = status(&[], MaskCoding::List);
    check("ustat-clean", &pdu(Body::Status(clean.clone())));
    check("ustat-stop", &pdu(Body::Status(Status { is_stopped: true, ..clean })));
    check("ustat-list", &pdu(Body::Status(status(&[1, 4], MaskCoding::List))));
    check("ustat-bitmap", &pdu(Body::Status(status(&[1, 4], MaskCoding::Bitmap))));
    check("ustat-rice", &pdu(Body::Status(status(&[1, 4], MaskCoding::Rice))));
    let solicited = Status { echo: Some(0x0001_0203), ..status(&[1, 4], MaskCoding::Bitmap) };
    check("sstat-bitmap", &pdu(Body::Status(solicited)));
    check("reset", &pdu(Body::Reset { reason: 2, is_reflected: true }));
}

/// Octets with the right CRC in place, since chance rarely has it.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= HEADER_BYTES {
        bytes[CRC].fill(0);
        let crc = crc32(&[&bytes]);
        bytes[CRC].copy_from_slice(&crc.to_be_bytes());
    }
    bytes
}

fn changed(name: &str, place: usize, octet: u8) -> Result<(), Malformed> {
    let mut bytes = vector(name);
    bytes[place] = octet;
    decode(&resealed(bytes)).map(drop)
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    assert_eq!(decode(&[0; 19]), Err(Malformed::Truncated));
    let mut bytes = vector("data");
    bytes[21] ^= 4;
    assert_eq!(decode(&bytes), Err(Malformed::Crc));
    assert_eq!(changed("data", 4, 9), Err(Malformed::Kind), "no such kind");
    assert_eq!(changed("data", 5, 2), Err(Malformed::Kind), "a flag of statuses");
    assert_eq!(changed("data", 15, 1), Err(Malformed::Kind), "a clock without POLL");
    assert_eq!(changed("open", 20, 2), Err(Malformed::Opening), "another version");
    assert_eq!(changed("open", 27, 0), Ok(()), "a window of 512");
    assert_eq!(
        changed("open", 29, 3),
        Err(Malformed::Opening),
        "an SDU header that has no room for its fields"
    );
    assert_eq!(changed("ustat-list", 15, 0), Err(Malformed::Mask), "LAST_IO cannot be missing");
    assert_eq!(changed("ustat-list", 15, 2), Err(Malformed::Mask), "LAST_IO + 1 is missing");
    assert_eq!(changed("ustat-list", 21, 1), Err(Malformed::Mask), "it does not rise");
    assert_eq!(changed("ustat-list", 21, 12), Err(Malformed::Mask), "beyond LAST_SEQ_NO");
    assert_eq!(changed("ustat-bitmap", 15, 1), Err(Malformed::Mask), "a bit beyond LAST_SEQ_NO");
    assert_eq!(changed("ustat-bitmap", 14, 0x10), Err(Malformed::Mask), "LAST_IO + 1 is missing");
    assert_eq!(changed("ustat-bitmap", 12, 0x41), Err(Malformed::Mask), "more numbers than any window");
    assert_eq!(changed("ustat-rice", 15, 0), Err(Malformed::Mask), "not filled up with 1");
    assert_eq!(changed("ustat-rice", 13, 3), Err(Malformed::Mask), "beyond LAST_SEQ_NO");
    assert_eq!(changed("ustat-clean", 13, 1), Err(Malformed::Mask), "a span and nothing missing");
    assert_eq!(changed("ustat-clean", 15, 1), Err(Malformed::Mask), "a mask without span");
    assert_eq!(changed("ustat-clean", 5, 8), Err(Malformed::Mask), "a bitmap of nothing");
    assert_eq!(changed("ustat-clean", 5, 32), Err(Malformed::Mask), "Rice codes of nothing");
    let empty = resealed(vector("data")[..HEADER_BYTES].to_vec());
    assert_eq!(decode(&empty), Err(Malformed::Length));
    let mut long = vector("poll");
    long.push(0);
    assert_eq!(decode(&resealed(long)), Err(Malformed::Length));
}

/// The paper's own example: 100 PDUs take 116 bits with two numbers of 8 bits, or 8 bits each.
#[test]
fn the_shortest_coding_has_less_than_a_bit_for_each_of_a_run() {
    let octets = |missing: Vec<u16>, coding| {
        let span = if missing.is_empty() { 0 } else { 100 };
        let mask = Mask::new(missing, span, coding);
        let status = Status { last_io: 0, last_seq_no: span, mask, ..status(&[], coding) };
        encoded(&pdu(Body::Status(status))).len() - HEADER_BYTES
    };
    let all: Vec<u16> = (1..=100).collect();
    assert_eq!(octets(all.clone(), MaskCoding::Bitmap), 11, "and two in the header");
    assert_eq!(octets(all.clone(), MaskCoding::List), 198);
    assert_eq!(octets(all.clone(), MaskCoding::Rice), 4, "0.48 bits each with those in the header");
    assert_eq!(octets(all, MaskCoding::Shorter), 4);
    let every_other: Vec<u16> = (1..=100).step_by(2).collect();
    assert_eq!(octets(every_other, MaskCoding::Shorter), 11);
    let every_tenth: Vec<u16> = (1..=100).step_by(10).collect();
    assert_eq!(octets(every_tenth, MaskCoding::Rice), 5, "55 bits: 5.6 for each of ten, filled up");
    assert_eq!(octets(vec![1], MaskCoding::Shorter), 0, "one has its place in the header");
    assert_eq!(octets(vec![1, 9, 17], MaskCoding::Shorter), 0, "of 13 bits, three");
    assert_eq!(octets(vec![1, 99], MaskCoding::Shorter), 0, "of 12 bits");
    assert_eq!(octets(Vec::new(), MaskCoding::Bitmap), 0, "a clean status is a header");
}

proptest! {
    #[test]
    fn any_bytes_give_a_pdu_or_an_error_and_a_pdu_is_encoded_as_it_came(
        kind in 0u8..8, flags in 0u8..64, near in any::<bool>(),
        rest in proptest::collection::vec(any::<u8>(), 14..80),
    ) {
        let mut bytes = rest;
        bytes.splice(4..4, [kind, flags]);
        if near && bytes.len() >= HEADER_BYTES {
            bytes[8..14].copy_from_slice(&[0, 0, 0, 7, 0, 40]);
        }
        let bytes = resealed(bytes);
        if let Ok(pdu) = decode(&bytes) {
            prop_assert_eq!(encoded(&pdu), bytes);
        }
    }

    #[test]
    fn a_mask_is_read_as_it_was_meant(
        places in proptest::collection::btree_set(1u16..200, 0..40), beyond in 0u32..50,
        coding in prop_oneof![
            Just(MaskCoding::Bitmap), Just(MaskCoding::List), Just(MaskCoding::Rice), Just(MaskCoding::Shorter),
        ],
    ) {
        // The first one, if there is one, is next to LAST_IO.
        let shift = places.first().map_or(0, |first| first - 1);
        let missing: Vec<u16> = places.into_iter().map(|place| place - shift).collect();
        let span = missing.last().map_or(0, |&last| u32::from(last) + beyond);
        let last_io = u32::MAX - 3;
        let mask = Mask::new(missing, span, coding);
        let sent = Status { last_io, last_seq_no: last_io.wrapping_add(span), mask, ..status(&[], coding) };
        let bytes = encoded(&pdu(Body::Status(sent.clone())));
        prop_assert_eq!(decode(&bytes).map(|pdu| pdu.body), Ok(Body::Status(sent)));
    }
}

/// Octets of masks alone, with the flag of Rice codes, each with a span: chance has few such PDUs.
#[test]
fn any_octets_are_a_rice_coded_mask_as_it_is_written_or_none() {
    let (mut masks, mut none) = (0, 0);
    for span in [0_u8, 1, 2, 5, 11, 40] {
        for word in 0..=u16::MAX {
            let mut bytes = vector("ustat-rice");
            bytes[12..14].copy_from_slice(&[0, span]);
            bytes[14..16].copy_from_slice(&word.to_be_bytes());
            let bytes = resealed(bytes);
            match decode(&bytes) {
                Ok(pdu) => {
                    assert_eq!(encoded(&pdu), bytes);
                    masks += 1;
                }
                Err(_) => none += 1,
            }
        }
    }
    assert!(masks > 100 && none > 100, "{masks} {none}");
}
