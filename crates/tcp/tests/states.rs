//! The state machine: opening, ending, resetting [RFC 9293 3.5, 3.6, 3.10; RFC 5961].

mod common;

use common::{Heard, Lone, PEER_PORT, plain, way};
use skyhaul_core::{
    CloseReason, Connections, Engine, NetworkFields, NullSink, ResetReason, SECOND, StreamEvent,
};
use skyhaul_tcp::segment::{Options, Segment, encode, flags};
use skyhaul_tcp::{Config, State};

const SYN_ACK: u8 = flags::SYN | flags::ACK;
const FIN_ACK: u8 = flags::FIN | flags::ACK;

fn none() -> Options {
    Options::default()
}

#[test]
fn three_way_handshake() {
    let (mut lone, syn) = Lone::connecting(&plain());
    assert_eq!((syn.flags, syn.sequence, syn.options.mss), (flags::SYN, 0, Some(1000)));
    lone.say(SYN_ACK, 0, 1, none(), b"");
    let ack = lone.one();
    assert_eq!((ack.flags, ack.sequence, ack.acknowledgement), (flags::ACK, 1, 1));
    assert_eq!((lone.state(), lone.events()), (State::Established, vec![StreamEvent::Connected]));
}

#[test]
fn simultaneous_open() {
    let (mut lone, _) = Lone::connecting(&plain());
    lone.say(flags::SYN, 0, 0, none(), b"");
    assert_eq!(lone.state(), State::SynReceived);
    let answer = lone.one();
    assert_eq!((answer.flags, answer.sequence, answer.acknowledgement), (SYN_ACK, 0, 1));
    lone.say(SYN_ACK, 0, 1, none(), b"");
    assert_eq!(lone.state(), State::Established);
    let heard = lone.one();
    assert_eq!((heard.flags, heard.sequence, heard.acknowledgement), (flags::ACK, 1, 1));
}

/// Each answer repeats a SYN that is known, and was taken for a lost answer's reason to answer again.
#[test]
fn answers_of_openings_that_cross_are_not_answered_for_ever() {
    let mut ends = [Lone::connecting(&plain()).0, Lone::connecting(&plain()).0];
    let (mut sent, mut turn) = (0, 0);
    ends[1].say(flags::SYN, 0, 0, none(), b"");
    ends[0].say(flags::SYN, 0, 0, none(), b"");
    loop {
        let heard = ends[turn].hear();
        if heard.is_empty() {
            break;
        }
        for one in &heard {
            ends[1 - turn].say(one.flags, one.sequence, one.acknowledgement, none(), &one.payload);
        }
        sent += heard.len();
        assert!(sent < 10, "{heard:?}");
        turn = 1 - turn;
    }
    assert!(ends.iter().all(|end| end.state() == State::Established));
}

#[test]
fn a_crossing_opening_whose_answer_was_lost_is_answered() {
    let (mut lone, _) = Lone::connecting(&plain());
    lone.say(flags::SYN, 0, 0, none(), b"");
    assert_eq!(lone.one().flags, SYN_ACK);
    for _ in 0..2 {
        lone.say(SYN_ACK, 0, 1, none(), b"");
        assert_eq!(lone.one().flags, flags::ACK);
    }
    assert_eq!(lone.state(), State::Established);
}

#[test]
fn a_lost_syn_is_repeated_and_then_given_up() {
    let (mut lone, _) = Lone::connecting(&plain());
    let mut waits = Vec::new();
    while lone.state() == State::SynSent {
        waits.push(lone.wait() / 1000);
        assert!(lone.hear().iter().all(|heard| heard.flags == flags::SYN && heard.sequence == 0));
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60]);
    assert_eq!(plain().opening_ns(), waits.iter().sum::<u64>() * SECOND, "it is known beforehand");
    assert_eq!(lone.events(), [StreamEvent::Closed(Some(CloseReason::ConnectTimeout))]);
}

#[test]
fn a_lost_answer_is_repeated_when_the_opening_comes_again() {
    let mut lone = Lone::new(&plain());
    for _ in 0..3 {
        lone.say(flags::SYN, 0, 0, none(), b"");
        assert_eq!(lone.one().flags, SYN_ACK);
    }
    lone.ack(1, 1);
    assert_eq!((lone.endpoint.accept().is_some(), lone.endpoint.accept()), (true, None));
}

#[test]
fn a_refused_opening() {
    let (mut lone, _) = Lone::connecting(&plain());
    lone.say(flags::RST | flags::ACK, 0, 7, none(), b"");
    assert_eq!(lone.state(), State::SynSent, "acknowledges what was not sent: forged");
    lone.say(flags::RST | flags::ACK, 0, 1, none(), b"");
    assert_eq!(lone.events(), [StreamEvent::Closed(Some(CloseReason::Reset(Some(ResetReason::Refused))))]);
}

#[test]
fn we_end_first() {
    let mut lone = Lone::ordinary(&plain());
    lone.endpoint.finish(lone.id);
    let fin = lone.one();
    assert_eq!((fin.flags, fin.sequence, lone.state()), (FIN_ACK, 1, State::FinWait1));
    lone.ack(1, 2);
    assert_eq!(lone.state(), State::FinWait2);
    lone.data(1, b"still");
    assert_eq!(lone.read(), b"still", "half closed: the other way is open");
    lone.say(FIN_ACK, 6, 2, none(), b"");
    assert_eq!((lone.state(), lone.one().acknowledgement), (State::TimeWait, 7));
    lone.say(FIN_ACK, 6, 2, none(), b"");
    assert_eq!(lone.one().acknowledgement, 7, "a repeated FIN is answered");
    lone.say(flags::RST, 7, 0, none(), b"");
    assert_eq!(lone.state(), State::TimeWait, "an RST does not end TIME-WAIT");
    assert_eq!(lone.wait(), 60_000);
    assert_eq!(lone.state(), State::Closed);
    assert_eq!(lone.events().last(), Some(&StreamEvent::Closed(None)));
}

#[test]
fn the_peer_ends_first() {
    let mut lone = Lone::ordinary(&plain());
    lone.say(FIN_ACK, 1, 1, none(), b"bye");
    assert_eq!((lone.state(), lone.one().acknowledgement), (State::CloseWait, 5));
    assert_eq!(lone.read(), b"bye");
    assert_eq!(lone.endpoint.read(lone.id, &mut [0; 9]), Ok(Some(0)), "the end of the stream");
    lone.write(10);
    lone.endpoint.finish(lone.id);
    let last = lone.one();
    assert_eq!((last.flags, last.payload.len(), lone.state()), (FIN_ACK | flags::PSH, 10, State::LastAck));
    lone.ack(5, 12);
    assert_eq!(lone.state(), State::Closed);
}

/// Table 5.3 of the STP chapter was measured between hosts: without these packets T/TCP saves too few.
#[test]
fn an_opening_and_an_end_are_acknowledged_by_themselves_where_that_is_asked_for() {
    for bare_acks in [false, true] {
        let (mut lone, _) = Lone::connecting(&Config { bare_acks, ..plain() });
        lone.write(10);
        lone.say(SYN_ACK, 0, 1, none(), b"");
        let heard: Vec<_> = lone.hear().iter().map(|heard| (heard.flags, heard.payload.len())).collect();
        let request = (flags::ACK | flags::PSH, 10);
        assert_eq!(heard, if bare_acks { vec![(flags::ACK, 0), request] } else { vec![request] });
        lone.say(FIN_ACK, 1, 11, none(), b"answer");
        lone.endpoint.finish(lone.id);
        let heard: Vec<_> = lone.hear().iter().map(|heard| (heard.flags, heard.acknowledgement)).collect();
        let end = (FIN_ACK, 8);
        assert_eq!(heard, if bare_acks { vec![(flags::ACK, 8), end] } else { vec![end] });
    }
}

#[test]
fn simultaneous_close() {
    let mut lone = Lone::ordinary(&plain());
    lone.endpoint.finish(lone.id);
    lone.one();
    lone.say(FIN_ACK, 1, 1, none(), b"");
    assert_eq!((lone.state(), lone.one().acknowledgement), (State::Closing, 2));
    lone.ack(2, 2);
    assert_eq!(lone.state(), State::TimeWait);
}

#[test]
fn a_lost_fin_is_repeated() {
    let mut lone = Lone::ordinary(&plain());
    lone.endpoint.finish(lone.id);
    let fin = lone.one();
    lone.wait();
    assert_eq!(lone.one(), fin);
}

#[test]
fn a_reset_counts_only_with_the_very_next_number() {
    let mut lone = Lone::ordinary(&plain());
    lone.say(flags::RST, 100_000, 0, none(), b"");
    assert_eq!(lone.hear(), [], "outside of the window: dropped");
    lone.say(flags::RST, 2, 0, none(), b"");
    assert_eq!((lone.one().flags, lone.state()), (flags::ACK, State::Established), "challenged");
    assert_eq!((lone.stats().refused, lone.stats().challenges), (2, 1));
    lone.say(flags::RST, 1, 0, none(), b"");
    assert_eq!(lone.events().last(), Some(&StreamEvent::Closed(Some(CloseReason::Reset(None)))));
    assert_eq!(lone.endpoint.endpoint_stats().resets_ignored, 2, "the last one counted");
}

/// Also those that are not answered any more: the challenges of a second are limited, the count is not.
#[test]
fn every_forged_reset_is_counted() {
    let mut lone = Lone::ordinary(&plain());
    for n in 0..500 {
        lone.say(flags::RST, 2 + n, 0, none(), b"");
        lone.hear();
        lone.say(flags::RST, 1_000_000 + n, 0, none(), b"");
    }
    let stats = lone.stats();
    assert_eq!((lone.endpoint.endpoint_stats().resets_ignored, stats.challenges), (1000, 10));
    assert_eq!((stats.refused, lone.state()), (1000, State::Established));

    let (mut lone, _) = Lone::connecting(&plain());
    lone.say(flags::RST, 0, 0, none(), b"");
    lone.say(flags::RST | flags::ACK, 0, 7777, none(), b"");
    assert_eq!((lone.endpoint.endpoint_stats().resets_ignored, lone.state()), (2, State::SynSent));
}

#[test]
fn a_syn_in_a_connection_is_challenged_a_few_times_a_second() {
    let mut lone = Lone::ordinary(&plain());
    let challenged = |lone: &mut Lone| {
        (0..50)
            .filter(|_| {
                lone.say(flags::SYN, 3, 0, none(), b"");
                !lone.hear().is_empty()
            })
            .count()
    };
    assert_eq!(challenged(&mut lone), 10);
    lone.wait_ms(1000);
    assert_eq!(challenged(&mut lone), 10);
    assert_eq!(lone.state(), State::Established);
}

#[test]
fn an_acknowledgement_of_unsent_data_is_challenged() {
    let mut lone = Lone::ordinary(&plain());
    lone.say(flags::ACK, 1, 5000, none(), b"forged");
    assert_eq!(lone.one().acknowledgement, 1);
    assert_eq!(lone.endpoint.stats(lone.id).unwrap().refused, 1);
}

#[test]
fn strays_are_answered_by_a_reset_they_believe() {
    let mut lone = Lone::new(&plain());
    lone.local_port = 81;
    lone.say(flags::SYN, 0, 0, none(), b"");
    let reset = lone.one();
    assert_eq!((reset.flags, reset.sequence, reset.acknowledgement), (flags::RST | flags::ACK, 0, 1));
    lone.say(flags::ACK, 5, 1234, none(), b"");
    let reset = lone.one();
    assert_eq!((reset.flags, reset.sequence), (flags::RST, 1234));
    lone.say(flags::RST, 5, 0, none(), b"");
    assert_eq!(lone.hear(), []);
}

/// Openings from these ports.
fn flood(lone: &mut Lone, ports: std::ops::Range<u16>) {
    for source_port in ports {
        let destination_port = common::PORT;
        let syn = Segment { source_port, destination_port, flags: flags::SYN, ..Segment::default() };
        let mut bytes = Vec::new();
        encode(way().reversed(), &syn, &mut bytes);
        lone.endpoint.handle(lone.now, way(), NetworkFields::default(), &bytes, &mut NullSink);
    }
}

#[test]
fn a_syn_flood_is_bounded() {
    let mut lone = Lone::new(&plain());
    flood(&mut lone, 1000..2000);
    // One address has half of the 128 places for what is half open.
    assert_eq!((lone.endpoint.connection_count(), lone.endpoint.endpoint_stats().cookies_sent), (64, 936));
    while lone.endpoint.connection_count() > 0 {
        lone.hear();
        lone.wait();
    }
}

/// Nobody answers for openings with forged addresses; whoever does is let in, during the flood and after it.
#[test]
fn a_flood_that_is_over_does_not_keep_others_out() {
    let mut lone = Lone::new(&plain());
    flood(&mut lone, 1000..1200);
    lone.hear();
    let places =
        |lone: &Lone| (lone.endpoint.connection_count(), lone.endpoint.endpoint_stats().cookies_sent);
    assert_eq!(places(&lone), (64, 136));
    for wait_ms in [0, 1000] {
        lone.wait_ms(wait_ms);
        lone.hear();
        lone.say(flags::SYN, 0, 0, none(), b"");
        assert_eq!(lone.one().flags, SYN_ACK);
    }
    lone.ack(1, 1);
    assert!(lone.endpoint.accept().is_some());
    assert_eq!(places(&lone), (65, 138));
}

#[test]
fn abort_tells_the_peer() {
    let mut lone = Lone::ordinary(&plain());
    lone.endpoint.abort(lone.id);
    let Heard { flags: bits, sequence, .. } = lone.one();
    assert_eq!((bits, sequence), (flags::RST | flags::ACK, 1));
    lone.endpoint.release(lone.now, lone.id);
    assert_eq!(lone.endpoint.connection_count(), 0);
}

#[test]
fn data_for_nobody_resets() {
    let mut lone = Lone::ordinary(&plain());
    lone.endpoint.release(lone.now, lone.id);
    assert_eq!(lone.one().flags, FIN_ACK);
    lone.data(1, b"more");
    assert_eq!(lone.one().flags, flags::RST | flags::ACK);
    assert_eq!(lone.endpoint.connection_count(), 0);
}

#[test]
fn a_port_in_use_is_refused() {
    let mut lone = Lone::new(&plain());
    assert!(lone.endpoint.connect(lone.now, way(), PEER_PORT, Some(7), plain()).is_ok());
    assert!(lone.endpoint.connect(lone.now, way(), PEER_PORT, Some(7), plain()).is_err());
}
