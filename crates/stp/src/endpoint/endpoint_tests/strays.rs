//! Segments that belong to nothing: old instances, replays, floods, strangers.

use alloc::vec::Vec;

use skyhaul_core::{Connections, Engine, MS, NetworkFields, NullSink, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use crate::State;
use crate::segment::{Opening, Segment, decode};

#[test]
fn a_replayed_opening_delivers_nothing_twice() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"pay 100").unwrap();
    bench.a.finish(id);
    bench.pump();
    let opening = bench.wire[0].clone();
    bench.run(SECOND);
    bench.b.finish(1);
    bench.run(20 * SECOND);
    assert_eq!(bench.b.state(1), Some(State::Closed));
    bench.b.release(bench.now, 1);
    bench.pump();
    let now = bench.now;
    for from in [Side::A.address(), "10.9.9.9:77".parse().unwrap()] {
        bench.b.handle(now, from, NetworkFields::default(), &opening.bytes, &mut NullSink);
    }
    bench.pump();
    assert_eq!(bench.b.endpoint_stats().replays, 2);
    assert_eq!(bench.b.connection_count(), 0);
    assert_eq!(bench.received(1), b"pay 100");
}

#[test]
fn another_instance_between_the_same_ports_changes_nothing() {
    let (mut bench, _, first) = Bench::opened(b"hello");
    let sent = decode(&first).unwrap();
    for forged in [
        Segment { rst: Some(ResetReason::Aborted), data: None, bgn: None, poll: None, ..sent.clone() },
        Segment { bgn: None, poll: None, data: Some((b"evil!", b"")), ..sent.clone() },
    ] {
        bench.inject(Side::B, &Segment { instance: sent.instance ^ 1, ..forged });
    }
    assert_eq!(bench.b.endpoint_stats().wrong_instance, 2);
    assert_eq!(bench.b.state(1), Some(State::Established));
    bench.run(SECOND);
    assert_eq!(bench.received(1), b"hello");
}

#[test]
fn a_restarted_peer_gets_in_after_the_challenge() {
    let (mut bench, _, first) = Bench::opened(b"old");
    // A restarts: it knows nothing, and opens again from the same port.
    let sent = decode(&first).unwrap();
    bench.a = crate::Endpoint::new(crate::EndpointConfig::default(), skyhaul_core::Stream::new(99, "new a"));
    let opening = Opening {
        max_payload_bytes: 1400,
        initial: 5,
        window_bytes: 1 << 20,
        nonce: 42,
        ..Opening::default()
    };
    let again = Segment {
        number: 5,
        instance: sent.instance.wrapping_add(1),
        bgn: Some(opening),
        poll: None,
        data: Some((b"new", b"")),
        ..sent.clone()
    };
    bench.inject(Side::B, &again);
    bench.run(SECOND); // challenge, RST
    assert!(bench.events.iter().any(|e| matches!(e, (Side::B, 1, StreamEvent::Closed(Some(_))))));
    bench.inject(Side::B, &again);
    bench.run(SECOND / 100);
    assert_eq!(bench.received(2), b"new");
}

/// Instances and numbers that a stranger who knows both ports has to try, in an RST that B believes.
fn resets_believed(reason: ResetReason, numbers: impl Iterator<Item = u32>) -> usize {
    let mut believed = 0;
    let (mut bench, _, first) = Bench::opened(&[7; 15_000]);
    let sent = decode(&first).unwrap();
    let before = bench.b.clone();
    for number in numbers {
        let forged = Segment { number, bgn: None, poll: None, data: None, rst: Some(reason), ..sent.clone() };
        bench.inject(Side::B, &forged);
        if bench.b.state(1) != Some(State::Established) {
            believed += 1;
            bench.b = before.clone();
        }
    }
    believed
}

#[test]
fn a_reset_by_whoever_sees_nothing_takes_as_many_guesses_as_32_bits_have() {
    for reason in [ResetReason::Aborted, ResetReason::UnknownConnection, ResetReason::Busy] {
        // Every 64th of 2^24 numbers; and instances have 16 bits.
        let believed = resets_believed(reason, (0..1 << 18).map(|i| i << 6));
        assert!(believed * 64 <= 256 + 64, "{reason:?}: {believed} of {}", 1 << 18);
    }
    assert!(resets_believed(ResetReason::Aborted, 0..1 << 24 >> 12) <= 256);
}

#[test]
fn a_reset_in_doubt_costs_one_poll_and_tells_nobody_more() {
    let (mut bench, id, first) = Bench::opened(b"hello");
    let sent = decode(&first).unwrap();
    let before = bench.count(Side::B, "POLL");
    for i in 1..1000 {
        let number = (sent.number + (1 << 20) + i) & 0xFF_FFFF;
        let rst = Some(ResetReason::Aborted);
        bench.inject(Side::B, &Segment { number, bgn: None, poll: None, data: None, rst, ..sent.clone() });
        bench.pump();
    }
    assert_eq!(bench.count(Side::B, "POLL"), before + 1);
    bench.run(SECOND);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
}

#[test]
fn what_is_sent_back_to_its_sender_ends_nothing() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"hello").unwrap();
    bench.pump();
    // The peer's address sends back all that A says, twice: A's answers, too.
    for _ in 0..2 {
        let flights: Vec<Vec<u8>> = bench.wire.iter().map(|flight| flight.bytes.clone()).collect();
        for bytes in flights {
            let now = bench.now;
            bench.a.handle(now, Side::B.address(), NetworkFields::default(), &bytes, &mut NullSink);
        }
        bench.pump();
    }
    assert!(!bench.sent_by(Side::A).contains(&"RST"), "{:?}", bench.sent_by(Side::A));
    bench.run(SECOND);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
    assert_eq!(bench.received(1), b"hello");
}

/// Echo service: whatever B sends comes back to it.
fn echoed(port: u16) -> (Bench, usize) {
    let mut bench = Bench::new();
    let opening = Opening {
        max_payload_bytes: 1400,
        initial: 5,
        window_bytes: 1 << 20,
        nonce: 42,
        ..Opening::default()
    };
    let bgn = Segment {
        source_port: port,
        destination_port: PORT,
        number: 5,
        instance: 77,
        bgn: Some(opening),
        ..Segment::default()
    };
    bench.inject(Side::B, &bgn);
    bench.drop = alloc::boxed::Box::new(|_, _| false);
    let mut echoes = 0;
    let until = bench.now.after(100 * SECOND);
    while bench.now < until && echoes < 10_000 {
        bench.pump();
        for flight in core::mem::take(&mut bench.wire) {
            echoes += 1;
            let now = bench.now;
            bench.b.handle(now, Side::A.address(), NetworkFields::default(), &flight.bytes, &mut NullSink);
        }
        bench.pump();
        let next = bench.b.deadline().unwrap_or(until);
        bench.now = bench.now.after(1).max(if bench.wire.is_empty() { next } else { bench.now });
        let now = bench.now;
        bench.b.handle_timeout(now, &mut NullSink);
    }
    (bench, echoes)
}

#[test]
fn one_datagram_in_the_name_of_an_echo_service_opens_nothing_that_lasts() {
    for port in [PORT, 50_000] {
        let (bench, echoes) = echoed(port);
        let state = bench.b.state(1);
        assert!(state.is_none_or(|state| state == State::Closed), "port {port}: {state:?}");
        assert!(echoes < 100, "port {port}: {echoes} datagrams");
    }
}

#[test]
fn a_session_that_is_replayed_to_a_receiver_that_was_restarted_proves_no_address() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, &[7; 3000]).unwrap();
    bench.a.finish(id);
    let mut session = Vec::new();
    for _ in 0..2000 {
        bench.pump();
        let to_b = bench.wire.iter().filter(|flight| flight.to == Side::B);
        for flight in to_b {
            if !session.contains(&flight.bytes) {
                session.push(flight.bytes.clone());
            }
        }
        bench.run(MS);
    }
    assert_eq!(bench.received(1).len(), 3000);
    let config = crate::EndpointConfig::default();
    bench.b = crate::Endpoint::new(config, skyhaul_core::Stream::new(99, "new b"));
    bench.b.listen(PORT);
    let (mut delivered, mut buffer) = (0, [0; 4000]);
    for bytes in session.iter().chain(&session) {
        let now = bench.now;
        bench.b.handle(now, Side::A.address(), NetworkFields::default(), bytes, &mut NullSink);
        while let Ok(Some(read @ 1..)) = bench.b.read(1, &mut buffer) {
            delivered += read;
        }
    }
    assert_eq!((delivered, bench.b.connection_count()), (3000, 1), "once, as an endpoint knows what it took");
    assert!(!bench.b.0.get(1).unwrap().is_proven());
}

#[test]
fn rubbish_is_counted_and_forgotten() {
    let mut bench = Bench::new();
    let mut stream = skyhaul_core::Stream::new(5, "rubbish");
    for length in 0..300 {
        let mut bytes = alloc::vec![0; length];
        stream.fill(&mut bytes);
        let now = bench.now;
        bench.b.handle(now, Side::A.address(), NetworkFields::default(), &bytes, &mut NullSink);
    }
    assert_eq!(bench.b.endpoint_stats().undecodable, 300);
    assert_eq!(bench.b.connection_count(), 0);
}

#[test]
fn answers_to_segments_of_no_connection_are_charged_to_the_declared_rate() {
    let after_answers = |strays: u16| {
        let mut bench = Bench::new();
        let id = bench.open_with(crate::Config { rate_bps: Some(20_000), ..crate::Config::standard() });
        bench.a.write(id, b"hello").unwrap();
        bench.run(SECOND);
        for port in 0..strays {
            let stray = Segment { source_port: port, destination_port: 9, endak: true, ..Segment::default() };
            bench.inject(Side::A, &stray);
        }
        bench.pump();
        assert_eq!(bench.count(Side::A, "RST"), usize::from(strays));
        bench.a.write(id, b"again").unwrap();
        let from = bench.now;
        while bench.received(1).len() < 10 {
            bench.run(SECOND / 1000);
        }
        bench.now.since(from)
    };
    // 28 + 16 octets each, at 20 kbit/s: 17.6 ms.
    let later_ns = after_answers(20) - after_answers(0);
    assert!((300..400).contains(&(later_ns / 1_000_000)), "{later_ns} ns");
}
