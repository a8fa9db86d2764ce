//! T/TCP as packet traces: RFC 1644's diagrams, and what a peer or a stranger may do to them.
#![allow(clippy::unwrap_used)]

mod common;

use std::net::Ipv4Addr;

use common::pair::Pair;
use common::*;
use skyhaul_core::{Connections, Instant, SECOND, StreamEvent};
use skyhaul_link::LinkConfig;
use skyhaul_tcp::segment::{Options, Timestamps, Way, flags};
use skyhaul_tcp::{AcceleratedOpen, Config, State};

const SYN: u8 = flags::SYN;
const ACK: u8 = flags::ACK;
const FIN: u8 = flags::FIN;
const PSH: u8 = flags::PSH;
const RST: u8 = flags::RST;
/// Kinds of options.
const CC: u8 = 11;
const CC_NEW: u8 = 12;
const CC_ECHO: u8 = 13;

fn counting() -> Config {
    Config { accelerated_open: Some(AcceleratedOpen::Ttcp), ..plain() }
}

/// Options of a peer with 1000-octet segments that tells these counts.
fn counts(all: &[(u8, u32)]) -> Options {
    let mut options = Options { mss: Some(1000), ..Options::default() };
    for (kind, count) in all {
        assert!(options.extra.push(*kind, &count.to_be_bytes()));
    }
    options
}

fn told(heard: &Heard, kind: u8) -> Option<u32> {
    Some(u32::from_be_bytes(heard.options.extra.get(kind)?.try_into().unwrap()))
}

/// A listener that knows the peer: a connection with this count was here, and is over.
fn knowing(count: u32) -> Lone {
    knowing_by(&counting(), count)
}

fn knowing_by(config: &Config, count: u32) -> Lone {
    let mut lone = Lone::new(config);
    lone.say(SYN, 0, 0, counts(&[(CC_NEW, count)]), b"not taken before the handshake");
    let answer = lone.one();
    assert_eq!((answer.flags, answer.acknowledgement), (SYN | ACK, 1));
    assert_eq!(told(&answer, CC_ECHO), Some(count));
    assert!(lone.endpoint.accept().is_none());
    lone.say(ACK, 1, 1, counts(&[(CC, count)]), b"");
    lone.take();
    end(&mut lone, 1, count);
    lone
}

/// The peer ends the connection, and so does this end.
fn end(lone: &mut Lone, sequence: u32, count: u32) {
    lone.say(FIN | ACK, sequence, 1, counts(&[(CC, count)]), b"");
    lone.endpoint.finish(lone.id);
    lone.hear();
    lone.say(ACK, sequence + 1, 2, counts(&[(CC, count)]), b"");
    assert_eq!(lone.state(), State::Closed);
    lone.endpoint.release(lone.now, lone.id);
}

/// A client that knows the peer, to which a connection was and is over; it counted 1.
fn acquainted() -> Lone {
    let (mut lone, syn) = Lone::connecting(&counting());
    assert_eq!((told(&syn, CC_NEW), told(&syn, CC)), (Some(1), None), "nothing is known of the peer");
    lone.say(SYN | ACK, 0, 1, counts(&[(CC, 70), (CC_ECHO, 1)]), b"");
    assert_eq!(told(&lone.one(), CC), Some(1));
    lone.endpoint.finish(lone.id);
    assert_eq!(lone.one().flags, FIN | ACK);
    lone.say(FIN | ACK, 1, 2, counts(&[(CC, 70)]), b"");
    assert_eq!((lone.one().flags, lone.state()), (ACK, State::TimeWait));
    lone
}

/// A further connection, which writes and says no more.
fn ask(lone: &mut Lone, request: &[u8]) -> Heard {
    lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, counting()).unwrap();
    lone.local_port = lone.endpoint.local_port(lone.id).unwrap();
    assert_eq!(lone.hear(), [], "it waits for the first word");
    assert_eq!(lone.endpoint.write(lone.id, request), Ok(request.len()));
    lone.endpoint.finish(lone.id);
    lone.one()
}

#[test]
fn a_minimal_exchange_takes_three_segments_for_the_client() {
    let mut lone = acquainted();
    let syn = ask(&mut lone, b"request");
    assert_eq!((syn.flags, &syn.payload[..]), (SYN | FIN | PSH, &b"request"[..]));
    assert_eq!((told(&syn, CC), told(&syn, CC_NEW), lone.state()), (Some(2), None, State::SynSent));
    lone.say(SYN | ACK | FIN, 0, 9, counts(&[(CC, 71), (CC_ECHO, 2)]), b"response");
    let last = lone.one();
    assert_eq!((last.flags, last.sequence, last.acknowledgement), (ACK, 9, 10));
    assert_eq!(
        (told(&last, CC), lone.read(), lone.state()),
        (Some(2), b"response".to_vec(), State::TimeWait)
    );
}

#[test]
fn a_minimal_exchange_takes_three_segments_for_the_server() {
    // By themselves are only acknowledgements that the answer to the opening cannot bear.
    for bare_acks in [false, true] {
        let mut lone = knowing_by(&Config { bare_acks, ..counting() }, 7);
        lone.say(SYN | FIN, 0, 0, counts(&[(CC, 8)]), b"request");
        lone.take();
        assert_eq!((lone.read(), lone.state()), (b"request".to_vec(), State::CloseWait), "starred");
        assert_eq!(lone.endpoint.write(lone.id, b"response"), Ok(8));
        lone.endpoint.finish(lone.id);
        let answer = lone.one();
        assert_eq!((answer.flags, answer.sequence, answer.acknowledgement), (SYN | ACK | FIN | PSH, 0, 9));
        assert_eq!((told(&answer, CC_ECHO), &answer.payload[..]), (Some(8), &b"response"[..]));
        assert_eq!(lone.state(), State::LastAck);
        lone.say(ACK, 9, 10, counts(&[(CC, 8)]), b"");
        assert_eq!(lone.state(), State::Closed);
    }
}

#[test]
fn forged_openings_that_count_drive_no_host_out_that_is_known() {
    let mut lone = knowing(7);
    for host in 0..300 {
        let way = Way { remote: Ipv4Addr::from_bits(0x0A_01_00_00 + host).into(), ..way() };
        lone.say_to(way, SYN, counts(&[(CC, 5)]), b"whatever");
        lone.hear();
        // So that few are half open, and openings with data are taken.
        while lone.endpoint.connection_count() > 50 {
            lone.wait();
            lone.hear();
        }
    }
    lone.say(SYN | FIN, 0, 0, counts(&[(CC, 8)]), b"request");
    lone.take();
    assert_eq!(lone.read(), b"request", "taken at once");
}

/// [RFC 1644 3.4] forgets with the SYN, which anybody can forge.
#[test]
fn a_whole_handshake_without_counts_ends_what_is_known_and_an_opening_alone_does_not() {
    for is_whole in [false, true] {
        let mut lone = knowing(7);
        lone.say(SYN, 0, 0, Options { mss: Some(1000), ..Options::default() }, b"");
        let answer = lone.one();
        assert_eq!((answer.flags, told(&answer, CC)), (SYN | ACK, None));
        if is_whole {
            lone.ack(1, 1);
            lone.take();
        }
        lone.say(RST, 1, 0, Options::default(), b"");
        lone.say(SYN | FIN, 0, 0, counts(&[(CC, 8)]), b"request");
        let answer = lone.one();
        assert_eq!((answer.flags & SYN, answer.acknowledgement), (SYN, if is_whole { 1 } else { 9 }));
    }
}

#[test]
fn data_goes_on_in_the_starred_state_before_our_opening_is_acknowledged() {
    let mut lone = knowing(7);
    lone.say(SYN, 0, 0, counts(&[(CC, 8)]), b"request");
    lone.take();
    lone.write(2500);
    let heard = lone.hear();
    let all: Vec<_> =
        heard.iter().map(|heard| (heard.flags & SYN, heard.sequence, heard.payload.len())).collect();
    assert_eq!(all, [(SYN, 0, 984), (0, 985, 992), (0, 1977, 524)], "full segments, options counted");
    assert_eq!(lone.state(), State::Established);
    lone.say(ACK, 8, 2501, counts(&[(CC, 8)]), b"");
    assert_eq!(lone.stats().retransmitted_packets, 0);
}

#[test]
fn a_lost_opening_goes_again_alone_and_its_data_follows_the_answer() {
    let mut lone = acquainted();
    ask(&mut lone, b"request");
    lone.wait();
    let again = lone.one();
    assert_eq!((again.flags, again.payload.len(), told(&again, CC)), (SYN, 0, Some(2)));
    lone.say(SYN | ACK, 0, 1, counts(&[(CC, 71), (CC_ECHO, 2)]), b"");
    let rest = lone.one();
    assert_eq!((rest.flags, rest.sequence, &rest.payload[..]), (ACK | FIN | PSH, 1, &b"request"[..]));
    lone.say(ACK | FIN, 1, 9, counts(&[(CC, 71)]), b"");
    assert_eq!((lone.one().acknowledgement, lone.state()), (2, State::TimeWait));
}

#[test]
fn a_lost_answer_goes_again_when_the_opening_does() {
    let mut lone = knowing(7);
    lone.say(SYN, 0, 0, counts(&[(CC, 8)]), b"request");
    lone.take();
    assert_eq!(lone.one().acknowledgement, 8);
    lone.say(SYN, 0, 0, counts(&[(CC, 8)]), b"");
    let again = lone.one();
    assert_eq!((again.flags, again.acknowledgement, told(&again, CC_ECHO)), (SYN | ACK, 8, Some(8)));
    assert_eq!(lone.read(), b"request", "once");
}

#[test]
fn an_old_duplicate_opening_delivers_nothing_and_its_sender_ends_it() {
    for old in [7, 3, 7u32.wrapping_sub((1 << 31) - 1)] {
        let mut lone = knowing(7);
        lone.say(SYN | FIN, 0, 0, counts(&[(CC, old)]), b"request");
        let answer = lone.one();
        assert_eq!((answer.flags, answer.acknowledgement), (SYN | ACK, 1), "the handshake is to show");
        assert!(lone.endpoint.accept().is_none(), "nobody is told");
        lone.say(RST, 1, 0, Options::default(), b"");
        assert_eq!((lone.hear(), lone.endpoint.connection_count()), (vec![], 0));
        assert_eq!(lone.endpoint.endpoint_stats().early_refused, 1);
    }
}

#[test]
fn an_answer_to_an_old_opening_is_reset() {
    let mut lone = acquainted();
    ask(&mut lone, b"request");
    lone.say(SYN | ACK, 0, 1, counts(&[(CC, 71), (CC_ECHO, 1)]), b"");
    let reset = lone.one();
    assert_eq!((reset.flags, reset.sequence), (RST, 1));
    assert_eq!(lone.state(), State::SynSent);
}

#[test]
fn a_server_that_has_lost_its_cache_goes_the_ordinary_way_and_knows_the_client_again() {
    let mut lone = Lone::new(&counting());
    lone.say(SYN, 0, 0, counts(&[(CC, 40)]), b"request");
    let answer = lone.one();
    assert_eq!((answer.acknowledgement, told(&answer, CC_ECHO)), (1, Some(40)));
    lone.say(ACK, 1, 1, counts(&[(CC, 40)]), b"request");
    lone.take();
    assert_eq!(lone.read(), b"request");
    end(&mut lone, 8, 40);
    lone.say(SYN, 0, 0, counts(&[(CC, 41)]), b"again");
    lone.take();
    assert_eq!(lone.read(), b"again", "taken at once");
}

#[test]
fn a_client_that_has_lost_its_cache_begins_anew_with_lower_counts() {
    let mut lone = knowing(1000);
    lone.say(SYN, 0, 0, counts(&[(CC_NEW, 1)]), b"request");
    assert_eq!(lone.one().acknowledgement, 1, "a whole handshake");
    lone.say(ACK, 1, 1, counts(&[(CC, 1)]), b"request");
    lone.take();
    assert_eq!(lone.read(), b"request");
    end(&mut lone, 8, 1);
    lone.say(SYN, 0, 0, counts(&[(CC, 2)]), b"again");
    lone.take();
    assert_eq!(lone.read(), b"again", "1000 is forgotten");
}

#[test]
fn a_peer_without_counts_has_an_ordinary_connection() {
    let mut lone = acquainted();
    assert_eq!(ask(&mut lone, b"request").payload, b"request");
    lone.say(SYN | ACK, 0, 1, Options { mss: Some(1000), ..Options::default() }, b"");
    let rest = lone.one();
    assert_eq!((rest.flags, &rest.payload[..], told(&rest, CC)), (ACK | FIN | PSH, &b"request"[..], None));
    lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, counting()).unwrap();
    assert_eq!(told(&lone.one(), CC_NEW), Some(3), "that is remembered");
}

#[test]
fn segments_of_another_connection_are_dropped_and_options_of_a_wrong_length_are_none() {
    let mut lone = knowing(7);
    let mut short = Options { mss: Some(1000), ..Options::default() };
    assert!(short.extra.push(CC, &[0, 0, 9]));
    lone.say(SYN, 0, 0, short, b"request");
    let answer = lone.one();
    assert_eq!((answer.acknowledgement, told(&answer, CC_ECHO)), (1, None), "an ordinary opening");
    lone.ack(1, 1);
    lone.take();
    lone.data(1, b"plain");
    assert_eq!(lone.read(), b"plain");

    let mut lone = knowing(7);
    lone.say(SYN, 0, 0, counts(&[(CC, 8)]), b"");
    lone.take();
    lone.hear();
    for options in [counts(&[(CC, 7)]), counts(&[(CC, 9)]), short, Options::default()] {
        lone.say(ACK, 1, 1, options, b"forged");
        assert_eq!(lone.hear(), []);
    }
    lone.say(ACK, 1, 1, counts(&[(CC, 8)]), b"true");
    assert_eq!(lone.read(), b"true");
}

#[test]
fn a_short_connection_waits_eight_timeouts_and_a_higher_count_ends_that_too() {
    let lone = acquainted();
    let left_ns = lone.idle_deadline().unwrap().since(lone.now);
    assert!(left_ns <= 8 * 2 * SECOND, "{left_ns}: not the minute of TIME-WAIT");
    let mut lone = knowing(7);
    lone.say(SYN, 0, 0, counts(&[(CC, 8)]), b"");
    lone.take();
    lone.endpoint.finish(lone.id);
    assert_eq!(lone.one().flags, SYN | ACK | FIN);
    lone.say(ACK | FIN, 1, 2, counts(&[(CC, 8)]), b"");
    assert_eq!((lone.one().flags, lone.state()), (ACK, State::TimeWait));
    lone.say(SYN, 0, 0, counts(&[(CC, 9)]), b"next");
    lone.take();
    assert_eq!(lone.read(), b"next");
}

/// [RFC 1644 4.3]: an exchange is over before its round trip is known; the next opening goes by it.
#[test]
fn the_round_trip_of_earlier_connections_times_the_next_opening() {
    for (round_trip_ms, timeout_ms) in [(900, 2250), (20, 220)] {
        let (mut lone, _) = Lone::connecting(&counting());
        lone.wait_ms(round_trip_ms);
        lone.say(SYN | ACK, 0, 1, counts(&[(CC, 70), (CC_ECHO, 1)]), b"");
        lone.endpoint.finish(lone.id);
        assert!(lone.hear().iter().any(|heard| heard.flags == FIN | ACK));
        lone.wait_ms(round_trip_ms);
        lone.say(FIN | ACK, 1, 2, counts(&[(CC, 70)]), b"");
        assert_eq!((lone.one().flags, lone.state()), (ACK, State::TimeWait));
        ask(&mut lone, b"request");
        // Two samples, the mean and 4 deviations of 3/8 of it, or 200 ms; without them 1 s.
        assert_eq!(lone.wait(), timeout_ms);
        assert_eq!(lone.one().flags, SYN);
    }
}

/// [RFC 1644 4.6] lets an implementation keep what overtakes its opening. It comes again.
#[test]
fn data_that_overtakes_its_opening_is_dropped_in_silence_and_comes_again() {
    let mut lone = knowing(7);
    lone.say(PSH, 5, 0, counts(&[(CC, 8)]), b"and more");
    assert_eq!(lone.hear(), [], "a reset would end the exchange");
    lone.say(SYN, 0, 0, counts(&[(CC, 8)]), b"word");
    lone.take();
    assert_eq!(lone.read(), b"word");
    assert_eq!(lone.one().acknowledgement, 5);
    lone.say(PSH | ACK, 5, 1, counts(&[(CC, 8)]), b"and more");
    assert_eq!(lone.read(), b"and more");
}

/// [RFC 1644 3.4]: in LAST-ACK and CLOSING the next opening of the peer acknowledges our FIN; not while data
/// is under way, and no older one.
#[test]
fn a_higher_count_acknowledges_our_end() {
    for (bytes, count, begins) in [(0, 9, true), (0, 8, false), (5, 9, false)] {
        let mut lone = knowing(7);
        lone.say(SYN | FIN, 0, 0, counts(&[(CC, 8)]), b"");
        lone.take();
        lone.write(bytes);
        lone.endpoint.finish(lone.id);
        assert!(lone.one().flags & FIN != 0);
        lone.say(ACK, 2, 1, counts(&[(CC, 8)]), b"");
        lone.events();
        assert_eq!(lone.state(), State::LastAck);
        let old = lone.id;
        lone.say(SYN, 0, 0, counts(&[(CC, count)]), b"next");
        assert_eq!(lone.endpoint.state(old) == Some(State::LastAck), !begins, "{bytes} {count}");
        if begins {
            assert!(lone.events().contains(&StreamEvent::Finished));
            lone.take();
            assert_eq!(lone.read(), b"next");
        }
    }
}

/// [RFC 1644 4.1]
#[test]
fn timestamps_and_counts_stand_side_by_side() {
    let mut lone = Lone::new(&Config { timestamps: true, ..counting() });
    let says = |all: &[(u8, u32)], value| {
        let timestamps = Some(Timestamps { value, echo: 0 });
        Options { timestamps, ..counts(all) }
    };
    lone.say(SYN, 0, 0, says(&[(CC_NEW, 7)], 100), b"");
    let answer = lone.one();
    assert!(told(&answer, CC_ECHO) == Some(7) && answer.options.timestamps.is_some(), "{answer:?}");
    lone.say(ACK, 1, 1, says(&[(CC, 7)], 101), b"");
    lone.take();
    lone.say(ACK, 1, 1, says(&[(CC, 7)], 99), b"stale");
    lone.say(ACK, 1, 1, says(&[(CC, 6)], 102), b"of another");
    assert_eq!(lone.read(), b"", "either is judged");
    lone.say(ACK, 1, 1, says(&[(CC, 7)], 103), b"good");
    assert_eq!(lone.read(), b"good");
    lone.hear();
    lone.write(1);
    let data = lone.one();
    assert!(told(&data, CC).is_some() && data.options.timestamps.is_some_and(|stamps| stamps.echo == 103));
}

#[test]
fn a_flood_of_openings_with_data_is_bounded() {
    let mut lone = knowing(7);
    for count in 8..2000 {
        lone.local_port = PORT;
        lone.say_from(2000 + count as u16, SYN, 0, counts(&[(CC, count)]), &[1; 900]);
    }
    let early = std::iter::from_fn(|| lone.endpoint.accept()).count();
    assert_eq!(early, 64, "half of the places are one host's");
    let stats = lone.endpoint.endpoint_stats();
    assert!(stats.cookies_sent > 1500 && lone.endpoint.connection_count() <= 64, "{stats:?}");
}

/// Segments of an exchange over a clean link between ends that know each other, and its time.
fn exchange(config: &Config, request: usize, response: usize) -> (u64, u64) {
    let mut link = LinkConfig::default();
    for direction in [&mut link.forward, &mut link.reverse] {
        direction.delay_ns = SECOND / 4;
    }
    let mut pair = Pair::new(config, link, 1);
    let mut last = (0, 0);
    for _ in 0..2 {
        let (began, id) = (pair.now, pair.connect(config));
        assert_eq!(pair.ends[0].write(id, &vec![1; request]), Ok(request));
        pair.ends[0].finish(id);
        let (mut server, mut asked, mut answered, mut scratch) = (None, 0, 0, vec![0; 1 << 16]);
        let end = Instant::from_ns(pair.now.as_ns() + 20 * SECOND);
        let mut took_ns = None;
        while pair.step(end) {
            server = server.or_else(|| pair.ends[1].accept());
            if let Some(server) = server {
                while let Ok(Some(count @ 1..)) = pair.ends[1].read(server, &mut scratch) {
                    asked += count;
                    if asked == request {
                        assert_eq!(pair.ends[1].write(server, &vec![2; response]), Ok(response));
                        pair.ends[1].finish(server);
                    }
                }
            }
            while let Ok(Some(count @ 1..)) = pair.ends[0].read(id, &mut scratch) {
                answered += count;
                if answered == response {
                    took_ns.get_or_insert(pair.now.since(began));
                }
            }
        }
        let packets = |side: usize, id| pair.ends[side].stats(id).unwrap().sent_packets;
        last = (packets(0, id) + packets(1, server.unwrap()), took_ns.unwrap());
        pair.ends[0].release(pair.now, id);
        pair.ends[1].release(pair.now, server.unwrap());
    }
    last
}

#[test]
fn small_exchanges_take_three_segments_and_one_round_trip_less_than_plain_ones() {
    let (plain_packets, plain_ns) = exchange(&plain(), 400, 600);
    let (packets, took_ns) = exchange(&counting(), 400, 600);
    assert_eq!((packets, took_ns), (3, SECOND / 2));
    assert_eq!((plain_packets, plain_ns), (5, took_ns + SECOND / 2));
    // Also where the first window is one segment, and each acknowledgement adds one.
    for initial_window_packets in [Some(10), Some(1)] {
        for response in [2500, 5500, 8500, 19_500] {
            let plain = Config { initial_window_packets, ..plain() };
            let counting = Config { initial_window_packets, ..counting() };
            let (_, plain_ns) = exchange(&plain, 400, response);
            assert_eq!(exchange(&counting, 400, response).1 + SECOND / 2, plain_ns, "{response}");
        }
    }
}

#[test]
fn openings_that_cross_and_count_deliver_data_once() {
    let mut lone = acquainted();
    assert_eq!(ask(&mut lone, b"request").flags, SYN | FIN | PSH);
    lone.say(SYN, 0, 0, counts(&[(CC, 71)]), b"theirs");
    let answer = lone.one();
    assert_eq!((answer.flags, answer.acknowledgement, answer.payload.len()), (SYN | ACK, 1, 0));
    lone.say(SYN | ACK, 0, 1, counts(&[(CC, 71), (CC_ECHO, 2)]), b"");
    let heard = lone.hear();
    assert_eq!(heard.iter().filter(|heard| heard.payload == b"request").count(), 1, "{heard:?}");
    lone.say(ACK | PSH, 1, 9, counts(&[(CC, 71)]), b"theirs");
    assert_eq!((lone.read(), lone.state()), (b"theirs".to_vec(), State::FinWait2));
}

#[test]
fn counted_openings_that_are_reset_keep_their_place_for_a_minute() {
    let mut lone = knowing(7);
    for count in 8..72 {
        lone.say_from(2000 + count as u16, SYN, 0, counts(&[(CC, count)]), b"request");
        lone.say_from(2000 + count as u16, RST, 8, Options::default(), b"");
        while let Some(id) = lone.endpoint.accept() {
            lone.endpoint.release(lone.now, id);
        }
        lone.hear();
    }
    lone.say_from(3000, SYN, 0, counts(&[(CC, 72)]), b"request");
    assert_eq!((lone.one().acknowledgement, lone.endpoint.accept()), (1, None), "a whole handshake");
    lone.now = lone.now.after(60 * SECOND);
    lone.say_from(3001, SYN, 0, counts(&[(CC, 73)]), b"request");
    assert!(lone.endpoint.accept().is_some());
}

/// [RFC 1644 3.2, 3.4]: CC.ECHO means something in the answer to an opening alone; a reset needs no count.
#[test]
fn an_echo_elsewhere_says_nothing_and_a_reset_needs_no_count() {
    let mut lone = knowing(7);
    lone.say(SYN, 0, 0, counts(&[(CC, 8), (CC_ECHO, 99)]), b"request");
    lone.take();
    lone.hear();
    lone.say(ACK | PSH, 8, 1, counts(&[(CC, 8), (CC_ECHO, 99)]), b" and more");
    assert_eq!(lone.read(), b"request and more");
    lone.say(RST, 17, 1, counts(&[(CC, 7)]), b"");
    assert_ne!(lone.state(), State::Closed, "one of another connection");
    lone.say(RST, 17, 1, Options::default(), b"");
    assert_eq!(lone.state(), State::Closed);
}

/// [RFC 1644 2.4]: numbers of a connection that was longer than a segment lives may have wrapped.
#[test]
fn a_long_connection_waits_as_long_as_an_ordinary_one() {
    let (mut lone, _) = Lone::connecting(&counting());
    lone.say(SYN | ACK, 0, 1, counts(&[(CC, 70), (CC_ECHO, 1)]), b"");
    lone.hear();
    lone.now = lone.now.after(31 * SECOND);
    lone.endpoint.finish(lone.id);
    assert_eq!(lone.one().flags, FIN | ACK);
    lone.say(FIN | ACK, 1, 2, counts(&[(CC, 70)]), b"");
    assert_eq!((lone.one().flags, lone.state()), (ACK, State::TimeWait));
    assert_eq!(lone.idle_deadline().unwrap().since(lone.now), 60 * SECOND);
}

/// [RFC 1644 3.4] lets a client open between ends in TIME-WAIT, or send more segments than one before the
/// answer. Neither is built: another port is free, and the peer's window is not known.
#[test]
fn a_port_in_time_wait_is_refused_and_one_segment_goes_before_the_answer() {
    let mut lone = acquainted();
    let port = Some(lone.local_port);
    assert!(lone.endpoint.connect(lone.now, way(), PEER_PORT, port, counting()).is_err());
    let opening = ask(&mut lone, &[1; 3000]);
    assert_eq!((opening.flags & SYN, opening.payload.len() < 1000), (SYN, true));
    assert_eq!(lone.hear(), []);
}
