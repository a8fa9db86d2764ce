//! The golden vectors of `docs/spec/stp.md`, read from the page itself: page and code cannot part.

use alloc::vec;
use alloc::vec::Vec;

use super::segment_tests::reseal;
use super::*;

const PAGE: &str = include_str!("../../../../docs/spec/stp.md");

fn vector(name: &str) -> Vec<u8> {
    let marker = alloc::format!("vector {name}:");
    let text = PAGE.split(&marker).nth(1).unwrap_or_else(|| panic!("no {marker} on the page"));
    let hex: Vec<u8> = text.split("```").next().unwrap().bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |b: u8| (b as char).to_digit(16).unwrap() as u8;
    hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn check(name: &str, segment: &Segment<'_>) {
    let mut bytes = Vec::new();
    encode(segment, &mut bytes);
    assert_eq!(bytes, vector(name), "{name} is {bytes:02x?}");
    assert_eq!(decode(&bytes).as_ref(), Ok(segment), "{name}");
}

fn base() -> Segment<'static> {
    Segment { source_port: 0xC001, destination_port: 4, number: 0x10, instance: 0x5A5A, ..Segment::default() }
}

fn opening() -> Opening {
    Opening {
        max_payload_bytes: 1459,
        initial: 0x10,
        window_bytes: 1 << 25,
        nonce: 0x0123_4567_89AB_CDEF,
        ..Opening::default()
    }
}

#[test]
fn golden_vectors() {
    let data: Payload<'static> = (b"hello", b"");
    let poll = Some(Poll { timestamp: 0x0001_0203, next: 0x11, ..Poll::default() });
    check("sd", &Segment { data: Some(data), ..base() });
    check("poll", &Segment { poll, ..base() });
    check("sd-poll", &Segment { data: Some(data), poll, ..base() });
    check("bgn-sd-poll", &Segment { bgn: Some(opening()), poll, data: Some(data), ..base() });
    let wants_timing = Opening { options: Options { timing: true, ..Options::default() }, ..opening() };
    check("bgn-timing", &Segment { bgn: Some(wants_timing), data: Some(data), ..base() });
    check("bgnak-poll", &Segment { bgnak: Some(opening()), poll, ..base() });
    check_increments();
    let report = |runs| Report { next: 0x20, window_bytes: 1 << 20, runs, ..Report::default() };
    check(
        "stat-empty",
        &Segment {
            stat: Some(Stat { echo: 0x0001_0203, report: report(vec![]), ..Stat::default() }),
            ..base()
        },
    );
    let varint = report(vec![1, 200]);
    check(
        "stat-varint",
        &Segment { stat: Some(Stat { echo: 0x0001_0203, report: varint, ..Stat::default() }), ..base() },
    );
    let rice = Report { more: true, start: 3, ..report(vec![1, 9, 2, 7, 1, 12, 1, 3]) };
    check(
        "stat-rice",
        &Segment { stat: Some(Stat { echo: 0x0001_0203, report: rice, ..Stat::default() }), ..base() },
    );
    let timing = Some(Timing { clock: 0x000F_4240, octets: 0x0001_86A0 });
    let stat = Stat { echo: 0x0001_0203, report: report(vec![]), timing, ..Stat::default() };
    check("stat-timing", &Segment { stat: Some(stat), ..base() });
    let feedback = Some(Feedback { sum_bytes_per_s: 0xFFFF_FB1E, routers: 2 });
    let stat = Stat { echo: 0x0001_0203, report: report(vec![]), feedback, ..Stat::default() };
    check("stat-feedback", &Segment { stat: Some(stat), ..base() });
    let feedback = Opening { options: Options { feedback: true, ..Options::default() }, ..opening() };
    check("bgn-feedback", &Segment { bgn: Some(feedback), data: Some(data), ..base() });
    check(
        "stat-wanting",
        &Segment {
            stat: Some(Stat {
                echo: 0x0001_0203,
                report: report(vec![1]),
                wanting: Some((5, 3)),
                ..Stat::default()
            }),
            ..base()
        },
    );
    check("ustat", &Segment { ustat: Some(report(vec![1])), ..base() });
    let mut runs = vec![1; 40];
    runs.push(1000);
    check(
        "stat-escape",
        &Segment {
            stat: Some(Stat { echo: 0x0001_0203, report: report(runs), ..Stat::default() }),
            ..base()
        },
    );
    check("ustat-sd", &Segment { ustat: Some(report(vec![1])), data: Some(data), ..base() });
    check("end-endak", &Segment { end: Some(0x21), endak: true, ..base() });
    let repairs = Opening { options: Options { repairs: true, ..Options::default() }, ..opening() };
    check("bgn-repairs", &Segment { bgn: Some(repairs), data: Some(data), ..base() });
    let block = Block { id: 5, runs: vec![3, 12, 1], sizes: vec![(2, 1459), (2, 1451)] };
    check("block", &Segment { block: Some(block), ..base() });
    check("repair", &Segment { number: repair_number(5, 7), repair: Some(b"hello"), ..base() });
    let pieces = Opening { options: Options { pieces: true, ..Options::default() }, ..opening() };
    check("bgn-pieces", &Segment { bgn: Some(pieces), data: Some(data), ..base() });
    check("piece", &Segment { piece: Some(Piece { offset: 1250, total: 1255, data }), ..base() });
    check("rst", &Segment { rst: Some(ResetReason::Refused), ..base() });
}

fn check_increments() {
    let takes_increments =
        Opening { options: Options { increments: true, ..Options::default() }, ..opening() };
    check("bgn-increments", &Segment { bgn: Some(takes_increments), data: Some((b"hello", b"")), ..base() });
    let poll =
        Poll { timestamp: 0x0001_0203, next: 0x31, settled: Some(0x2A), spares_ustats: true, pads: false };
    check("poll-settled", &Segment { poll: Some(poll), ..base() });
    let probe = Poll { timestamp: 0x0001_0203, next: 0x11, pads: true, ..Poll::default() };
    check("mtu-probe", &Segment { number: 0xF, poll: Some(probe), data: Some((&[0; 8], b"")), ..base() });
    let report = Report {
        next: 0x20,
        window_bytes: 1 << 20,
        silent: Some((10, 4)),
        runs: vec![1, 8, 3],
        ..Report::default()
    };
    let stat = Stat { echo: 0x0001_0203, report, ..Stat::default() };
    check("stat-silent", &Segment { stat: Some(stat), ..base() });
}

#[test]
fn an_option_that_nobody_knows_is_skipped() {
    let expected = Segment { bgn: Some(opening()), data: Some((b"hello", b"")), ..base() };
    assert_eq!(decode(&vector("bgn-option")), Ok(expected));
}

/// The vector `name` after `change`, with its checksum corrected.
fn decode_changed(name: &str, change: impl Fn(&mut Vec<u8>)) -> Malformed {
    let mut bytes = vector(name);
    change(&mut bytes);
    reseal(&mut bytes);
    decode(&bytes).unwrap_err()
}

#[test]
fn what_the_page_says_is_refused_is_refused() {
    assert_eq!(decode_changed("poll", |b| b[4] = 0x00), Malformed::Type);
    assert_eq!(decode_changed("poll", |b| b[4] = 0x16), Malformed::Type);
    assert_eq!(decode_changed("poll", |b| b.truncate(b.len() - 1)), Malformed::Truncated);
    assert_eq!(decode_changed("poll", |b| b.push(0)), Malformed::Length);
    assert_eq!(decode_changed("bgn-sd-poll", |b| b[12] = 2), Malformed::Opening);
    assert_eq!(decode_changed("ustat", |b| b[15] |= 3), Malformed::GapList);
    assert_eq!(decode_changed("ustat", |b| b[21] = 0), Malformed::GapList);
    assert_eq!(decode_changed("stat-silent", |b| b[25] = 0), Malformed::GapList);
    assert_eq!(decode_changed("poll-settled", |b| b.truncate(20)), Malformed::Truncated);
    assert_eq!(decode_changed("piece", |b| b[15] -= 1), Malformed::Piece, "beyond the packet");
    assert_eq!(decode_changed("piece", |b| b[15] += 1), Malformed::Piece, "a tiny one in the middle");
    assert_eq!(decode_changed("piece", |b| b.truncate(16)), Malformed::Piece, "no data");
    assert_eq!(decode_changed("ustat-sd", |b| b[23] = 1), Malformed::Length);
    assert_eq!(decode_changed("ustat-sd", |b| b.truncate(24)), Malformed::Length);
}

#[test]
fn every_vector_of_the_page_is_tested() {
    let source = include_str!("vectors.rs");
    for name in PAGE.split("\nvector ").skip(1).filter_map(|rest| rest.split(':').next()) {
        assert!(source.contains(&alloc::format!("\"{name}\"")), "{name} is on the page and in no test");
    }
}
