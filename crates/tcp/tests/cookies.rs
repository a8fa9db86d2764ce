//! Openings that there is no room to remember: SYN cookies [RFC 4987 3.6].
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::net::Ipv4Addr;

use common::pair::Pair;
use common::{Heard, Lone, PORT, plain, stamps, way};
use skyhaul_core::{Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig};
use skyhaul_tcp::segment::{Options, Segment, Way, encode, flags};
use skyhaul_tcp::{Config, Endpoint, EndpointStats, State};

const SYN_ACK: u8 = flags::SYN | flags::ACK;

/// An opening by nobody, the `n`th of a flood.
fn flood(endpoint: &mut Endpoint, now: Instant, n: u32) {
    let way = Way { remote: Ipv4Addr::from(0x0B00_0000 + n).into(), ..way() };
    let syn = Segment { source_port: 9, destination_port: PORT, flags: flags::SYN, ..Segment::default() };
    let mut bytes = Vec::new();
    encode(way.reversed(), &syn, &mut bytes);
    endpoint.handle(now, way, NetworkFields::default(), &bytes, &mut NullSink);
}

/// An endpoint whose places for openings are taken.
fn crowded(config: &Config) -> Lone {
    let mut lone = Lone::new(config);
    for n in 0..128 {
        flood(&mut lone.endpoint, lone.now, n);
    }
    lone.hear();
    lone
}

fn counters(lone: &Lone) -> (u64, u64, u64) {
    let EndpointStats { cookies_sent, cookies_taken, full, .. } = lone.endpoint.endpoint_stats();
    (cookies_sent, cookies_taken, full)
}

fn modern() -> Config {
    Config { timestamps: true, window_scale: true, receive_limit_bytes: 1 << 20, ..plain() }
}

fn offer() -> Options {
    Options { mss: Some(1000), window_scale: Some(7), sack_permitted: true, ..stamps(100, 0) }
}

/// The answer to an opening with `offer`, which is not kept.
fn cookie(lone: &mut Lone, offer: Options) -> Heard {
    let before = lone.endpoint.connection_count();
    lone.say(flags::SYN, 0, 0, offer, b"");
    let answer = lone.one();
    assert_eq!((answer.flags, answer.sequence, answer.acknowledgement), (SYN_ACK, 0, 1));
    assert_eq!(lone.endpoint.connection_count(), before);
    answer
}

#[test]
fn an_opening_without_room_is_answered_and_kept_by_the_peer() {
    let mut lone = crowded(&modern());
    let answer = cookie(&mut lone, offer());
    let Options { mss, window_scale, sack_permitted, timestamps, .. } = answer.options;
    assert_eq!((mss, window_scale, sack_permitted, answer.window), (Some(1000), Some(5), true, 0xFFFF));
    let stamp = timestamps.unwrap();
    assert_eq!(stamp.echo, 100);
    lone.wait_ms(600);
    lone.hear();
    lone.peer_window = 1000;
    lone.say(flags::ACK, 1, 1, stamps(700, stamp.value), b"hello");
    lone.take();
    assert_eq!((lone.state(), lone.read()), (State::Established, b"hello".to_vec()));
    assert_eq!(counters(&lone), (1, 1, 0));
    // The window of 1000 counts 128 octets each; the first window of ten segments goes out, stamped.
    lone.write(100_000);
    let sent = lone.hear();
    assert_eq!(sent.iter().filter(|heard| !heard.payload.is_empty()).count(), 10);
    assert!(sent.iter().all(|heard| heard.options.timestamps.is_some_and(|stamps| stamps.echo == 700)));
    assert!(sent.iter().all(|heard| u64::from(heard.window) << 5 >= (1 << 20) - 64), "scaled");
    let rtt_ns = lone.stats().rtt_smoothed_ns.unwrap();
    assert!((600 * MS..665 * MS).contains(&rtt_ns), "{rtt_ns}");
}

#[test]
fn without_timestamps_a_cookie_tells_the_largest_segment_alone() {
    let mut lone = crowded(&modern());
    let unstamped = Options { timestamps: None, mss: Some(700), ..offer() };
    let answer = cookie(&mut lone, unstamped);
    assert_eq!(answer.options, Options { mss: Some(1000), ..Options::default() });
    lone.ack(1, 1);
    lone.take();
    lone.write(1500);
    let sizes: Vec<usize> = lone.hear().iter().map(|heard| heard.payload.len()).collect();
    assert_eq!(sizes, [536, 536, 428], "the next one below 700 that a cookie can tell");
    assert!(lone.wait() >= 1000, "nothing was measured");
}

#[test]
fn an_answer_that_goes_on_with_no_cookie_opens_nothing() {
    let mut lone = crowded(&modern());
    let stamp = cookie(&mut lone, offer()).options.timestamps.unwrap();
    for (sequence, acknowledgement, echo) in [
        (2, 1, stamp.value),      // of another opening
        (1, 2, stamp.value),      // of another number
        (1, 9, stamp.value),      // of another largest segment
        (1, 1, stamp.value ^ 1),  // with another shift
        (1, 1, stamp.value ^ 16), // without SACK
    ] {
        lone.say(flags::ACK, sequence, acknowledgement, stamps(101, echo), b"");
        assert_eq!((lone.hear(), lone.endpoint.accept()), (vec![], None), "{sequence} {acknowledgement}");
    }
    lone.ack(1, 1); // unstamped
    assert_eq!((lone.hear(), lone.endpoint.accept()), (vec![], None));
    lone.local_port += 1; // where nobody listens
    lone.say(flags::ACK, 1, 1, stamps(101, stamp.value), b"");
    assert_eq!(lone.one().flags, flags::RST);
    assert_eq!(counters(&lone).1, 0);
}

/// Guesses are 2^28 for one that is taken, as there are two periods and 29 bits.
#[test]
fn guessed_cookies_open_nothing() {
    let mut lone = crowded(&plain());
    cookie(&mut lone, Options::default());
    for guess in 0..100_000u32 {
        lone.ack(1, guess.wrapping_mul(0x9E37_79B1) | 2);
    }
    assert_eq!((lone.endpoint.accept(), counters(&lone)), (None, (1, 0, 0)));
}

#[test]
fn a_cookie_is_good_for_one_to_two_minutes() {
    for (wait_s, is_taken) in [(60, true), (129, false)] {
        let mut lone = crowded(&plain());
        cookie(&mut lone, Options::default());
        lone.wait_ms(wait_s * 1000);
        lone.hear();
        lone.ack(1, 1);
        assert_eq!(lone.endpoint.accept().is_some(), is_taken, "{wait_s} s");
        let answers = lone.hear();
        assert_eq!(answers.iter().any(|heard| heard.flags == flags::RST), !is_taken, "{wait_s} s");
    }
}

/// With an RST, as the standard has it, one lost acknowledgement would end what the peer takes for open.
#[test]
fn data_that_overtakes_the_answer_to_a_cookie_resets_nothing() {
    let mut lone = crowded(&plain());
    cookie(&mut lone, Options::default());
    lone.data(501, &[2; 500]);
    assert_eq!(lone.hear(), []);
    lone.data(1, &[1; 500]);
    lone.take();
    lone.data(501, &[2; 500]);
    assert_eq!(lone.one().acknowledgement, 1001);
    assert_eq!((lone.read().len(), lone.state()), (1000, State::Established));
}

#[test]
fn a_repeated_opening_has_the_same_cookie() {
    let mut lone = crowded(&modern());
    let first = cookie(&mut lone, offer());
    let initial = lone.initial;
    lone.wait_ms(1000);
    lone.hear();
    let second = cookie(&mut lone, offer());
    assert_eq!(initial, lone.initial);
    let value = |heard: &Heard| heard.options.timestamps.unwrap().value;
    assert_eq!(value(&first) % 64, value(&second) % 64);
    lone.say(flags::ACK, 1, 1, stamps(1101, value(&first)), b"");
    lone.take();
    lone.say(flags::ACK, 1, 1, stamps(1102, value(&second)), b"again");
    assert_eq!((lone.read(), counters(&lone)), (b"again".to_vec(), (2, 1, 0)));
}

#[test]
fn an_endpoint_that_is_full_of_connections_sends_no_cookies() {
    let mut lone = Lone::new(&plain());
    for _ in 0..1024 {
        lone.endpoint.connect(lone.now, way(), 7, None, plain()).unwrap();
    }
    lone.say(flags::SYN, 0, 0, Options::default(), b"");
    assert_eq!((counters(&lone), lone.endpoint.connection_count()), ((0, 0, 1), 1024));
}

/// Share of the rate that a transfer keeps beside a flood of so many openings a second for 10 s, the longest
/// time until a newcomer was let in, and connections held at most.
fn beside_flood(openings_per_s: u64) -> (f64, u64, usize) {
    let direction =
        DirectionConfig { rate_bps: Some(10_000_000), delay_ns: 275 * MS, ..DirectionConfig::default() };
    let link = LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() };
    let config = Config { rate_bps: Some(9_000_000), ..Config::standard() };
    let mut pair = Pair::new(&config, link, 1);
    let id = pair.connect(&config);
    let (mut n, mut server, mut asked, mut waits, mut held) = (0, None, Vec::new(), Vec::new(), 0);
    let (mut read, mut early) = (0, 0);
    let data = vec![7; 1 << 16];
    let mut scratch = vec![0; 1 << 16];
    for ms in 1..=15_000u64 {
        let until = Instant::from_ns(ms * MS);
        while pair.ends[0].write(id, &data).is_ok_and(|taken| taken > 0) {}
        while pair.step(until) {}
        pair.now = until;
        if ms > 5000 {
            while u64::from(n) < (ms - 5000) * openings_per_s / 1000 {
                flood(&mut pair.ends[1], until, n);
                n += 1;
            }
            // Nobody is there: what is said to the flood goes nowhere.
            if ms % 500 == 0 && ms < 14_000 {
                let newcomer = pair.connect(&config);
                asked.push((pair.ends[0].local_port(newcomer).unwrap(), until));
            }
        }
        while let Some(accepted) = pair.ends[1].accept() {
            let remote = pair.ends[1].remote(accepted).unwrap().port();
            if let Some(place) = asked.iter().position(|&(port, _)| port == remote) {
                waits.push(until.since(asked.swap_remove(place).1));
            }
            server = server.or(Some(accepted));
        }
        while let Some(Ok(Some(count))) = server.map(|id| pair.ends[1].read(id, &mut scratch)) {
            read += count as u64;
        }
        if ms == 5000 {
            early = read;
        }
        held = held.max(pair.ends[1].connection_count());
    }
    assert_eq!(asked, [], "all are let in");
    let share = (read - early) as f64 * 8.0 / 10.0 / 9e6;
    (share, waits.into_iter().max().unwrap(), held)
}

#[test]
fn a_flood_of_openings_keeps_nobody_out_and_slows_nobody_down() {
    let (alone, ..) = beside_flood(0);
    for openings_per_s in [100, 1000, 10_000] {
        let (share, longest_ns, held) = beside_flood(openings_per_s);
        assert!(share >= 0.95 * alone, "{openings_per_s} a second: {share} of the rate, {alone} alone");
        assert!(longest_ns <= 2 * SECOND, "{openings_per_s} a second: in after {longest_ns} ns");
        assert!(held <= 128 + 20, "{held}");
    }
}
