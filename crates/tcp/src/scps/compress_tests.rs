//! Compressed headers: octets on the wire, and what comes back.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};

use super::compress::{compress, decompress, fits};
use super::{CORRUPTION, RECORD, SnackOption};
use crate::segment::{ExtraOptions, Malformed, Options, SackBlocks, Segment, Timestamps, Way, flags};

fn way() -> Way {
    Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, 2).into() }
}

fn compressed(segment: &Segment<'_>, has_sequence: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    compress(way(), 7, segment, has_sequence, &mut bytes);
    bytes
}

fn ack() -> Segment<'static> {
    Segment {
        acknowledgement: 0x0102_0304,
        sequence: 0x0506_0708,
        window: 0x0A0B,
        flags: flags::ACK,
        ..Segment::default()
    }
}

fn stamped() -> Options {
    Options { timestamps: Some(Timestamps { value: 0x1112_1314, echo: 0x2122_2324 }), ..Options::default() }
}

fn with_snack() -> Options {
    let mut extra = ExtraOptions::default();
    assert!(SnackOption { offset: 3, size: 2, vector: &[] }.push(&mut extra));
    Options { extra, ..Options::default() }
}

/// Sums over protocol 6 were computed by another program.
#[test]
fn an_acknowledgement_has_ten_octets() {
    assert_eq!(compressed(&ack(), false), [7, 0x01, 0x0A, 0x0B, 1, 2, 3, 4, 0xD6, 0xDA]);
}

#[test]
fn data_has_eight_octets_in_front() {
    let data = Segment { flags: flags::PSH, payload: (b"da", b"ta"), ..ack() };
    let bytes = compressed(&data, false);
    assert_eq!(bytes[..6], [7, 0x06, 5, 6, 7, 8]);
    assert_eq!((bytes.len(), &bytes[8..]), (12, &b"data"[..]));
}

#[test]
fn timestamps_and_options_add_eight_octets_each() {
    let stamps = Segment { options: stamped(), ..ack() };
    let expected = [7, 0x61, 0x0A, 0x0B, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24];
    let bytes = compressed(&stamps, false);
    assert_eq!((bytes.len(), &bytes[..16]), (18, &expected[..]));
    let snack = Segment { options: with_snack(), ..ack() };
    let bytes = compressed(&snack, false);
    let expected = [7, 0x81, 0x80, 0x0A, 0x0B, 1, 2, 3, 4, 6, 21, 6, 0, 3, 0, 2];
    assert_eq!((bytes.len(), &bytes[..16]), (18, &expected[..]));
}

#[test]
fn an_odd_header_is_made_even_by_a_zero() {
    let fin = Segment { flags: flags::ACK | flags::FIN, ..ack() };
    let expected = [7, 0x83, 0x41, 0x0A, 0x0B, 1, 2, 3, 4, 5, 6, 7, 8, 0];
    assert_eq!(compressed(&fin, false)[..14], expected);
    let mut extra = ExtraOptions::default();
    assert!(extra.push(RECORD, &[]) && extra.push(CORRUPTION, &[]) && extra.push(99, &[1]));
    let bytes = compressed(&Segment { options: Options { extra, ..Options::default() }, ..ack() }, false);
    assert_eq!(bytes[..16], [7, 0x91, 0xC0, 0x0A, 0x0B, 1, 2, 3, 4, 5, 23, 2, 99, 3, 1, 0]);
}

#[test]
fn what_has_no_place_goes_uncompressed() {
    assert!(fits(&ack()) && fits(&Segment { flags: 0, ..ack() }));
    for bits in [flags::SYN, flags::RST, flags::ECE, flags::CWR] {
        assert!(!fits(&Segment { flags: flags::ACK | bits, ..ack() }), "{bits:#x}");
    }
    let mut sack = SackBlocks::default();
    assert!(sack.push(1, 2));
    for options in [
        Options { mss: Some(1), ..Options::default() },
        Options { window_scale: Some(1), ..Options::default() },
        Options { sack_permitted: true, ..Options::default() },
        Options { sack, ..Options::default() },
    ] {
        assert!(!fits(&Segment { options, ..ack() }), "{options:?}");
    }
}

/// Octets with the checksum that is right over `protocol`, which stands at `at`.
fn sealed(bytes: &[u8], at: usize, protocol: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 2].fill(0);
    let pseudo_header = pseudo_header_sum(way().local, way().remote, protocol, bytes.len());
    let sum = internet_checksum(pseudo_header + internet_sum(&bytes));
    bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn checksums_over_either_protocol_are_right() {
    let bytes = compressed(&ack(), false);
    for (protocol, is_right) in [(6, true), (105, true), (106, false)] {
        let sealed = sealed(&bytes, 8, protocol);
        assert_eq!(decompress(way().reversed(), &sealed).is_ok(), is_right, "{protocol}");
    }
}

#[test]
fn a_reset_as_the_reference_implementation_sends_it_is_read() {
    let reset = sealed(&[7, 0x82, 0x54, 5, 6, 7, 8, 0, 0, 0], 8, 6);
    let read = decompress(way().reversed(), &reset).unwrap().segment;
    assert_eq!((read.flags, read.sequence), (flags::RST, 0x0506_0708));
}

#[test]
fn contradictions_are_refused() {
    let error = |bytes: &[u8]| decompress(way(), bytes).unwrap_err();
    for (bytes, expected) in [
        (&[][..], Malformed::Truncated),
        (&[7, 0x80], Malformed::Truncated),
        (&[7, 0x01, 1, 2, 3, 4, 5], Malformed::Truncated),
        (&[7, 0x02, 0, 0, 0, 1, 9], Malformed::Truncated),
        (&[7, 0x40, 0, 0], Malformed::Flags),
        (&[7, 0x20, 0, 0], Malformed::Flags),
        (&[7, 0x80, 0x10, 0, 0], Malformed::Flags),
        (&[7, 0x81, 0x14, 0, 0], Malformed::Flags),
        (&[7, 0x80, 0x05, 0, 0], Malformed::Flags),
        (&[7, 0x00, 0, 0, 1], Malformed::Flags),
        (&[7, 0x80, 0x01, 0, 0], Malformed::Flags),
        (&[7, 0x80, 0x80, 41, 0, 0], Malformed::Options),
        (&[7, 0x80, 0x80, 4, 0, 0], Malformed::Truncated),
        (&[7, 0x80, 0x80, 4, 2, 4, 1, 0, 0, 0], Malformed::Options),
        (&[7, 0x80, 0x80, 2, 22, 2, 0, 0], Malformed::Options),
        (&[7, 0x80, 0x80, 2, 21, 9, 0, 0], Malformed::Options),
        (&[7, 0x01, 1, 1, 1, 1, 1, 1, 0, 0], Malformed::Checksum),
    ] {
        assert_eq!(error(bytes), expected, "{bytes:?}");
    }
}

fn any_way() -> impl Strategy<Value = Way> {
    let v4 = any::<(u32, u32)>().prop_map(|(a, b)| (IpAddr::V4(a.into()), IpAddr::V4(b.into())));
    let v6 = any::<(u128, u128)>()
        .prop_map(|(a, b)| (IpAddr::V6(Ipv6Addr::from(a)), IpAddr::V6(Ipv6Addr::from(b))));
    prop_oneof![v4, v6].prop_map(|(local, remote)| Way { local, remote })
}

fn any_options() -> impl Strategy<Value = Options> {
    let stamps = any::<Option<(u32, u32)>>();
    let others = proptest::collection::vec((20u8..30, proptest::collection::vec(any::<u8>(), 0..9)), 0..3);
    (stamps, others, any::<bool>()).prop_map(|(stamps, others, ends_record)| {
        let mut extra = ExtraOptions::default();
        for (kind, value) in others.iter().filter(|(kind, _)| *kind != RECORD) {
            extra.push(*kind, value);
        }
        if ends_record {
            extra.push(RECORD, &[]);
        }
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        Options { timestamps, extra, ..Options::default() }
    })
}

proptest! {
    /// Each alone, so in any order and after any loss.
    #[test]
    fn what_is_compressed_comes_back(
        way in any_way(), id in any::<u8>(), numbers in any::<(u32, u32)>(), bits in any::<u8>(),
        window in any::<(u16, u16)>(), options in any_options(), wants_sequence in any::<bool>(),
        payload in proptest::collection::vec(any::<u8>(), 0..100), split in 0usize..100,
    ) {
        let bits = bits & (flags::FIN | flags::PSH | flags::ACK | flags::URG);
        let acks = bits & flags::ACK != 0;
        let has_sequence = wants_sequence || !payload.is_empty() || bits & flags::FIN != 0;
        let segment = Segment {
            sequence: if has_sequence { numbers.0 } else { 0 },
            acknowledgement: if acks { numbers.1 } else { 0 },
            flags: bits,
            window: if acks { window.0 } else { 0 },
            urgent: if bits & flags::URG != 0 { window.1 } else { 0 },
            options,
            payload: payload.split_at(split.min(payload.len())),
            ..Segment::default()
        };
        prop_assert!(fits(&segment));
        let mut bytes = Vec::new();
        compress(way, id, &segment, wants_sequence, &mut bytes);
        prop_assert_eq!((bytes.len() - payload.len()) % 2, 0);
        let read = decompress(way.reversed(), &bytes).unwrap();
        let whole = Segment { payload: (&payload[..], &[][..]), ..segment };
        prop_assert_eq!((read.connection_id, read.has_sequence, read.segment), (id, has_sequence, whole));
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = decompress(way(), &bytes);
    }

    #[test]
    fn every_damaged_bit_is_noticed(bit in 0usize..8 * 10) {
        let mut bytes = compressed(&ack(), false);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decompress(way().reversed(), &bytes).map_or(true, |read| read.segment != ack()));
    }
}
