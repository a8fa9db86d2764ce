//! Golden octets, round trips, and decoders that survive anything.

use proptest::prelude::*;

use super::*;
use crate::digest::{Digest, chunk_digest};
use crate::errors::Violation;
use crate::names::RawName;
use crate::reason::{Code, Reason};
use crate::report::Side;

const SPEC: &str = include_str!("../../../../docs/spec/files.md");

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |hex, octet| format!("{hex}{octet:02x}"))
}

/// The specification shows the same octets, in lines of any length.
fn golden(octets: &[u8], expected: &str) {
    assert_eq!(hex(octets), expected);
    let spec: String = SPEC.split_whitespace().collect();
    assert!(spec.contains(expected), "docs/spec/files.md does not show {expected}");
}

fn hello() -> Digest {
    chunk_digest(0, 1, b"hello")
}

#[test]
fn the_opening() {
    golden(
        &SessionOpening { version: Version::One, files: 1, bytes: 5 }.encode(),
        "534b594841554c460100000000000001000000000000000513236d46",
    );
}

#[test]
fn records_of_the_sender() {
    let file = Record::File { size: 5, executable: false, modified: None, name: RawName::new("hi.txt") };
    golden(&file.encode(0), "0100000e0000000095ed10ea000000000000000568692e74787438c060be");
    golden(
        &[&chunk_head(0, 0, 5, &hello())[..], b"hello"].concat(),
        "0200002800000000a2e21b9a0000000000000005ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f0660d1a468656c6c6f",
    );
    golden(
        &Record::End { digest: hello() }.encode(0),
        "0300002000000000147ea40dea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f0f79bf7f",
    );
    let reason = Reason::new(Code::Changed, "gone");
    golden(&Record::Abort { reason }.encode(1), "0400000500000001fc11011008676f6e6544f64bdc");
}

/// A file of which the receiver says, while its first portion is under way, that it refuses it.
#[test]
fn a_chunk_in_portions_that_ends_early() {
    let content = [b'a'; 2 * PORTION_BYTES + 1];
    let opening = SessionOpening { version: Version::Three, files: 1, bytes: 8193 };
    golden(&opening.encode(), "534b594841554c4603000000000000010000000000002001b277b8b3");
    let file = Record::File { size: 8193, executable: false, modified: None, name: RawName::new("hi.txt") };
    golden(&file.encode(0), "0100000e0000000095ed10ea000000000000200168692e747874768d5420");
    golden(
        &chunk_head(0, 0, content.len(), &chunk_digest(0, 1, &content)),
        "0200002800000000a2e21b9a0000000000002001b1f1094e96bb33573b60f112c768f1689eec860a073011b5f9461dc3e1579bbf7d5608a3",
    );
    let reason = Reason::new(Code::Refused, "taken");
    golden(&Record::Abort { reason }.encode(0), "04000006000000009bdc3da70a74616b656e78bcdba2");
    let mut data = [&content[..], &[0; 2]].concat();
    portion(&mut data, content.len());
    let portions = [&content[..PORTION_BYTES], &[MORE], &content[..PORTION_BYTES], &[MORE], b"a"].concat();
    assert!(data == portions && data.len() == portioned_bytes(content.len()));
    golden(&[CUT], "ff");
}

#[test]
fn records_of_the_receiver() {
    golden(
        &Reply::Delivered { count: 1, receipt: receipt([&hello()]) }.encode(0),
        "81000014000000001e63a8d5000000010f79bf7f41e10b873e0f24b701159b49f899ea08",
    );
    let ranges = vec![ChunkRange { first: 3, count: 1 }, ChunkRange { first: 7, count: 2 }];
    golden(&Reply::Again { ranges }.encode(2), "8300000c00000002ec18c61f000000030001000000070002573c76c5");
    let reason = Reason::new(Code::Exists, "taken");
    golden(&Reply::Failed { reason }.encode(1), "8200000600000001b280b1ae0174616b656e35a307d6");
    let reason = Reason::new(Code::Version, "old");
    golden(&Reply::Stop { reason }.encode(0), "84000004000000009ee7f0020c6f6c6447a54d30");
}

/// Decoding as in [`crate::frames`], without a stream.
fn unframe(octets: &[u8], side: Side) -> Result<(Head, &[u8]), Violation> {
    let (head, sealed) = octets.split_first_chunk::<HEAD_BYTES>().ok_or(Violation::Field("a record"))?;
    let head = Head::decode(head, side)?;
    let sealed = sealed.get(..head.sealed_body_bytes()).ok_or(Violation::Field("a record"))?;
    Ok((head, open_body(sealed)?))
}

fn decode_record(octets: &[u8]) -> Result<(u32, Record), Violation> {
    let (head, body) = unframe(octets, Side::Sender)?;
    chunk_data_len(&head, body)?;
    Ok((head.file, Record::decode(&head, body)?))
}

fn decode_reply(octets: &[u8]) -> Result<(u32, Reply), Violation> {
    let (head, body) = unframe(octets, Side::Receiver)?;
    Ok((head.file, Reply::decode(&head, body)?))
}

fn reason() -> impl Strategy<Value = Reason> {
    (0u8..14, ".{0,60}").prop_map(|(code, text)| Reason::new(Code::from_octet(code), text))
}

fn record() -> impl Strategy<Value = Record> {
    let name = proptest::collection::vec(any::<u8>(), 1..=255).prop_map(RawName::new);
    let time = (any::<i64>(), 0..1_000_000_000u32).prop_map(|(seconds, nanos)| Modified { seconds, nanos });
    let modified = proptest::option::of(time);
    prop_oneof![
        (any::<u64>(), any::<bool>(), modified, name).prop_map(|(size, executable, modified, name)| {
            Record::File { size, executable, modified, name }
        }),
        any::<[u8; 32]>().prop_map(|digest| Record::End { digest: Digest(digest) }),
        reason().prop_map(|reason| Record::Abort { reason }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let numbers = proptest::collection::btree_set(any::<u32>(), 1..200);
    prop_oneof![
        (any::<u32>(), any::<[u8; 16]>()).prop_map(|(count, receipt)| Reply::Delivered { count, receipt }),
        reason().prop_map(|reason| Reply::Failed { reason }),
        numbers.prop_map(|numbers| Reply::Again { ranges: ChunkRange::collect(numbers) }),
        reason().prop_map(|reason| Reply::Stop { reason }),
    ]
}

proptest! {
    #[test]
    fn records_come_back(record in record(), file in any::<u32>()) {
        prop_assert_eq!(decode_record(&record.encode(file)), Ok((file, record)));
    }

    #[test]
    fn replies_come_back(reply in reply(), file in any::<u32>()) {
        let wraps = matches!(&reply, Reply::Again { ranges } if ranges.iter().any(|r| r.first == u32::MAX));
        prop_assume!(!wraps);
        prop_assert_eq!(decode_reply(&reply.encode(file)), Ok((file, reply)));
    }

    #[test]
    fn one_damaged_octet_is_always_noticed(record in record(), at in any::<usize>(), flip in 1u8..) {
        let mut octets = record.encode(7);
        let at = at % octets.len();
        octets[at] ^= flip;
        prop_assert!(decode_record(&octets).is_err());
    }

    #[test]
    fn decoders_survive_anything(octets in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(decode_record(&octets).is_err());
        prop_assert!(decode_reply(&octets).is_err());
    }

    #[test]
    fn bodies_survive_anything(
        kind in 0usize..8, flags in 0u8..3, body in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let (from_sender, from_receiver) = (
            [RecordKind::File, RecordKind::Chunk, RecordKind::End, RecordKind::Abort],
            [RecordKind::Delivered, RecordKind::Failed, RecordKind::Again, RecordKind::Stop],
        );
        let kinds = [from_sender, from_receiver].concat();
        let octets = frame(kinds[kind], flags, 1, &body);
        let _ = decode_record(&octets);
        let _ = decode_reply(&octets);
        let head = Head { kind: kinds[kind], flags, body: 0, file: 0 };
        let _ = (Record::decode(&head, &body), Reply::decode(&head, &body), chunk_data_len(&head, &body));
    }
}

#[test]
fn the_opening_is_judged_magic_first_and_version_last() {
    let good = SessionOpening { version: Version::One, files: 3, bytes: 9 };
    for version in [Version::One, Version::Two, Version::Three] {
        let good = SessionOpening { version, ..good };
        assert_eq!(SessionOpening::decode(&good.encode()), Ok(good));
    }
    let with = |at: usize, octet: u8, sealed: bool| {
        let mut octets = good.encode();
        octets[at] = octet;
        if sealed {
            let check = check(&octets[..24]);
            octets[24..].copy_from_slice(&check);
        }
        SessionOpening::decode(&octets).unwrap_err()
    };
    assert_eq!(with(0, b'X', true), Violation::Magic);
    assert_eq!(with(8, 4, true), Violation::Version(4));
    assert_eq!(with(8, 0, true), Violation::Version(0));
    assert_eq!(with(8, 2, false), Violation::Check("the opening"));
    assert_eq!(with(9, 1, true), Violation::Field("the opening"));
    assert_eq!(with(12, 1, true), Violation::Field("the opening"));
}

#[test]
fn heads_out_of_place_are_refused() {
    let head = |kind, flags, body| Head { kind, flags, body, file: 0 }.encode();
    let sender = |octets| Head::decode(&octets, Side::Sender).unwrap_err();
    assert_eq!(sender(head(RecordKind::Stop, 0, 9)), Violation::RecordKind(0x84));
    assert_eq!(sender(head(RecordKind::End, 1, 32)), Violation::Field("the flags of a record"));
    assert_eq!(sender(head(RecordKind::End, 0, 33)), Violation::Length { kind: 3, length: 33 });
    assert_eq!(sender(head(RecordKind::File, 0, 8)), Violation::Length { kind: 1, length: 8 });
    assert_eq!(sender(head(RecordKind::File, 0, 264)), Violation::Length { kind: 1, length: 264 });
    assert_eq!(sender(head(RecordKind::File, 2, 20)), Violation::Length { kind: 1, length: 20 });
    assert_eq!(sender(head(RecordKind::File, 2, 276)), Violation::Length { kind: 1, length: 276 });
    assert_eq!(sender([0; HEAD_BYTES]), Violation::Check("a record's head"));
}

#[test]
fn fields_out_of_range_are_refused() {
    let late = frame(RecordKind::File, 2, 0, &[0xff; 21]);
    assert_eq!(decode_record(&late).unwrap_err(), Violation::Field("the time of a file"));
    let flags = frame(RecordKind::File, 4, 0, &[0; 9]);
    assert_eq!(decode_record(&flags).unwrap_err(), Violation::Field("the flags of a file"));
    for length in [0, crate::CHUNK_BYTES + 1] {
        let chunk = chunk_head(0, 0, length, &hello());
        let expected = Violation::Length { kind: 2, length: length as u32 };
        assert_eq!(decode_record(&chunk).unwrap_err(), expected);
    }
}

#[test]
fn lists_of_chunks_are_ascending_apart_and_short() {
    let list = |ranges: &[(u32, u16)]| {
        let ranges = ranges.iter().map(|&(first, count)| ChunkRange { first, count }).collect();
        decode_reply(&Reply::Again { ranges }.encode(0))
    };
    assert!(list(&[(0, 1), (2, 1022), (5000, 1)]).is_ok());
    for wrong in [&[(0, 0)][..], &[(3, 1), (2, 1)], &[(0, 2), (2, 1)], &[(0, 1025)], &[(u32::MAX, 1)]] {
        assert_eq!(list(wrong).unwrap_err(), Violation::Field("a list of chunks"), "{wrong:?}");
    }
    let crooked = frame(RecordKind::Again, 0, 0, &[0, 0, 0, 0, 0, 1, 9]);
    assert!(decode_reply(&crooked).is_err());
}

#[test]
fn neighbours_become_one_range() {
    let ranges = ChunkRange::collect([1, 2, 3, 5, 9, 10]);
    let expected = [(1, 3), (5, 1), (9, 2)].map(|(first, count)| ChunkRange { first, count });
    assert_eq!(ranges, expected);
    let numbers: Vec<u32> = ranges.iter().flat_map(|range| range.numbers()).collect();
    assert_eq!(numbers, [1, 2, 3, 5, 9, 10]);
}
