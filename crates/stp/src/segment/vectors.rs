//! The golden vectors of `docs/spec/stp.md`, read from the page itself: page and code cannot part.

use alloc::vec;
use alloc::vec::Vec;

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
    Opening { max_payload_bytes: 1459, initial: 0x10, window_bytes: 1 << 25, nonce: 0x0123_4567_89AB_CDEF }
}

#[test]
fn golden_vectors() {
    let data: Payload<'static> = (b"hello", b"");
    let poll = Some(Poll { timestamp: 0x0001_0203, next: 0x11 });
    check("sd", &Segment { data: Some(data), ..base() });
    check("poll", &Segment { poll, ..base() });
    check("sd-poll", &Segment { data: Some(data), poll, ..base() });
    check("bgn-sd-poll", &Segment { bgn: Some(opening()), poll, data: Some(data), ..base() });
    check("bgnak-poll", &Segment { bgnak: Some(opening()), poll, ..base() });
    let report = |runs| Report { next: 0x20, window_bytes: 1 << 20, runs, ..Report::default() };
    check(
        "stat-empty",
        &Segment { stat: Some(Stat { echo: 0x0001_0203, report: report(vec![]) }), ..base() },
    );
    let varint = report(vec![1, 200]);
    check("stat-varint", &Segment { stat: Some(Stat { echo: 0x0001_0203, report: varint }), ..base() });
    let rice = Report { more: true, start: 3, ..report(vec![1, 9, 2, 7, 1, 12, 1, 3]) };
    check("stat-rice", &Segment { stat: Some(Stat { echo: 0x0001_0203, report: rice }), ..base() });
    check("ustat", &Segment { ustat: Some(report(vec![1])), ..base() });
    check("end-endak", &Segment { end: Some(0x21), endak: true, ..base() });
    check("rst", &Segment { rst: Some(ResetReason::Refused), ..base() });
}
