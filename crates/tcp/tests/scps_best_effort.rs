//! Best effort service of SCPS-TP: packet traces against a scripted peer, and whole streams with gaps.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::pair::{Pair, content};
use common::{Lone, plain, way};
use proptest::prelude::*;
use skyhaul_core::{ConnectionId, Connections, Gap, Instant, MS, SECOND, Stats, StreamEvent, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, Order, Reordering};
use skyhaul_tcp::scps::{CAPABILITIES, Scps, Snack, SnackOption, facility};
use skyhaul_tcp::segment::{ExtraOptions, Options, decode, flags};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind, State};

const PATIENCE_MS: u64 = 400;

fn asking() -> Scps {
    Scps {
        controller: ControllerKind::Off,
        pacing_percent: None,
        loss_cause: Verdict::Corruption,
        ack_policy: AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 50 * MS },
        best_effort_ns: Some(PATIENCE_MS * MS),
        best_effort_repeats: 2,
        ..Scps::standard()
    }
}

fn speaking(scps: Scps) -> Config {
    Config {
        scps: Some(scps),
        send_limit_bytes: 60_000,
        receive_limit_bytes: 60_000,
        discover_mtu: false,
        black_hole_timeouts: None,
        ..plain()
    }
}

fn with(kind: u8, value: &[u8]) -> Options {
    let mut extra = ExtraOptions::default();
    assert!(extra.push(kind, value));
    Options { extra, ..Options::default() }
}

/// A peer that offers these facilities opened a connection.
fn accepted_with(facilities: u8) -> Lone {
    let mut lone = Lone::new(&speaking(asking()));
    lone.say(flags::SYN, 0, 0, Options { mss: Some(1000), ..with(CAPABILITIES, &[facilities, 7]) }, b"");
    lone.one();
    wait(&mut lone, 100);
    lone.ack(1, 1);
    lone.take();
    lone.events();
    lone
}

fn accepted() -> Lone {
    accepted_with(facility::BETS | facility::SNACK)
}

/// Says what there is to say, and goes on so many ms later.
fn wait(lone: &mut Lone, ms: u64) {
    lone.hear();
    lone.wait_ms(ms);
}

/// What can be read, in the order of the stream.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Octets(Vec<u8>),
    Missing(u64, u64),
    End,
}

fn parts(lone: &mut Lone) -> Vec<Part> {
    let (mut parts, mut out) = (Vec::new(), [0; 2000]);
    loop {
        match lone.endpoint.read(lone.id, &mut out).unwrap() {
            Some(0) => {
                parts.push(Part::End);
                return parts;
            }
            Some(count) => parts.push(Part::Octets(out[..count].to_vec())),
            None => match lone.endpoint.next_gap(lone.id) {
                Some(Gap { offset, bytes }) => parts.push(Part::Missing(offset, bytes)),
                None => return parts,
            },
        }
    }
}

fn octets(text: &[u8]) -> Part {
    Part::Octets(text.to_vec())
}

#[test]
fn the_service_is_asked_for_where_it_is_wanted_and_given_where_both_do() {
    let asked = |scps| {
        let (_, syn) = Lone::connecting(&speaking(scps));
        syn.options.extra.get(CAPABILITIES).unwrap()[0] & facility::BETS != 0
    };
    assert!(asked(asking()) && !asked(Scps { best_effort_ns: None, ..asking() }));
    for facilities in [facility::SNACK, facility::BETS, facility::BETS | facility::SNACK] {
        let mut lone = accepted_with(facilities);
        lone.data(4, b"def");
        wait(&mut lone, 10 * PATIENCE_MS);
        let gives_up = facilities == facility::BETS | facility::SNACK;
        assert_eq!(parts(&mut lone).is_empty(), !gives_up, "{facilities:x}");
    }
}

#[test]
fn what_stays_missing_is_given_up_and_told_in_its_place() {
    let mut lone = accepted();
    lone.data(1, b"abc");
    lone.data(7, b"ghi");
    lone.data(13, b"mno");
    lone.hear();
    lone.events();
    wait(&mut lone, PATIENCE_MS - 1);
    assert_eq!((parts(&mut lone), lone.events()), (vec![octets(b"abc")], vec![]));
    lone.hear();
    wait(&mut lone, 1);
    assert_eq!(lone.events(), [StreamEvent::Readable]);
    assert_eq!(lone.one().acknowledgement, 16, "at once");
    let all = [Part::Missing(3, 3), octets(b"ghi"), Part::Missing(9, 3), octets(b"mno")];
    assert_eq!(parts(&mut lone), all);
    let stats = lone.stats();
    assert_eq!((stats.gaps, stats.missing_bytes, stats.delivered_bytes), (2, 6, 9));
}

#[test]
fn what_comes_in_time_is_no_gap_and_what_comes_late_is_a_duplicate() {
    let mut lone = accepted();
    lone.data(4, b"def");
    wait(&mut lone, PATIENCE_MS - 1);
    lone.data(1, b"abc");
    wait(&mut lone, 1);
    lone.data(10, b"jkl");
    assert_eq!(parts(&mut lone), [octets(b"abcdef")]);
    wait(&mut lone, PATIENCE_MS);
    lone.data(7, b"ghi");
    assert_eq!(parts(&mut lone), [Part::Missing(6, 3), octets(b"jkl")]);
}

#[test]
fn each_hole_has_its_time_from_when_it_showed() {
    let mut lone = accepted();
    lone.data(4, b"def");
    wait(&mut lone, 100);
    lone.data(10, b"jkl");
    wait(&mut lone, PATIENCE_MS - 100);
    assert_eq!(parts(&mut lone), [Part::Missing(0, 3), octets(b"def")]);
    wait(&mut lone, 99);
    assert_eq!(parts(&mut lone), []);
    wait(&mut lone, 1);
    assert_eq!(parts(&mut lone), [Part::Missing(6, 3), octets(b"jkl")]);
}

#[test]
fn a_hole_that_showed_in_parts_is_given_up_in_parts() {
    let mut lone = accepted();
    lone.ack(4, 1);
    wait(&mut lone, 100);
    lone.data(10, b"jkl");
    wait(&mut lone, PATIENCE_MS - 100);
    assert_eq!(parts(&mut lone), [Part::Missing(0, 2)]);
    wait(&mut lone, 99);
    assert_eq!(parts(&mut lone), []);
    wait(&mut lone, 1);
    assert_eq!(parts(&mut lone), [Part::Missing(2, 7), octets(b"jkl")]);
}

/// The end of the stream has come, and what is missing in front of it is given up: the stream ends.
#[test]
fn a_stream_ends_behind_its_last_gap() {
    let mut lone = accepted();
    lone.data(1, b"abc");
    lone.say(flags::ACK | flags::FIN, 10, 1, Options::default(), b"");
    assert_eq!(parts(&mut lone), [octets(b"abc")]);
    wait(&mut lone, PATIENCE_MS);
    assert_eq!((lone.one().acknowledgement, lone.state()), (11, State::CloseWait));
    assert_eq!(lone.read(), b"", "not the end yet");
    assert_eq!(parts(&mut lone), [Part::Missing(3, 6), Part::End]);
}

/// An acknowledgement has the number of what its sender would send next, behind its FIN if that was sent; a
/// probe lies at the window's edge.
#[test]
fn a_segment_without_new_data_shows_what_was_sent_before_it() {
    let mut lone = accepted();
    lone.ack(10, 1);
    wait(&mut lone, PATIENCE_MS);
    assert_eq!(parts(&mut lone), [Part::Missing(0, 8)]);
    let mut lone = accepted();
    lone.hear();
    lone.data(60_001, b"x");
    wait(&mut lone, PATIENCE_MS);
    assert_eq!(parts(&mut lone), [Part::Missing(0, 60_000)]);
}

#[test]
fn gaps_that_nobody_asks_for_are_no_more_than_so_many_and_keep_the_window() {
    let mut lone = accepted();
    for n in 1..=60 {
        lone.data(2 * n, b"x");
    }
    wait(&mut lone, PATIENCE_MS);
    assert_eq!(lone.stats().gaps, 50);
    assert_eq!(parts(&mut lone).len(), 100);
    wait(&mut lone, 1);
    assert_eq!((lone.stats().gaps, parts(&mut lone).len()), (60, 20));
    // Octets behind a gap take room of the window as all others do.
    lone.data(1122, &[7; 1000]);
    wait(&mut lone, PATIENCE_MS);
    lone.hear();
    lone.data(2122, &[7; 500]);
    wait(&mut lone, 50);
    assert_eq!(lone.one().window, 60_000 - 1500);
}

/// Ten segments of 1000 octets are under way.
fn ten_under_way() -> Lone {
    let mut lone = accepted();
    lone.write(10_000);
    assert_eq!(lone.data_sent().len(), 10);
    lone
}

/// First numbers of what the next timeout sends.
fn time_out(lone: &mut Lone) -> Vec<u32> {
    let timeouts = lone.stats().timeouts;
    while lone.stats().timeouts == timeouts {
        lone.hear();
        lone.wait();
    }
    lone.data_sent()
}

fn holes(holes: &[(u16, u16)]) -> Options {
    let mut extra = ExtraOptions::default();
    for &(offset, size) in holes {
        assert!(SnackOption { offset, size, vector: &[] }.push(&mut extra));
    }
    Options { extra, ..Options::default() }
}

#[test]
fn a_segment_that_met_the_timer_often_enough_is_taken_for_acknowledged() {
    let mut lone = ten_under_way();
    assert_eq!([time_out(&mut lone), time_out(&mut lone)], [[1], [1]]);
    assert_eq!(lone.stats().abandoned_bytes, 0);
    assert_eq!(time_out(&mut lone), [1001], "the next one is the oldest");
    assert_eq!((lone.stats().abandoned_bytes, lone.endpoint.held_bytes(lone.id)), (1000, 9000));
    // All but the last two have arrived: the peer has given up the first.
    lone.ack(1, 8001);
    assert_eq!([time_out(&mut lone), time_out(&mut lone)], [[8001], [8001]]);
    assert_eq!(lone.stats().abandoned_bytes, 1000);
}

#[test]
fn what_the_peer_has_behind_it_is_no_loss_and_the_end_itself_is_never_given_up() {
    let mut lone = ten_under_way();
    lone.endpoint.finish(lone.id);
    let ends = |lone: &mut Lone| lone.hear().iter().filter(|heard| heard.flags & flags::FIN != 0).count();
    ends(&mut lone);
    // The first and the last are missing.
    lone.say(flags::ACK, 1, 1, holes(&[(0, 1), (9, 1)]), b"");
    lone.hear();
    while lone.stats().abandoned_bytes == 0 {
        time_out(&mut lone);
    }
    assert_eq!((lone.stats().abandoned_bytes, lone.endpoint.held_bytes(lone.id)), (1000, 1000));
    while lone.stats().abandoned_bytes == 1000 {
        time_out(&mut lone);
    }
    assert_eq!((lone.stats().abandoned_bytes, lone.endpoint.held_bytes(lone.id)), (2000, 0));
    for _ in 0..4 {
        lone.wait();
        assert_eq!(ends(&mut lone), 1);
    }
    lone.ack(1, 10_002);
    assert_eq!(lone.state(), State::FinWait2);
}

#[test]
fn a_writer_that_waits_is_told_of_the_room_that_a_segment_leaves() {
    let mut lone = ten_under_way();
    assert_eq!(lone.endpoint.write(lone.id, &vec![7; 60_000]), Ok(50_000));
    lone.events();
    (0..2).for_each(|_| _ = time_out(&mut lone));
    assert_eq!(lone.events(), []);
    time_out(&mut lone);
    assert_eq!(lone.events(), [StreamEvent::Writable]);
}

/// The peer waits for what was given up here, and tells what else is missing: that goes again, and the window
/// ends where the peer says.
#[test]
fn a_peer_that_waits_for_what_was_given_up_is_heard() {
    let mut lone = accepted();
    lone.peer_window = 10_000;
    lone.ack(1, 1);
    lone.write(20_000);
    assert_eq!(lone.data_sent().len(), 10);
    (0..3).for_each(|_| _ = time_out(&mut lone));
    assert_eq!(lone.stats().abandoned_bytes, 1000);
    wait(&mut lone, 100);
    lone.say(flags::ACK, 1, 1, holes(&[(0, 1), (3, 2)]), b"");
    assert_eq!(lone.data_sent(), [3001, 4001], "nothing beyond the window");
    lone.peer_window = 11_000;
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [10_001], "as much as the window grew");
}

#[test]
fn a_peer_that_is_heard_is_not_given_up_and_a_silent_one_is() {
    let mut lone = ten_under_way();
    while lone.stats().abandoned_bytes < 10_000 {
        time_out(&mut lone);
        lone.ack(1, 1);
    }
    assert_eq!((lone.state(), lone.stats().timeouts), (State::Established, 30));
    let mut lone = ten_under_way();
    lone.endpoint.finish(lone.id); // the end is not given up, so that somebody is waited for
    let from = lone.now;
    while lone.state() != State::Closed {
        lone.hear();
        lone.wait();
    }
    assert!(lone.now.since(from) >= 100 * SECOND, "{:?}", lone.now.since(from));
}

/// Reads what end 1 has; false once the stream has ended. Each gap stands where the stream has come to.
fn take(
    pair: &mut Pair,
    id: ConnectionId,
    stream: &mut Vec<Option<u8>>,
    gaps: &mut Vec<(Instant, Gap)>,
) -> bool {
    let mut out = [0; 5000];
    loop {
        match pair.ends[1].read(id, &mut out) {
            Ok(Some(0)) => return false,
            Ok(Some(count)) => stream.extend(out[..count].iter().map(|&octet| Some(octet))),
            _ => match pair.ends[1].next_gap(id) {
                Some(gap) => {
                    assert_eq!(gap.offset, stream.len() as u64);
                    stream.resize(stream.len() + gap.bytes as usize, None);
                    gaps.push((pair.now, gap));
                }
                None => return true,
            },
        }
    }
}

/// Moments at which end 1 heard that all octets of the stream below a number were sent, both rising.
#[derive(Default)]
struct Shown {
    initial: Option<u32>,
    to: Vec<(u64, Instant)>,
}

impl Shown {
    fn arrives(&mut self, bytes: &[u8], now: Instant) {
        let segment = decode(way().reversed(), bytes).unwrap();
        let initial = *self.initial.get_or_insert(segment.sequence);
        let first = u64::from(segment.sequence.wrapping_sub(initial)).saturating_sub(1);
        let bytes = segment.payload_bytes() as u64;
        // The last number before a bare segment may be the end's.
        let is_bare = bytes == 0 && !segment.has(flags::FIN);
        let end = if is_bare { first.saturating_sub(1) } else { first + bytes };
        if self.to.last().is_none_or(|&(highest, _)| highest < end) {
            self.to.push((end, now));
        }
    }

    /// When the octet at this offset could be missed first.
    fn at(&self, offset: u64) -> Instant {
        self.to.iter().find(|&&(end, _)| end > offset).unwrap().1
    }
}

/// What became of a stream over a link.
struct Carried {
    stream: Vec<Option<u8>>,
    /// Gaps, with the moments at which they were told and could be missed first.
    gaps: Vec<(Instant, Instant, Gap)>,
    has_ended: bool,
    is_finished: bool,
    sides: [Stats; 2],
}

/// Sends `data` from end 0 to end 1, which reads as soon as there is something.
fn carry(config: &Config, link: LinkConfig, seed: u64, data: &[u8]) -> Carried {
    let (mut pair, end) = (Pair::new(config, link, seed), Instant::from_ns(7200 * SECOND));
    pair.arrived = Some(Vec::new());
    let id = pair.connect(config);
    let (mut written, mut other, mut shown) = (0, None, Shown::default());
    let (mut stream, mut gaps, mut has_ended, mut is_finished) = (Vec::new(), Vec::new(), false, false);
    while !(has_ended && is_finished) {
        written += pair.ends[0].write(id, &data[written..]).unwrap_or(0);
        if written == data.len() {
            pair.ends[0].finish(id);
        }
        other = other.or_else(|| pair.ends[1].accept());
        if let Some(other) = other.filter(|_| !has_ended) {
            has_ended = !take(&mut pair, other, &mut stream, &mut gaps);
        }
        while let Some((_, event)) = pair.ends[0].poll_event() {
            is_finished |= event == StreamEvent::Finished;
        }
        if !pair.step(end) {
            break;
        }
        for bytes in pair.arrived.as_mut().unwrap().drain(..) {
            shown.arrives(&bytes, pair.now);
        }
    }
    let sides = [pair.ends[0].stats(id), pair.ends[1].stats(other.unwrap_or(0))];
    let gaps = gaps.into_iter().map(|(at, gap)| (at, shown.at(gap.offset), gap)).collect();
    Carried { stream, gaps, has_ended, is_finished, sides: sides.map(Option::unwrap_or_default) }
}

fn lossy(loss: f64, delay_ns: u64) -> LinkConfig {
    let direction =
        DirectionConfig { rate_bps: Some(1_500_000), delay_ns, loss, ..DirectionConfig::default() };
    LinkConfig { name: "l".into(), forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}

/// Every octet is delivered, or lies in a gap that is told in its place and its time. With timestamps that
/// may be later: a segment which these show to be an old one shows nothing.
fn check(carried: &Carried, data: &[u8], config: &Config) {
    let patience_ns = config.scps.as_ref().and_then(|scps| scps.best_effort_ns).unwrap();
    let Carried { stream, gaps, .. } = carried;
    assert!(
        carried.has_ended && carried.is_finished,
        "{} of {}: {:?}",
        stream.len(),
        data.len(),
        carried.sides
    );
    assert_eq!(stream.len(), data.len());
    assert!(stream.iter().zip(data).all(|(found, octet)| found.is_none_or(|found| found == *octet)));
    for (told, missed, gap) in gaps {
        let waited_ns = told.since(*missed);
        let least_ns = patience_ns - patience_ns / 32;
        let is_in_time = waited_ns <= patience_ns || config.timestamps;
        assert!(waited_ns >= least_ns && is_in_time, "{gap:?} after {waited_ns} of {patience_ns}");
    }
    let missing = stream.iter().filter(|octet| octet.is_none()).count() as u64;
    let receiver = &carried.sides[1];
    assert_eq!((receiver.missing_bytes, receiver.delivered_bytes), (missing, data.len() as u64 - missing));
}

/// A patience of a quarter of a round trip lets no repeat arrive in time: what the link took is missing, and
/// nothing waits.
#[test]
fn where_no_repeat_comes_in_time_what_the_link_took_is_missing_and_nothing_waits() {
    let data = content(500_000);
    let config =
        Config { rate_bps: Some(1_400_000), ..speaking(Scps { best_effort_ns: Some(50 * MS), ..asking() }) };
    let whole = carry(&config, lossy(0.0, 100 * MS), 1, &data);
    check(&whole, &data, &config);
    assert_eq!(whole.gaps.len(), 0);
    let carried = carry(&config, lossy(0.02, 100 * MS), 1, &data);
    check(&carried, &data, &config);
    assert!((3..30).contains(&carried.gaps.len()), "{}", carried.gaps.len());
    // With time for two repeats next to nothing is.
    let config = Config { scps: Some(Scps { best_effort_ns: Some(SECOND), ..asking() }), ..config };
    let patient = carry(&config, lossy(0.02, 100 * MS), 1, &data);
    check(&patient, &data, &config);
    assert!(patient.gaps.len() < carried.gaps.len() / 3, "{}", patient.gaps.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_the_link_does_every_octet_arrives_or_lies_in_a_gap_that_is_told_in_time(
        seed in any::<u64>(), loss in 0.0f64..0.4, reordered in 0.0f64..0.3, extra_ms in 0u64..80,
        bytes in 1usize..120_000, kinds in any::<[bool; 7]>(), patience_ms in 1u64..3000, repeats in 0u32..5,
        receive_limit_bytes in 2_000u64..60_000, mss_bytes in 64u16..1460,
    ) {
        let [is_declared, short, timestamps, vegas, damage, nagle, discover_mtu] = kinds;
        let mut link = lossy(loss, 50 * MS);
        link.forward.reordering = Reordering { probability: reordered, extra_delay_ns: extra_ms * MS };
        link.forward.order = Order::Free;
        let scps = Scps {
            controller: if vegas { ControllerKind::Vegas } else { ControllerKind::Off },
            pacing_percent: vegas.then_some((100, 100)),
            loss_cause: if damage { Verdict::Corruption } else { Verdict::Congestion },
            snack: if short { Snack::Short } else { Snack::Vector },
            best_effort_ns: Some(patience_ms * MS),
            best_effort_repeats: repeats,
            ..asking()
        };
        let config = Config {
            mss_bytes, timestamps, nagle, receive_limit_bytes, discover_mtu,
            black_hole_timeouts: discover_mtu.then_some(3),
            rate_bps: is_declared.then_some(1_000_000),
            max_repeats: 60,
            max_syn_repeats: 60,
            max_rto_ns: 4 * SECOND,
            ..speaking(scps)
        };
        let data = content(bytes);
        check(&carry(&config, link, seed, &data), &data, &config);
    }
}
