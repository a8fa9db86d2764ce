//! What a stranger who knows both ports has to guess: `docs/spec/stp.md`, 10.2.

use alloc::vec::Vec;

use skyhaul_core::{Connections, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use crate::State;
use crate::segment::{Report, Segment, decode};

/// Every 1024th packet number of 2^24, from 0 on.
fn numbers() -> impl Iterator<Item = u32> {
    (0..1 << 14).map(|i| i << 10)
}

/// A segment to `side` without anything, as its peer would send it.
fn blank(bench: &Bench, first: &[u8], side: Side) -> Segment<'static> {
    let sent = decode(first).unwrap();
    let (source_port, destination_port) = match side {
        Side::A => (sent.destination_port, sent.source_port),
        Side::B => (sent.source_port, sent.destination_port),
    };
    assert!(bench.b.connection_count() <= 1);
    Segment { source_port, destination_port, instance: sent.instance, ..Segment::default() }
}

#[test]
fn an_opener_is_reset_by_whoever_guesses_its_instance_and_nothing_else() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"hello").unwrap();
    bench.pump();
    let first = bench.wire[0].bytes.clone();
    let blank = blank(&bench, &first, Side::A);
    let (before, mut right) = (bench.a.clone(), Vec::new());
    for instance in 0..=u16::MAX {
        let number = u32::from(instance) << 7;
        bench
            .inject(Side::A, &Segment { instance, number, rst: Some(ResetReason::Aborted), ..blank.clone() });
        if bench.a.state(id) == Some(State::Closed) {
            right.push(instance);
            bench.a = before.clone();
        }
    }
    assert_eq!(right, [blank.instance]);
}

#[test]
fn wrong_data_and_a_false_end_take_the_instance_and_a_number_of_a_quarter_of_all() {
    let (mut bench, _, first) = Bench::opened(b"hello");
    let blank = blank(&bench, &first, Side::B);
    let (before, mut taken) = (bench.b.clone(), [0; 2]);
    for number in numbers() {
        let data = Segment { number, data: Some((b"x", b"")), ..blank.clone() };
        let end = Segment { number, end: Some(number), ..blank.clone() };
        for (taken, forged) in taken.iter_mut().zip([data, end]) {
            bench.inject(Side::B, &forged);
            let refused = |end: &crate::Endpoint| end.stats(1).map(|stats| stats.refused + stats.duplicates);
            if refused(&bench.b) == refused(&before) {
                *taken += 1;
            }
            bench.b = before.clone();
        }
    }
    assert!(taken.iter().all(|taken| (1 << 11..=(1 << 12) + 1).contains(taken)), "{taken:?} of {}", 1 << 14);
    bench.inject(Side::B, &Segment { instance: blank.instance ^ 1, data: Some((b"x", b"")), ..blank });
    assert_eq!(bench.b.endpoint_stats().wrong_instance, 1);
}

#[test]
fn a_false_report_must_name_a_number_that_is_under_way() {
    let (mut bench, id, first) = Bench::opened(b"hello");
    bench.a.write(id, &[7; 15_000]).unwrap();
    bench.pump();
    let under_way = bench.a.stats(id).unwrap().in_flight_bytes.div_ceil(1000);
    let next = decode(&bench.wire.last().unwrap().bytes).unwrap().number;
    let blank = blank(&bench, &first, Side::A);
    let (before, mut believed) = (bench.a.clone(), 0);
    let near = (0..4096).map(|ahead| (next + ahead - 2048) & 0xFF_FFFF);
    for number in near.chain(numbers()) {
        let report = Report { next: number, window_bytes: 1 << 20, ..Report::default() };
        bench.inject(Side::A, &Segment { ustat: Some(report), ..blank.clone() });
        let acknowledged = |end: &crate::Endpoint| end.stats(id).map(|stats| stats.acknowledged_bytes);
        if acknowledged(&bench.a) != acknowledged(&before) {
            believed += 1;
        }
        bench.a = before.clone();
    }
    assert!((1..=2 * under_way).contains(&believed), "{believed} numbers, {under_way} packets under way");
}

#[test]
fn an_end_is_confirmed_falsely_by_whoever_guesses_the_instance_before_it_is_confirmed() {
    let (mut bench, id, first) = Bench::opened(b"hello");
    let blank = blank(&bench, &first, Side::A);
    bench.a.finish(id);
    bench.pump();
    let (before, mut right) = (bench.a.clone(), Vec::new());
    for instance in 0..=u16::MAX {
        bench.inject(Side::A, &Segment { instance, endak: true, ..blank.clone() });
        if core::iter::from_fn(|| bench.a.poll_event()).any(|(_, event)| event == StreamEvent::Finished) {
            right.push(instance);
            bench.a = before.clone();
        }
    }
    assert_eq!(right, [blank.instance]);
    bench.run(SECOND);
    assert!(bench.heard(Side::A, StreamEvent::Finished), "the true confirmation comes");
}
