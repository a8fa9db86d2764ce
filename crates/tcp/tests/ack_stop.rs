//! ACK stop of [PETRA III-E]: while a receiver holds its peer back nothing is acknowledged, duplicates
//! included; then everything is.

mod common;

use common::pair::{Pair, content};
use common::{PORT, way};
use skyhaul_core::{Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig};
use skyhaul_tcp::Config;
use skyhaul_tcp::segment::{decode, flags};

/// Link of 2 Mbit/s and 50 ms each way.
fn wire() -> LinkConfig {
    let direction =
        DirectionConfig { rate_bps: Some(2_000_000), delay_ns: 50 * MS, ..DirectionConfig::default() };
    LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}

/// Reads all that end 1 has.
fn drain(pair: &mut Pair, id: u64, into: &mut Vec<u8>) {
    let mut scratch = vec![0; 1 << 16];
    while let Ok(Some(count @ 1..)) = pair.ends[1].read(id, &mut scratch) {
        into.extend_from_slice(&scratch[..count]);
    }
}

/// Runs until end 1 has read so much, or until `end`.
fn run(pair: &mut Pair, (id, data): (u64, &[u8]), received: &mut Vec<u8>, (bytes, end): (usize, Instant)) {
    while received.len() < bytes && pair.step(end) {
        let confirmed = pair.ends[0].stats(id).map_or(0, |stats| stats.acknowledged_bytes);
        let written = (pair.ends[0].held_bytes(id) + confirmed) as usize;
        pair.ends[0].write(id, &data[written..]).unwrap_or(0);
        drain(pair, 1, received);
    }
}

#[test]
fn a_held_receiver_acknowledges_nothing_takes_a_window_and_releases_all_at_once() {
    let config = Config::petra();
    let mut pair = Pair::new(&config, wire(), 1);
    let data = content(200_000);
    let (id, mut received) = (pair.connect(&config), Vec::new());
    run(&mut pair, (id, &data), &mut received, (60_000, Instant::from_ns(20 * SECOND)));
    assert_eq!(pair.ends[1].accept(), Some(1));
    pair.ends[1].hold(1, true);
    let (before, sent) = (received.len(), pair.ends[1].stats(1).unwrap().sent_packets);
    let release_at = pair.now.after(600 * MS);
    run(&mut pair, (id, &data), &mut received, (usize::MAX, release_at));
    let during = received.len() - before;
    assert!((31_000..=32_000).contains(&during), "{during} octets while held: a window");
    assert_eq!(pair.ends[1].stats(1).unwrap().sent_packets, sent, "not a word");
    pair.now = release_at;
    pair.ends[1].hold(1, false);
    run(&mut pair, (id, &data), &mut received, (usize::MAX, release_at.after(MS)));
    assert_eq!(pair.ends[1].stats(1).unwrap().sent_packets, sent + 1, "one acknowledgement of all");
    run(&mut pair, (id, &data), &mut received, (data.len(), Instant::from_ns(60 * SECOND)));
    assert_eq!(received, data);
    assert_eq!(pair.ends[0].stats(id).unwrap().timeouts, 0, "a pause below the timer's second");
}

#[test]
fn repeats_and_probes_are_not_answered_while_held_and_all_is_acknowledged_then() {
    let config = Config::petra();
    let mut pair = Pair::new(&config, wire(), 1);
    let data = content(30_000);
    let id = pair.connect(&config);
    pair.ends[0].write(id, &data).unwrap();
    pair.step(Instant::from_ns(SECOND));
    while pair.step(Instant::from_ns(400 * MS)) {}
    let other = pair.ends[1].accept().expect("it is open");
    pair.ends[1].hold(other, true);
    let before = pair.ends[1].stats(other).unwrap().sent_packets;
    while pair.step(Instant::from_ns(20 * SECOND)) {}
    assert!(pair.ends[0].stats(id).unwrap().timeouts > 1, "its timer does not know");
    assert_eq!(pair.ends[1].stats(other).unwrap().sent_packets, before, "not a word while held");
    pair.ends[1].hold(other, false);
    while pair.step(Instant::from_ns(60 * SECOND)) {}
    let mut received = Vec::new();
    drain(&mut pair, other, &mut received);
    while received.len() < data.len() {
        let more = pair.step(Instant::from_ns(120 * SECOND));
        drain(&mut pair, other, &mut received);
        assert!(more || received.len() == data.len(), "{} octets", received.len());
    }
    assert_eq!(received, data);
    assert_eq!(pair.ends[0].stats(id).unwrap().acknowledged_bytes, 30_000);
}

/// Data in the other direction leaves while held, with the acknowledgement of before.
#[test]
fn data_of_a_held_receiver_repeats_its_last_acknowledgement_and_no_window_shrinks() {
    let config = Config::petra();
    let mut pair = Pair::new(&config, wire(), 1);
    let id = pair.connect(&config);
    pair.ends[0].write(id, &content(3000)).unwrap();
    while pair.step(Instant::from_ns(SECOND)) {}
    let other = pair.ends[1].accept().expect("it is open");
    drain(&mut pair, other, &mut Vec::new());
    pair.ends[1].hold(other, true);
    pair.ends[0].write(id, &content(3000)).unwrap();
    while pair.step(Instant::from_ns(2 * SECOND)) {}
    drain(&mut pair, other, &mut Vec::new());
    pair.ends[1].write(other, b"words").unwrap();
    let (mut held, mut released) = (Vec::new(), Vec::new());
    pair.ends[1].poll_transmit(pair.now, &mut held, 1, &mut NullSink).expect("data leaves");
    let segment = decode(way(), &held).expect("it is one");
    let edge = segment.acknowledgement.wrapping_add(u32::from(segment.window));
    pair.ends[0].handle(pair.now, way(), NetworkFields::default(), &held, &mut NullSink);
    let acknowledged = pair.ends[0].stats(id).unwrap().acknowledged_bytes;
    assert_eq!(acknowledged, 3000, "the second half is not acknowledged");
    pair.ends[1].hold(other, false);
    pair.ends[1].poll_transmit(pair.now, &mut released, 1, &mut NullSink).expect("it acknowledges");
    let released = decode(way(), &released).expect("it is one");
    assert_eq!(released.acknowledgement, segment.acknowledgement.wrapping_add(3000));
    assert!(released.has(flags::ACK) && released.source_port == PORT);
    let later = released.acknowledgement.wrapping_add(u32::from(released.window));
    assert!(later.wrapping_sub(edge) < 1 << 31, "the edge never moves left");
}
