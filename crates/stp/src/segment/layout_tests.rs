//! The encoder beside the tables of [`super::layout`]: each field, all ones, changes its own bits alone.

use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::Integrity;

use super::layout::{BODIES, HEADER, Layout, OPENING};
use super::*;

fn encoded(segment: &Segment<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_with(Integrity::Seal, segment, &mut out);
    out
}

/// Mask of the bits of a field: they begin `from` octets behind the segment's start.
fn mask(layout: &Layout, from: usize, name: &str, octets: usize) -> Vec<u8> {
    let mut at = from * 8;
    let mut mask = vec![0; octets];
    for field in layout.fields {
        let width = field.bits.unwrap_or(octets * 8 - at);
        if field.name == name {
            (at..at + width).for_each(|bit| mask[bit / 8] |= 0x80 >> (bit % 8));
        }
        at += width;
    }
    mask
}

fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

const ONES_24: u32 = 0xFF_FFFF;

/// Segment in which a field is all ones, and what has the bits of all other fields. None: a field that has no
/// value of its own.
type With = fn() -> Segment<'static>;
/// Layout, octets in front of it, segment of zeros, and its fields.
type Case<'a> = (&'a Layout, usize, Segment<'a>, &'a [(&'a str, With)]);

fn opening(with: impl FnOnce(&mut Opening)) -> Segment<'static> {
    let mut opening = Opening::default();
    with(&mut opening);
    Segment { bgn: Some(opening), ..Segment::default() }
}

fn poll(poll: Poll) -> Segment<'static> {
    Segment { poll: Some(poll), ..Segment::default() }
}

fn stat(echo: u32, report: Report) -> Segment<'static> {
    Segment { stat: Some(Stat { echo, report, ..Stat::default() }), ..Segment::default() }
}

fn ustat(report: Report) -> Segment<'static> {
    Segment { ustat: Some(report), ..Segment::default() }
}

fn next() -> Report {
    Report { next: ONES_24, ..Report::default() }
}

fn window() -> Report {
    Report { window_bytes: u32::MAX, ..Report::default() }
}

/// Fields of each body: its segment with zeros, and with this field all ones.
#[test]
fn every_field_lies_where_the_tables_have_it() {
    let of_header = || Segment { endak: true, ..Segment::default() };
    let header: [(&str, With); 4] = [
        ("source port", || Segment { source_port: u16::MAX, endak: true, ..Segment::default() }),
        ("destination port", || Segment { destination_port: u16::MAX, endak: true, ..Segment::default() }),
        ("packet number", || Segment { number: ONES_24, endak: true, ..Segment::default() }),
        ("instance", || Segment { instance: u16::MAX, endak: true, ..Segment::default() }),
    ];
    let polls: [(&str, With); 2] = [
        ("timestamp", || poll(Poll { timestamp: u32::MAX, ..Poll::default() })),
        ("next number", || poll(Poll { next: ONES_24, ..Poll::default() })),
    ];
    let stats: [(&str, With); 3] = [
        ("echo of the timestamp", || stat(u32::MAX, Report::default())),
        ("next expected", || stat(0, next())),
        ("window", || stat(0, window())),
    ];
    let ustats: [(&str, With); 2] = [("next expected", || ustat(next())), ("window", || ustat(window()))];
    let openings: [(&str, With); 4] = [
        ("largest payload", || opening(|opening| opening.max_payload_bytes = u16::MAX)),
        ("initial number", || opening(|opening| opening.initial = ONES_24)),
        ("window", || opening(|opening| opening.window_bytes = u32::MAX)),
        ("nonce", || opening(|opening| opening.nonce = u64::MAX)),
    ];
    let ends: [(&str, With); 1] = [("end number", || Segment { end: Some(ONES_24), ..Segment::default() })];
    let end = Segment { end: Some(0), ..Segment::default() };
    let cases: [Case<'_>; 6] = [
        (&HEADER, 0, of_header(), &header),
        (&layout::POLL, HEADER_BYTES, poll(Poll::default()), &polls),
        (&layout::STAT, HEADER_BYTES, stat(0, Report::default()), &stats),
        (&layout::USTAT, HEADER_BYTES, ustat(Report::default()), &ustats),
        (&OPENING, HEADER_BYTES, opening(|_| ()), &openings),
        (&layout::END, HEADER_BYTES, end, &ends),
    ];
    for (layout, from, zeros, fields) in cases {
        let zeros = encoded(&zeros);
        assert_eq!(zeros.len(), from + layout.octets(), "{:?}", layout.names);
        for (name, with) in fields {
            let ones = difference(&zeros, &encoded(&with()));
            assert_eq!(ones, mask(layout, from, name, zeros.len()), "{name} of {:?}", layout.names);
        }
        let told = |name: &str| fields.iter().any(|(told, _)| *told == name);
        let untold = layout.fields.iter().filter(|field| field.bits.is_some() && !told(field.name));
        let known = ["type", "checksum", "version", "flags", "reserved", "option octets"];
        untold.for_each(|field| assert!(known.contains(&field.name), "{} is not tested", field.name));
    }
}

/// Octet of a field that is one octet wide.
fn octet(layout: &Layout, from: usize, name: &str) -> usize {
    let mask = mask(layout, from, name, 64);
    let at = mask.iter().position(|&octet| octet == 0xFF).unwrap();
    assert!(mask.iter().enumerate().all(|(i, &octet)| octet == if i == at { 0xFF } else { 0 }));
    at
}

#[test]
fn type_version_flags_and_checksum_lie_where_the_tables_have_them() {
    let opened = encoded(&opening(|opening| opening.options.timing = true));
    assert_eq!(opened[octet(&HEADER, 0, "type")], types::BGN);
    assert_eq!(opened[octet(&OPENING, HEADER_BYTES, "version")], WIRE_VERSION);
    assert_eq!(usize::from(opened[octet(&OPENING, HEADER_BYTES, "option octets")]), 2);
    assert_eq!(opened.len(), HEADER_BYTES + OPENING.octets() + 2);
    let asked = encoded(&poll(Poll { pads: true, ..Poll::default() }));
    assert_eq!(asked[octet(&layout::POLL, HEADER_BYTES, "flags")], poll_flags::PADS);
    let more = || Report { more: true, ..Report::default() };
    assert_eq!(encoded(&stat(0, more()))[octet(&layout::STAT, HEADER_BYTES, "flags")], 4);
    assert_eq!(encoded(&ustat(more()))[octet(&layout::USTAT, HEADER_BYTES, "flags")], 4);
    let mut summed = Vec::new();
    encode(&poll(Poll::default()), &mut summed);
    let sum = difference(&summed, &encoded(&poll(Poll::default())));
    let within = mask(&HEADER, 0, "checksum", sum.len());
    assert!(
        sum.iter().any(|&octet| octet != 0)
            && sum.iter().zip(&within).all(|(sum, within)| sum & !within == 0)
    );
}

#[test]
fn what_has_no_width_of_its_own_ends_the_body() {
    for layout in &BODIES {
        let open = layout.fields.iter().position(|field| field.bits.is_none());
        assert!(open.is_none_or(|at| at + 1 == layout.fields.len()), "{:?}", layout.names);
    }
    let data = Segment { data: Some((b"data", b"")), ..Segment::default() };
    assert_eq!(encoded(&data)[HEADER_BYTES + layout::SD.octets()..], *b"data");
    let gap = Report { start: 1, runs: vec![1], ..Report::default() };
    for (layout, bytes) in
        [(&layout::STAT, encoded(&stat(0, gap.clone()))), (&layout::USTAT, encoded(&ustat(gap)))]
    {
        assert_eq!(bytes.len(), HEADER_BYTES + layout.octets() + 3, "start, count and one run");
    }
}

#[test]
fn every_type_bit_of_the_chapter_has_a_layout() {
    let bits = BODIES.iter().flat_map(|layout| layout.types).fold(0, |all, bit| {
        assert!(bit.is_power_of_two() && all & bit == 0);
        all | bit
    });
    assert_eq!(bits, u8::MAX);
}
