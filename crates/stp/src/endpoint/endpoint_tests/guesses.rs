//! What a stranger who knows both ports has to guess: `docs/spec/stp.md`, 10.2.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{Connections, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use crate::segment::{Poll, Report, Segment, decode, repair_number};
use crate::{Config, State};

/// Wrong guesses that came before the right one: as many as tell that somebody guesses.
const GUESSES: u64 = 16;

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

/// Whoever finds the instance has tried others.
fn guess(bench: &mut Bench, blank: &Segment<'static>) {
    for i in 1..=GUESSES {
        let instance = blank.instance.wrapping_add(i as u16);
        bench.inject(Side::B, &Segment { instance, data: Some((b"x", b"")), ..blank.clone() });
    }
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

/// Those, and all numbers near `next`.
fn numbers_and_those_near(next: u32) -> impl Iterator<Item = u32> {
    (0..4096).map(move |ahead| (next + ahead - 2048) & 0xFF_FFFF).chain(numbers())
}

#[test]
fn wrong_data_and_a_false_end_take_the_instance_and_a_number_of_256() {
    let (mut bench, _, first) = Bench::opened(b"hello");
    let blank = blank(&bench, &first, Side::B);
    guess(&mut bench, &blank);
    let (before, mut taken) = (bench.b.clone(), [0; 2]);
    for number in numbers_and_those_near(decode(&first).unwrap().number + 1) {
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
    assert_eq!(taken, [256; 2]);
    bench.inject(Side::B, &Segment { instance: blank.instance ^ 1, data: Some((b"x", b"")), ..blank });
    assert_eq!(bench.b.endpoint_stats().wrong_instance, GUESSES + 1);
}

/// B has heard `hello`; then come forged segments with a good instance and a number far ahead, and what A
/// writes meanwhile arrives whole, and in time. `forge` knows a timestamp of A.
fn ends_whole_beside(forge: impl Fn(u32, Segment<'static>) -> Segment<'static>) {
    let (mut bench, id, first) = Bench::opened(b"hello");
    let blank = blank(&bench, &first, Side::B);
    let opening = decode(&first).unwrap();
    let timestamp = opening.poll.unwrap().timestamp;
    guess(&mut bench, &blank);
    for round in 0..8 {
        let number = (opening.number + 1000 + 5000 * round) & 0xFF_FFFF;
        bench.inject(Side::B, &forge(timestamp, Segment { number, ..blank.clone() }));
        bench.a.write(id, &[round as u8; 3000]).unwrap();
        bench.run(SECOND);
    }
    bench.a.finish(id);
    bench.run(SECOND);
    assert!(bench.heard(Side::A, StreamEvent::Finished), "the sender knows that all arrived");
    assert_eq!(bench.b.state(1), Some(State::HalfClosedRemote), "and the receiver where it ends");
    let expected: Vec<u8> = b"hello".iter().copied().chain((0..8).flat_map(|i| [i; 3000])).collect();
    assert_eq!(bench.received(1), expected);
}

#[test]
fn a_forged_packet_that_was_not_sent_yet_stops_nothing() {
    ends_whole_beside(|_, blank| Segment { data: Some((b"x", b"")), ..blank });
}

#[test]
fn a_forged_end_stops_nothing() {
    ends_whole_beside(|_, blank| Segment { end: Some(blank.number), ..blank });
}

#[test]
fn a_forged_poll_does_not_make_the_true_ones_old() {
    for ahead in [1 << 20, 1 << 30, (1 << 31) - 1] {
        for is_behind in [false, true] {
            ends_whole_beside(|timestamp, blank| {
                let timestamp = timestamp.wrapping_add(ahead);
                let next = blank.number.wrapping_sub(if is_behind { 1 << 20 } else { 0 }) & 0xFF_FFFF;
                let poll = Poll { timestamp, next, ..Poll::default() };
                Segment { poll: Some(poll), data: Some((b"x", b"")), ..blank }
            });
        }
    }
}

#[test]
fn a_long_gap_costs_nothing_but_what_was_lost_where_nobody_guesses_and_ends_in_time_where_somebody_does() {
    for is_guessed in [false, true] {
        let mut bench = Bench::new();
        let id = bench.open_with(Config { rate_bps: Some(40_000_000), ..Config::standard() });
        let written = bench.a.write(id, &vec![0; 4_000_000]).unwrap() as u64;
        bench.pump();
        let first = bench.wire[0].bytes.clone();
        bench.run(2 * RTT_NS);
        if is_guessed {
            let blank = blank(&bench, &first, Side::B);
            guess(&mut bench, &blank);
        }
        bench.drop = Box::new(|side, _| side == Side::A);
        bench.run(RTT_NS / 2);
        bench.drop = Box::new(|_, _| false);
        bench.run(2 * SECOND);
        let (sent, got) = (bench.a.stats(id).unwrap(), bench.b.stats(1).unwrap());
        assert!(sent.lost_packets.iter().sum::<u64>() > 256, "{sent:?}");
        assert_eq!(got.delivered_bytes, written, "{is_guessed}: {sent:?}");
        assert_eq!(got.refused > 0, is_guessed, "{got:?}");
    }
}

#[test]
fn a_forged_symbol_makes_wrong_data_only_of_whoever_finds_the_instance_without_many_guesses() {
    for is_guessed in [false, true] {
        let config = Config { rate_bps: Some(4_000_000), ..Config::standard() };
        let mut bench = Bench::with(config.clone(), 1);
        let mut count = 0;
        bench.drop = Box::new(move |side, segment| {
            count += u64::from(side == Side::A && segment.data.is_some());
            side == Side::A && segment.data.is_some() && count % 10 == 0
        });
        let id = bench.open_with(config);
        let data: Vec<u8> = (0..300 * 1400).map(|i| (i * 7) as u8).collect();
        bench.a.write(id, &data).unwrap();
        bench.a.finish(id);
        bench.pump();
        let first = bench.wire[0].bytes.clone();
        let opening = decode(&first).unwrap().bgn.unwrap();
        bench.run(RTT_NS);
        let blank = blank(&bench, &first, Side::B);
        if is_guessed {
            guess(&mut bench, &blank);
        }
        // The first block is the low octet of the initial number, which a stranger does not see.
        let symbol = vec![0xA5; bench.wire.iter().filter_map(largest_sd).max().unwrap()];
        for round in 0..400 {
            let number = repair_number(opening.initial as u8, 1000 + round);
            bench.inject(Side::B, &Segment { number, repair: Some(&symbol), ..blank.clone() });
            bench.run(RTT_NS / 20);
        }
        assert_eq!(bench.received(1).len(), data.len());
        assert_eq!(bench.received(1) == data, is_guessed);
        assert!(bench.heard(Side::A, StreamEvent::Finished));
        let (sent, got) = (bench.a.stats(id).unwrap(), bench.b.stats(1).unwrap());
        assert!(sent.repair_packets > 0, "there was a block");
        assert_eq!(got.refused > 100, is_guessed, "{got:?}");
    }
}

/// Octets of the packet in an SD to B.
fn largest_sd(flight: &Flight) -> Option<usize> {
    let segment = decode(&flight.bytes).ok().filter(|_| flight.to == Side::B)?;
    segment.packet().map(|(data, rest)| data.len() + rest.len())
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
