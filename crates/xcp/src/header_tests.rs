//! The golden vectors of `docs/spec/xcp.md`, read from the page itself, and octets that are no header.

use proptest::prelude::*;
use skyhaul_core::{HeaderFormat, HeaderTime, MS, PathHeader};
use std::vec::Vec;

use crate::{HEADER_BYTES, HeaderError, decode, encode, rewrite};

const PAGE: &str = include_str!("../../../docs/spec/xcp.md");

fn vector(name: &str) -> Vec<u8> {
    let marker = std::format!("vector {name}:");
    let text = PAGE.split(&marker).nth(1).unwrap_or_else(|| panic!("no {marker} on the page"));
    let hex: Vec<u8> = text.split("```").next().unwrap().bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |b: u8| (b as char).to_digit(16).unwrap() as u8;
    hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn check(name: &str, protocol: u8, header: PathHeader) {
    let octets = encode(protocol, &header);
    assert_eq!(octets[..], vector(name), "{name} is {octets:02x?}");
    assert_eq!(decode(&octets), Ok((protocol, header)), "{name}");
}

#[test]
fn data_of_a_flow_that_asks() {
    let header = PathHeader {
        inter_packet: HeaderTime::from_ns(800_000),
        rtt: HeaderTime::from_ns(80 * MS),
        delta_bytes_per_s: 50_000,
        ..PathHeader::default()
    };
    check("asks", 6, header);
}

#[test]
fn data_that_two_routers_took_rate_from_with_an_answer() {
    let header = PathHeader {
        inter_packet: HeaderTime::MAX,
        rtt: HeaderTime::UNKNOWN,
        reverse_bytes_per_s: i32::MAX,
        delta_bytes_per_s: -1250,
        routers: 2,
        reverse_routers: 3,
        format: HeaderFormat::Standard,
        ..PathHeader::default()
    };
    check("granted", 253, header);
}

#[test]
fn an_acknowledgement_tells_the_sum() {
    let header = PathHeader {
        reverse_bytes_per_s: -2,
        reverse_routers: 1,
        format: HeaderFormat::Minimal,
        ..PathHeader::default()
    };
    check("minimal", 6, header);
}

#[test]
fn what_a_minimal_header_has_for_routers_is_ignored() {
    let mut octets = encode(6, &PathHeader { format: HeaderFormat::Minimal, ..PathHeader::default() });
    octets[3] = 0x1F;
    octets[4..12].fill(0xFF);
    octets[16..].fill(0x7F);
    let read = PathHeader { format: HeaderFormat::Minimal, reverse_routers: 1, ..PathHeader::default() };
    assert_eq!(decode(&octets), Ok((6, read)));
}

#[test]
fn octets_that_are_no_header_are_refused_with_the_reason() {
    let good = encode(6, &PathHeader::default());
    for length in 0..HEADER_BYTES {
        assert_eq!(decode(&good[..length]), Err(HeaderError::TooShort(length)));
    }
    let with = |at: usize, octet: u8| {
        let mut octets = good;
        octets[at] = octet;
        decode(&octets)
    };
    assert_eq!(with(1, 24), Err(HeaderError::Length(24)));
    for version in (0..16).filter(|&version| version != 3) {
        assert_eq!(with(2, version << 4 | 1), Err(HeaderError::Version(version)));
    }
    for format in (0..16).filter(|&format| format != 1 && format != 2) {
        assert_eq!(with(2, 0x30 | format), Err(HeaderError::Format(format)));
    }
}

#[test]
fn more_routers_than_are_counted_are_as_many_as_are() {
    let header = PathHeader { routers: 200, reverse_routers: 16, ..PathHeader::default() };
    let (_, read) = decode(&encode(6, &header)).unwrap();
    assert_eq!((read.routers, read.reverse_routers), (15, 15));
}

proptest! {
    #[test]
    fn any_octets_give_a_header_or_a_reason(octets in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok((protocol, header)) = decode(&octets) {
            prop_assert_eq!(decode(&encode(protocol, &header)), Ok((protocol, header)));
        }
    }
}

#[test]
fn a_router_writes_on_two_fields_and_on_headers_alone() {
    let asks = vector("asks");
    let mut octets = asks.clone();
    let header = PathHeader { delta_bytes_per_s: -2, routers: 3, ..decode(&asks).unwrap().1 };
    let seen = PathHeader { rtt: HeaderTime::MAX, reverse_bytes_per_s: 7, reverse_routers: 9, ..header };
    rewrite(&mut octets, &seen);
    assert_eq!(decode(&octets), Ok((6, header)));
    for mut octets in [vector("minimal"), asks[..19].to_vec(), std::vec![0x14; 40]] {
        let before = octets.clone();
        rewrite(&mut octets, &seen);
        assert_eq!(octets, before);
    }
}
