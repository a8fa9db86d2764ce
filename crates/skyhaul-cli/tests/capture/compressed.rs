//! The dissector of compressed headers beside the project's own decoder: the golden vectors of
//! `docs/spec/scps-tp.md`, every bit of them changed, and segments at random, over both families.

use std::collections::BTreeSet;
use std::net::IpAddr;

use skyhaul_capture::Direction;
use skyhaul_core::packet::ip_protocol::{COMPRESSED_TCP, TCP};
use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};
use skyhaul_tcp::scps::compress::{Compressed, compress, decompress};
use skyhaul_tcp::scps::{CORRUPTION, RECORD, SNACK, SnackOption};
use skyhaul_tcp::segment::{ExtraOptions, Options, Segment, Timestamps, Way, flags};

use crate::common::noise;
use crate::tshark::{Fields, capture_between, fields_by, is_missing, names_in, vectors};

const PAGE: &str = include_str!("../../../../docs/spec/scps-tp.md");
const DISSECTOR: &str = include_str!("../../../../contrib/wireshark/scps-tp.lua");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/wireshark/scps-tp.lua");
const ENDS: [[&str; 2]; 2] = [["10.0.0.1:0", "10.0.0.2:0"], ["[fd00::1]:0", "[fd00::2]:0"]];

/// The way of who receives at the second end.
fn way(ends: [&str; 2]) -> Way {
    let [remote, local] = ends.map(|end| end.parse::<std::net::SocketAddr>().unwrap().ip());
    Way { local, remote }
}

/// Fields that the dissector must show, put together from what the decoder says; what that does not keep,
/// from the octets.
#[derive(Default)]
struct Expected(Fields);

impl Expected {
    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.entry(format!("scpstp.{name}")).or_default().push(value.to_string());
    }

    fn flag(&mut self, name: &str, is: bool) {
        self.add(name, u8::from(is));
    }

    fn octets(&mut self, name: &str, octets: &[u8]) {
        let digits = octets.iter().map(|octet| format!("{octet:02x}"));
        self.add(name, digits.collect::<Vec<_>>().concat());
    }

    fn of(octets: &[u8], compressed: &Compressed<'_>, way: Way) -> Fields {
        let Compressed { connection_id, segment, has_sequence } = compressed;
        let mut expected = Self::default();
        expected.add("id", connection_id);
        expected.flags(octets, segment, *has_sequence);
        if segment.has(flags::URG) {
            expected.add("urgent", segment.urgent);
        }
        if segment.has(flags::ACK) {
            expected.add("window", segment.window);
            expected.add("ack", segment.acknowledgement);
        }
        if *has_sequence {
            expected.add("seq", segment.sequence);
        }
        if let Some(Timestamps { value, echo }) = segment.options.timestamps {
            expected.add("tsval", value);
            expected.add("tsecr", echo);
        }
        for (kind, value) in segment.options.extra.iter().filter(|(kind, _)| *kind != RECORD) {
            expected.option(kind, value);
        }
        let header = &octets[..octets.len() - segment.payload.0.len()];
        let checksum = [header[header.len() - 2], header[header.len() - 1]];
        expected.add("checksum", format!("0x{:04x}", u16::from_be_bytes(checksum)));
        expected.flag("checksum.good", true);
        let is_tcps = sum(way, TCP, octets) == 0;
        expected.add("checksum.protocol", if is_tcps { TCP } else { COMPRESSED_TCP });
        expected.add("len", segment.payload.0.len());
        if !segment.payload.0.is_empty() {
            expected.octets("data", segment.payload.0);
        }
        expected.0
    }

    fn flags(&mut self, octets: &[u8], segment: &Segment<'_>, has_sequence: bool) {
        let (one, stamps) = (octets[1], segment.options.timestamps.is_some());
        self.add("flags", format!("0x{one:02x}"));
        self.flag("flags.more", one & 0x80 != 0);
        self.flag("flags.ts1", stamps);
        self.flag("flags.ts2", stamps);
        self.flag("flags.record", segment.options.extra.get(RECORD).is_some());
        self.flag("flags.snack", one & 0x08 != 0);
        self.flag("flags.push", segment.has(flags::PSH));
        self.flag("flags.seq", has_sequence);
        self.flag("flags.ack", segment.has(flags::ACK));
        if one & 0x80 != 0 {
            let two = octets[2];
            self.add("flags2", format!("0x{two:02x}"));
            self.flag("flags2.options", two & 0x80 != 0);
            self.flag("flags2.pad", two & 0x40 != 0);
            self.flag("flags2.urgent", segment.has(flags::URG));
            self.flag("flags2.ackr", two & 0x10 != 0);
            self.flag("flags2.rst", segment.has(flags::RST));
            self.flag("flags2.fin", segment.has(flags::FIN));
        }
    }

    fn option(&mut self, kind: u8, value: &[u8]) {
        self.add("option.kind", kind);
        self.add("option.length", value.len() + 2);
        if !value.is_empty() {
            self.octets("option.value", value);
        }
        if let Some(SnackOption { offset, size, vector }) =
            SnackOption::decode(value).filter(|_| kind == SNACK)
        {
            self.add("snack.offset", offset);
            self.add("snack.size", size);
            if !vector.is_empty() {
                self.octets("snack.vector", vector);
            }
        }
    }
}

fn sum(Way { local, remote }: Way, protocol: u8, octets: &[u8]) -> u16 {
    let pseudo = |from: IpAddr, to: IpAddr| pseudo_header_sum(from, to, protocol, octets.len());
    internet_checksum(pseudo(remote, local) + internet_sum(octets))
}

/// The dissector's fields without what the decoder does not keep: padding, the number of octets of options,
/// and selective acknowledgements, which it keeps elsewhere.
fn comparable(mut fields: Fields) -> Fields {
    for name in ["scpstp.pad", "scpstp.options"] {
        fields.remove(name);
    }
    fields
}

/// Captures segments, and holds the dissector's fields to the decoder's. Gives the fields.
fn hold(ends: [&str; 2], segments: &[(String, Vec<u8>)]) -> Vec<Fields> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.pcapng");
    let outbound = segments.iter().map(|(_, segment)| (Direction::Outbound, segment.clone()));
    capture_between(&path, ends, COMPRESSED_TCP, outbound);
    let names = [names_in(DISSECTOR), vec!["scpstp.malformed", "scpstp.damaged"]].concat();
    let seen = fields_by(SCRIPT, &names, &path);
    assert_eq!(seen.len(), segments.len());
    for ((name, octets), fields) in segments.iter().zip(&seen) {
        let is_refused = ["scpstp.malformed", "scpstp.damaged"].iter().any(|name| fields.contains_key(*name));
        match decompress(way(ends), octets) {
            Ok(found) if found.segment.options.sack.as_slice().is_empty() => {
                let expected = Expected::of(octets, &found, way(ends));
                assert_eq!(comparable(fields.clone()), expected, "{name}: {octets:02x?}");
            }
            Ok(_) => assert!(!is_refused, "{name}: {octets:02x?}: {fields:?}"),
            Err(error) => {
                assert!(is_refused, "{name}: {error:?}, and nothing is found: {octets:02x?}: {fields:?}");
            }
        }
    }
    seen
}

#[test]
fn golden_vectors_of_compressed_headers_have_the_fields_that_the_decoder_finds() {
    if is_missing() {
        return;
    }
    let named: Vec<_> = vectors(PAGE).into_iter().map(|(name, octets)| (name.to_string(), octets)).collect();
    assert!(named.len() >= 10, "the page was read");
    let seen = hold(ENDS[0], &named);
    let shown: BTreeSet<&str> = seen.iter().flat_map(Fields::keys).map(String::as_str).collect();
    let unseen: Vec<_> = names_in(DISSECTOR).into_iter().filter(|name| !shown.contains(name)).collect();
    assert!(unseen.is_empty(), "fields that no vector has: {unseen:?}");
    assert!(!shown.contains("scpstp.malformed") && !shown.contains("scpstp.damaged"));
}

/// What is decoded is encoded as it was, but for what this encoder never makes.
#[test]
fn the_encoder_makes_the_golden_vectors() {
    for (name, octets) in vectors(PAGE) {
        let found = decompress(way(ENDS[0]), &octets).unwrap();
        let mut again = Vec::new();
        compress(
            way(ENDS[0]).reversed(),
            found.connection_id,
            &found.segment,
            found.has_sequence,
            &mut again,
        );
        let is_foreign = matches!(name, "ack-105" | "reset");
        assert_eq!(again == octets, !is_foreign, "{name}: {again:02x?}");
    }
}

/// With its last two octets such that the checksum is right, wherever that stands.
fn sealed(way: Way, mut octets: Vec<u8>) -> Vec<u8> {
    if !octets.len().is_multiple_of(2) {
        octets.push(0);
    }
    let at = octets.len() - 2;
    octets[at..].fill(0);
    let right = sum(way, TCP, &octets).to_be_bytes();
    octets[at..].copy_from_slice(&right);
    octets
}

#[test]
fn what_the_decoder_refuses_of_changed_vectors_is_marked() {
    if is_missing() {
        return;
    }
    let mut changed = Vec::new();
    for (name, octets) in vectors(PAGE) {
        for bytes in 0..octets.len() {
            changed.push((format!("{name}, {bytes} octets"), octets[..bytes].to_vec()));
        }
        for bit in 0..8 * octets.len() {
            let mut other = octets.clone();
            other[bit / 8] ^= 0x80 >> (bit % 8);
            changed.push((format!("{name}, bit {bit} damaged"), other.clone()));
            changed.push((format!("{name}, bit {bit} changed"), sealed(way(ENDS[0]), other)));
        }
    }
    changed.retain(|(_, octets)| !octets.is_empty()); // there is no segment in a packet without any
    let refused = |(_, octets): &&(String, Vec<u8>)| decompress(way(ENDS[0]), octets).is_err();
    assert!(changed.iter().filter(refused).count() > 1000 && !changed.iter().all(|one| refused(&one)));
    hold(ENDS[0], &changed);
}

#[test]
fn compressed_segments_at_random_are_read_as_the_decoder_reads_them() {
    if is_missing() {
        return;
    }
    let octets = noise(60_000);
    let mut source = octets.iter().copied();
    let mut next = |below: u32| {
        let value = source.by_ref().take(4).fold(0, |value, octet| value << 8 | u32::from(octet));
        value % below
    };
    for ends in ENDS {
        let mut segments = Vec::new();
        for place in 0..150 {
            let data = noise(next(3) as usize * next(300) as usize);
            let vector = noise(next(9) as usize);
            let mut extra = ExtraOptions::default();
            if next(2) == 0 {
                let hole =
                    SnackOption { offset: next(65_536) as u16, size: next(65_536) as u16, vector: &vector };
                assert!(hole.push(&mut extra));
            }
            for kind in [CORRUPTION, RECORD] {
                assert!(next(2) == 0 || extra.push(kind, &[]));
            }
            let timestamps =
                (next(2) == 0).then(|| Timestamps { value: next(u32::MAX), echo: next(u32::MAX) });
            let bits = [flags::ACK, flags::PSH, flags::FIN, flags::URG].into_iter().map(|bit| [0, bit]);
            let segment = Segment {
                sequence: next(u32::MAX),
                acknowledgement: next(u32::MAX),
                window: next(65_536) as u16,
                urgent: next(65_536) as u16,
                flags: bits.map(|bit| bit[next(2) as usize]).sum(),
                options: Options { timestamps, extra, ..Options::default() },
                payload: (&data, &[]),
                ..Segment::default()
            };
            let mut octets = Vec::new();
            compress(way(ends).reversed(), next(256) as u8, &segment, next(2) == 0, &mut octets);
            segments.push((format!("segment {place}"), octets));
            let random = noise(1 + next(40) as usize).iter().map(|octet| octet ^ next(256) as u8).collect();
            segments.push((format!("octets {place}"), sealed(way(ends), random)));
        }
        hold(ends, &segments);
    }
}
