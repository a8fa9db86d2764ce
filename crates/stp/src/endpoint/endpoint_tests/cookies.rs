//! Openings of which nothing is kept: the peer's first STAT brings the connection about.

use alloc::boxed::Box;
use alloc::vec::Vec;

use skyhaul_core::{Connections, Engine, MS, NetworkFields, NullSink, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use super::places::{forged, hear, of, stranger};
use crate::State;
use crate::segment::{Options, Poll, Report, Segment, Stat, decode};

/// B has this many places for those without proof.
const UNPROVEN: u32 = 8;

/// B's places are taken by strangers. The next connection is number 9.
fn crowded() -> Bench {
    let mut bench = of(100, UNPROVEN as usize);
    for number in 0..UNPROVEN {
        hear(&mut bench, stranger(number), &forged(number));
    }
    bench
}

const NEWCOMER: u64 = UNPROVEN as u64 + 1;

/// Runs while strangers open 2000 times a second.
fn run_in_flood(bench: &mut Bench, ns: u64) {
    let until = bench.now.after(ns);
    let mut number = 1000;
    while bench.now < until {
        for _ in 0..10 {
            number += 1;
            hear(bench, stranger(number), &forged(number));
        }
        bench.run(5 * MS);
    }
}

fn counters(bench: &Bench) -> (u64, u64) {
    let stats = bench.b.endpoint_stats();
    (stats.cookies_sent, stats.cookies_taken)
}

/// What B says to a stranger's opening.
pub(super) fn answer(bench: &mut Bench, opening: &Segment<'_>, number: u32) -> Segment<'static> {
    hear(bench, stranger(number), opening);
    let (mut buffer, mut answer) = (Vec::new(), None);
    while let Some(sent) = bench.b.poll_transmit(bench.now, &mut buffer, 1, &mut NullSink) {
        if sent.peer == stranger(number) {
            assert!(buffer.len() <= 3 * 32, "no more than it asked with: {}", buffer.len());
            answer = Some(buffer.clone());
        }
    }
    let answer = answer.unwrap();
    let Segment { bgnak, poll, rst, instance, .. } = decode(&answer).unwrap();
    Segment { instance, bgnak, poll, rst, ..Segment::default() }
}

/// STAT of a stranger who got that answer to `opening`.
pub(super) fn proof(opening: &Segment<'_>, answer: &Segment<'_>) -> Segment<'static> {
    let report = Report { next: answer.bgnak.unwrap().initial, window_bytes: 1 << 20, ..Report::default() };
    let Segment { source_port, destination_port, instance, number, .. } = *opening;
    let stat = Some(Stat { echo: answer.poll.unwrap().timestamp, report, ..Stat::default() });
    Segment { source_port, destination_port, number, instance, stat, ..Segment::default() }
}

#[test]
fn newcomers_get_in_beside_a_flood_of_openings_however_far_away_they_are() {
    for rtt_ms in [1, 51, 600] {
        for lost in [0, 1, 2, 3] {
            let mut bench = crowded();
            bench.delay_ns = rtt_ms * MS / 2;
            let mut count = 0;
            bench.drop = Box::new(move |side, segment| {
                count += u32::from(side == Side::A && (segment.stat.is_some() || segment.bgn.is_some()));
                side == Side::A && count == lost
            });
            run_in_flood(&mut bench, SECOND);
            let id = bench.open();
            let data: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
            bench.a.write(id, &data).unwrap();
            run_in_flood(&mut bench, 5 * SECOND);
            assert_eq!(bench.received(NEWCOMER), data, "{rtt_ms} ms, {lost} lost: {:?}", bench.states(id));
            assert!(bench.b.is_proven(NEWCOMER) && bench.b.connection_count() == UNPROVEN as usize + 1);
            assert_eq!((counters(&bench).1, bench.b.endpoint_stats().gave_way), (1, 0));
        }
    }
}

#[test]
fn nothing_that_came_early_is_lost_either_way() {
    let mut bench = crowded();
    let id = bench.open();
    bench.a.write(id, b"early").unwrap();
    bench.a.finish(id);
    bench.run(DELAY_NS + MS);
    assert_eq!((bench.b.connection_count(), counters(&bench)), (UNPROVEN as usize, (1, 0)));
    bench.run(RTT_NS);
    assert_eq!((bench.b.state(NEWCOMER).is_some(), counters(&bench)), (true, (1, 1)));
    bench.b.write(NEWCOMER, b"answer").unwrap();
    bench.run(2 * SECOND);
    let mut buffer = [0; 100];
    bench.b.finish(NEWCOMER);
    bench.run(2 * SECOND);
    assert_eq!(bench.received(NEWCOMER), b"early");
    assert!(bench.heard(Side::A, StreamEvent::Finished) && bench.heard(Side::B, StreamEvent::Finished));
    assert!(matches!(bench.a.read(id, &mut buffer), Ok(Some(0)) | Err(_)), "the bench has read the answer");
    assert_eq!(bench.b.stats(NEWCOMER).map(|stats| stats.refused), Some(0));
}

#[test]
fn what_an_opening_said_holds_though_nothing_of_it_was_kept() {
    let mut bench = crowded();
    let mut opening = forged(500);
    let options = Options { timing: true, increments: true, pieces: true, ..Options::default() };
    let bgn = opening.bgn.map(|bgn| crate::segment::Opening { options, max_payload_bytes: 1000, ..bgn });
    opening.bgn = bgn;
    let said = answer(&mut bench, &opening, 500);
    hear(&mut bench, stranger(500), &proof(&opening, &said));
    bench.b.write(NEWCOMER, &[1; 5000]).unwrap();
    let (mut buffer, mut sizes) = (Vec::new(), Vec::new());
    while let Some(sent) = bench.b.poll_transmit(bench.now, &mut buffer, 1, &mut NullSink) {
        assert_eq!(sent.peer, stranger(500));
        let segment = decode(&buffer).unwrap();
        assert_eq!((segment.bgnak, segment.instance), (None, opening.instance));
        sizes.push(segment.payload_bytes());
    }
    assert_eq!(sizes.iter().max(), Some(&515), "the next size below 1000 that a cookie tells");
}

#[test]
fn a_proof_that_is_stale_foreign_or_replayed_opens_nothing() {
    let mut bench = crowded();
    let opening = forged(500);
    let said = answer(&mut bench, &opening, 500);
    let good = proof(&opening, &said);
    let stat = good.stat.clone().unwrap();
    let other =
        |echo, next| Some(Stat { echo, report: Report { next, ..stat.report.clone() }, ..stat.clone() });
    let wrong = [
        (501, good.clone()),
        (500, Segment { instance: good.instance ^ 1, ..good.clone() }),
        (500, Segment { source_port: 10, ..good.clone() }),
        (500, Segment { number: good.number.wrapping_sub(1) & 0xFF_FFFF, ..good.clone() }),
        (500, Segment { stat: other(stat.echo ^ 1, stat.report.next), ..good.clone() }),
        (500, Segment { stat: other(stat.echo, stat.report.next ^ 1), ..good.clone() }),
    ];
    for (number, segment) in wrong {
        hear(&mut bench, stranger(number), &segment);
        assert_eq!(counters(&bench), (1, 0), "{segment:?}");
    }
    hear(&mut bench, stranger(500), &good);
    assert_eq!(counters(&bench), (1, 1));
    hear(&mut bench, stranger(500), &good);
    assert_eq!((counters(&bench), bench.b.connection_count()), ((1, 1), UNPROVEN as usize + 1));
    bench.b.abort(NEWCOMER);
    bench.b.release(bench.now, NEWCOMER);
    bench.run(MS);
    hear(&mut bench, stranger(500), &good);
    assert_eq!((counters(&bench), bench.b.connection_count()), ((1, 1), UNPROVEN as usize), "a replay");
    let said = answer(&mut bench, &forged(502), 502);
    bench.run(9 * SECOND);
    hear(&mut bench, stranger(502), &proof(&forged(502), &said));
    assert_eq!(counters(&bench), (2, 1), "too late");
}

#[test]
fn a_copy_of_an_opening_that_was_forgotten_delivers_nothing_twice() {
    let mut bench = crowded();
    let id = bench.open();
    bench.a.write(id, b"pay 100").unwrap();
    bench.a.finish(id);
    bench.pump();
    let opening = bench.wire[0].bytes.clone();
    bench.run(2 * SECOND);
    bench.b.finish(NEWCOMER);
    bench.run(40 * SECOND); // the strangers have given up
    assert_eq!(bench.received(NEWCOMER), b"pay 100");
    for number in 1..=NEWCOMER {
        bench.b.release(bench.now, number);
    }
    bench.run(MS);
    assert_eq!(bench.b.connection_count(), 0);
    bench.b.handle(bench.now, stranger(3), NetworkFields::default(), &opening, &mut NullSink);
    assert_eq!(bench.b.connection_count(), 1);
    assert_eq!(bench.b.read(NEWCOMER + 1, &mut [0; 9]), Ok(None), "it waits for a proof");
}

#[test]
fn a_place_that_falls_free_between_two_copies_of_an_opening_changes_no_number() {
    let mut bench = crowded();
    let opening = forged(500);
    let before = answer(&mut bench, &opening, 500);
    bench.b.abort(1);
    bench.b.release(bench.now, 1);
    bench.run(MS);
    let after = answer(&mut bench, &opening, 500);
    assert_eq!((bench.b.connection_count(), counters(&bench)), (UNPROVEN as usize, (1, 0)));
    assert_eq!(before.bgnak.unwrap().initial, after.bgnak.unwrap().initial);
    let newer = after.poll.unwrap().timestamp.wrapping_sub(before.poll.unwrap().timestamp);
    assert!((1..1 << 31).contains(&newer), "{newer}: the peer answers both POLLs");
    assert!(!bench.b.is_proven(NEWCOMER));
    hear(&mut bench, stranger(500), &proof(&opening, &after));
    assert!(bench.b.is_proven(NEWCOMER));
}

#[test]
fn a_proven_newcomer_takes_the_place_of_who_has_proven_nothing() {
    let mut bench = of(8, 8);
    for number in 0..8 {
        hear(&mut bench, stranger(number), &forged(number));
    }
    let said = answer(&mut bench, &forged(500), 500);
    assert_eq!(bench.b.endpoint_stats().gave_way, 0, "nobody gives way to who has proven nothing");
    hear(&mut bench, stranger(500), &proof(&forged(500), &said));
    assert_eq!((bench.b.endpoint_stats().gave_way, bench.b.state(1)), (1, Some(State::Closed)));
    assert!(bench.b.is_proven(9));
}

#[test]
fn an_acceptor_that_has_begun_anew_is_no_longer_the_peer() {
    let mut bench = crowded();
    let id = bench.open();
    bench.a.write(id, b"hello").unwrap();
    bench.drop = Box::new(|side, segment| side == Side::A && segment.stat.is_some());
    bench.run(RTT_NS + MS); // the answer is here, the proof is lost
    assert_eq!(bench.a.state(id), Some(State::Established));
    bench.b = crate::Endpoint::new(crate::EndpointConfig::default(), skyhaul_core::Stream::new(9, "new b"));
    bench.b.listen(PORT);
    bench.drop = Box::new(|_, _| false);
    bench.run(5 * SECOND);
    let unknown = skyhaul_core::CloseReason::Reset(Some(ResetReason::UnknownConnection));
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(unknown))), "{:?}", bench.events);
}

#[test]
fn polls_and_data_of_who_was_forgotten_are_answered_as_those_of_strangers() {
    let mut bench = crowded();
    let opening = forged(500);
    answer(&mut bench, &opening, 500);
    for segment in [
        Segment { bgn: None, poll: Some(Poll::default()), ..opening.clone() },
        Segment { bgn: None, data: Some((b"x", b"")), ..opening.clone() },
    ] {
        let said = answer(&mut bench, &segment, 500);
        assert_eq!(said.rst, Some(ResetReason::UnknownConnection));
    }
}

/// B forgets A's connection, and answers what A says next as a stranger would.
#[test]
fn a_peer_that_has_shown_what_it_keeps_is_believed_when_it_knows_nothing_more() {
    let (mut bench, id, _) = Bench::opened(b"hello");
    bench.b = crate::Endpoint::new(crate::EndpointConfig::default(), skyhaul_core::Stream::new(9, "new b"));
    bench.b.listen(PORT);
    bench.log.clear();
    bench.a.write(id, b"more").unwrap();
    bench.run(5 * SECOND);
    let unknown = skyhaul_core::CloseReason::Reset(Some(ResetReason::UnknownConnection));
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(unknown))), "{:?}", bench.events);
    assert_eq!(bench.count(Side::A, "BGN"), 0);
}
