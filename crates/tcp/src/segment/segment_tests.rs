//! Segments that are encoded are decoded, and any bytes give a value or an error.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::checksum;
use super::{ExtraOptions, Malformed, Options, SackBlocks, Segment, Timestamps, Way, decode, encode, flags};

pub(super) fn way() -> Way {
    Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, 2).into() }
}

fn any_way() -> impl Strategy<Value = Way> {
    let v4 = any::<(u32, u32)>().prop_map(|(a, b)| (IpAddr::V4(a.into()), IpAddr::V4(b.into())));
    let v6 = any::<(u128, u128)>()
        .prop_map(|(a, b)| (IpAddr::V6(Ipv6Addr::from(a)), IpAddr::V6(Ipv6Addr::from(b))));
    prop_oneof![v4, v6].prop_map(|(local, remote)| Way { local, remote })
}

/// Either those of an opening or those of any other segment: all of them together would not fit.
fn any_options() -> impl Strategy<Value = Options> {
    let timestamps =
        || any::<Option<(u32, u32)>>().prop_map(|pair| pair.map(|(value, echo)| Timestamps { value, echo }));
    let opening = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), timestamps()).prop_map(
        |(mss, window_scale, sack_permitted, timestamps)| Options {
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ..Options::default()
        },
    );
    let other = (timestamps(), proptest::collection::vec(any::<(u32, u32)>(), 0..4)).prop_map(
        |(timestamps, blocks)| {
            let mut sack = SackBlocks::default();
            assert!(blocks.iter().all(|&(first, end)| sack.push(first, end)));
            Options { timestamps, sack, ..Options::default() }
        },
    );
    prop_oneof![opening, other]
}

fn with_right_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= 18 {
        bytes[16..18].fill(0);
        let sum = checksum(way(), &bytes);
        bytes[16..18].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        way in any_way(),
        ports in any::<(u16, u16)>(),
        numbers in any::<(u32, u32)>(),
        bits in prop_oneof![
            Just(flags::SYN),
            Just(flags::RST),
            any::<u8>().prop_map(|b| b & !6 | flags::ACK),
        ],
        window in any::<(u16, u16)>(),
        options in any_options(),
        payload in proptest::collection::vec(any::<u8>(), 0..100),
        split in 0usize..100,
    ) {
        let split = split.min(payload.len());
        let segment = Segment {
            source_port: ports.0,
            destination_port: ports.1,
            sequence: numbers.0,
            acknowledgement: numbers.1,
            flags: bits,
            window: window.0,
            urgent: window.1,
            options,
            payload: payload.split_at(split),
            described: None,
            compression: None,
        };
        let mut bytes = Vec::new();
        encode(way, &segment, &mut bytes);
        let decoded = decode(way.reversed(), &bytes).unwrap();
        prop_assert_eq!(decoded, Segment { payload: (&payload[..], &[][..]), ..segment });
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = decode(way(), &bytes);
        let mut bytes = bytes;
        if bytes.len() > 13 {
            bytes[12] |= 0x50; // past the check of the offset, most times
        }
        let _ = decode(way(), &with_right_checksum(bytes));
    }

    #[test]
    fn every_damaged_bit_is_noticed(bit in 0usize..8 * 24) {
        let segment = Segment { flags: flags::ACK, payload: (b"data", b""), ..Segment::default() };
        let mut bytes = Vec::new();
        encode(way(), &segment, &mut bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode(way().reversed(), &bytes).is_err());
    }
}

fn raw(offset_words: u8, bits: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = alloc::vec![0; 20];
    bytes[12] = offset_words << 4;
    bytes[13] = bits;
    bytes.extend_from_slice(rest);
    with_right_checksum(bytes)
}

#[test]
fn each_malformed_field_has_its_error() {
    let error = |bytes: &[u8]| decode(way(), bytes).unwrap_err();
    assert_eq!(error(&[0; 19]), Malformed::Truncated);
    assert_eq!(error(&raw(6, flags::ACK, &[])), Malformed::Truncated);
    assert_eq!(error(&raw(4, flags::ACK, &[])), Malformed::Offset);
    assert_eq!(error(&raw(5, 0, &[])), Malformed::Flags);
    assert_eq!(error(&raw(5, flags::SYN | flags::FIN, &[])), Malformed::Flags);
    let mut damaged = raw(5, flags::ACK, &[]);
    damaged[4] ^= 1;
    assert_eq!(error(&damaged), Malformed::Checksum);
}

#[test]
fn options_with_wrong_lengths_are_refused() {
    let broken: [[u8; 4]; 8] = [
        [2, 3, 0, 0],  // MSS of one byte
        [3, 4, 0, 0],  // window scale of two
        [4, 3, 0, 0],  // SACK permitted with a value
        [5, 2, 0, 0],  // SACK without a block
        [8, 4, 0, 0],  // timestamps of two bytes
        [99, 0, 0, 0], // a length that does not count itself
        [99, 5, 0, 0], // beyond the header
        [1, 1, 1, 2],  // no length at all
    ];
    for options in broken {
        assert_eq!(decode(way(), &raw(6, flags::ACK, &options)), Err(Malformed::Options), "{options:?}");
    }
}

#[test]
fn unknown_options_are_kept_and_what_follows_the_end_is_padding() {
    let mut extra = ExtraOptions::default();
    assert!(extra.push(99, &[7, 7]));
    let bytes = raw(8, flags::SYN, &[99, 4, 7, 7, 2, 4, 5, 0xb4, 0, 2, 9, 9]);
    let expected = Options { mss: Some(1460), extra, ..Options::default() };
    assert_eq!(decode(way(), &bytes).map(|segment| segment.options), Ok(expected));
}

proptest! {
    #[test]
    fn ways_are_in_the_order_of_their_addresses(ways in proptest::array::uniform2((0u8..4, 0u8..4, any::<[bool; 2]>()))) {
        let address = |number: u8, is_v6: bool| {
            if is_v6 { IpAddr::V6([0, 0, 0, 0, 0, 0, 0, u16::from(number)].into()) } else { IpAddr::V4([number, 0, 0, 3 - number].into()) }
        };
        let [one, other] = ways.map(|(local, remote, [v6, other])| Way { local: address(local, v6), remote: address(remote, other) });
        prop_assert_eq!(one.cmp(&other), (one.local, one.remote).cmp(&(other.local, other.remote)));
        prop_assert_eq!(one == other, one.cmp(&other).is_eq());
    }
}
