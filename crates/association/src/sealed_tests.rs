//! Two STP engines under a seal, over a way that loses, doubles and reorders: every stream arrives intact.

use std::net::SocketAddr;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Connections, Engine, MS, NullSink, SECOND};

use crate::pair::{Pair, content};
use crate::world::{A, B};

#[test]
fn streams_of_stp_cross_sealed_and_intact() {
    for seed in 0..12 {
        let mode = if seed % 2 == 0 { Mode::Encrypted } else { Mode::Authenticated };
        let mut pair = Pair::new(seed, mode);
        for round in 0..3 {
            let data = content(seed * 3 + round, 1 + (seed as usize * 7919) % 60_000);
            pair.carry(round as usize % 2, &data);
        }
        assert!(pair.messages >= 6, "seed {seed}: three handshakes");
    }
}

#[test]
fn a_slow_stream_lives_through_key_steps_and_new_handshakes() {
    for seed in 0..3 {
        let mut pair = Pair::new(seed, Mode::Encrypted);
        pair.way.loss_percent = 2;
        let id = pair.connect(A);
        let data = content(seed, 400 * 1000);
        let messages_of_first = 20;
        for chunk in data.chunks(1000) {
            assert_eq!(pair.hosts[A].engine.write(id, chunk), Ok(1000), "seed {seed}: it drains meanwhile");
            pair.transmit();
            pair.run(30 * SECOND);
        }
        pair.hosts[A].engine.finish(id);
        pair.transmit();
        pair.run(60 * SECOND);
        assert_eq!(pair.hosts[B].received.values().next(), Some(&data), "seed {seed}");
        assert_eq!(pair.hosts[B].received.len(), 1);
        assert!((4..messages_of_first).contains(&pair.messages), "two handshakes: {}", pair.messages);
        assert_eq!(pair.hosts[B].engine.associations().counters().forged, 0);
    }
}

#[test]
fn connections_of_a_peer_that_restarted_are_freed_within_seconds() {
    for seed in 0..6 {
        let mut pair = Pair::new(seed, Mode::Encrypted);
        let id = pair.connect(A);
        pair.hosts[A].engine.write(id, &vec![1; 3000]).unwrap();
        pair.transmit();
        pair.run(20 * SECOND);
        assert_eq!(pair.hosts[B].received.len(), 1, "seed {seed}");
        pair.hosts[B].restart();
        pair.hosts[A].engine.write(id, &[2; 3000]).unwrap();
        pair.transmit();
        pair.run(60 * SECOND);
        assert!(pair.hosts[A].engine.write(id, &[3]).is_err(), "seed {seed}: the connection is over");
        pair.carry(A, &content(seed, 5000));
        pair.carry(B, &content(seed, 5000));
    }
}

#[test]
fn an_opening_rides_in_message_1() {
    let mut pair = Pair::new(1, Mode::Encrypted);
    (pair.way.loss_percent, pair.way.copies_percent) = (0, 0);
    pair.carry(A, b"first contact");
    pair.run(60 * SECOND);
    let begun = pair.now;
    let id = pair.connect(A);
    pair.hosts[A].engine.write(id, b"with a token").unwrap();
    pair.hosts[A].engine.finish(id);
    pair.transmit();
    let ended = pair.hosts[B].ended.len();
    while pair.hosts[B].ended.len() == ended {
        assert!(pair.step(begun.after(10 * SECOND)));
    }
    let once_ns = (pair.way.delay_ms + pair.way.jitter_ms) * MS;
    assert!(pair.now.since(begun) <= once_ns, "delivered when message 1 is: no round trip is spent");
}

#[test]
fn polling_in_any_order_keeps_the_message_in_front() {
    let mut pair = Pair::new(1, Mode::Authenticated);
    pair.way.loss_percent = 100;
    let before = Arc::new(pair.left);
    let id = pair.connect(A);
    pair.hosts[A].engine.write(id, &[7; 100]).unwrap();
    let mut buffer = Vec::new();
    let first = pair.hosts[A].engine.poll_transmit(pair.now, &mut buffer, 17, &mut NullSink).unwrap();
    assert_eq!((first.segment_bytes, &buffer[1..5]), (crate::MESSAGE_1_BYTES + 16, &[0, 0, 0, 1][..]));
    let second = pair.hosts[A].engine.poll_transmit(pair.now, &mut buffer, 17, &mut NullSink).unwrap();
    assert!(second.segment_bytes > 24 && buffer[1] & 0x80 != 0, "early data follows");
    assert_eq!(*before, pair.left);
}

#[test]
fn under_a_seal_no_checksum_is_made() {
    let mut pair = Pair::new(1, Mode::Authenticated);
    (pair.way.loss_percent, pair.way.copies_percent) = (0, 0);
    let id = pair.connect(A);
    pair.hosts[A].engine.write(id, &content(1, 5000)).unwrap();
    pair.hosts[A].engine.finish(id);
    let until = pair.now.after(30 * SECOND);
    let mut records = 0;
    pair.transmit();
    while pair.step(until) {
        for (_, _, datagram) in pair.under_way.values() {
            // Readable segments: the checksum is the 9th and 10th octet.
            if datagram[1..4] != [0; 3] && datagram.len() > crate::OVERHEAD_BYTES {
                assert_eq!(datagram[8 + 8..8 + 10], [0, 0]);
                records += 1;
            }
        }
    }
    assert!(records > 10 && pair.hosts[B].received.values().any(|received| received.len() == 5000));
}

/// Longest time, in ns, for which nothing arrives of a steady stream of 8 Mbit/s from `sender` after the
/// opener has got another address; the round trip is 100 ms.
fn wait_after_moving(seed: u64, sender: usize) -> u64 {
    let mut pair = Pair::new(seed, Mode::Encrypted);
    (pair.way.loss_percent, pair.way.copies_percent) = (0, 0);
    (pair.way.delay_ms, pair.way.jitter_ms) = (50, 1);
    let id = pair.connect(A);
    pair.hosts[A].received.insert(id, Vec::new());
    pair.hosts[A].engine.write(id, b"?").unwrap();
    pair.transmit();
    pair.run(SECOND);
    let ids = [id, *pair.hosts[B].received.last_key_value().unwrap().0];
    let (mut longest_ns, mut last) = (0, pair.now);
    for round in 0..500 {
        if round == 100 {
            // What is under way to the old address is lost.
            pair.addresses[A] = SocketAddr::from(([198, 51, 100, 7], 4700));
            pair.under_way.retain(|_, &mut (to, ..)| to != A);
        }
        assert_eq!(pair.hosts[sender].engine.write(ids[sender], &[7; 10_000]), Ok(10_000), "round {round}");
        let before = pair.hosts[1 - sender].received[&ids[1 - sender]].len();
        pair.transmit();
        pair.run(10 * MS);
        if pair.hosts[1 - sender].received[&ids[1 - sender]].len() > before {
            longest_ns = longest_ns.max(pair.now.since(last));
            last = pair.now;
        }
    }
    pair.run(SECOND);
    assert!(pair.hosts[1 - sender].received[&ids[1 - sender]].len() >= 500 * 10_000, "all of it arrives");
    longest_ns
}

#[test]
fn data_of_an_end_that_moved_flows_again_within_a_second() {
    for seed in 0..4 {
        let longest_ns = wait_after_moving(seed, A);
        assert!(longest_ns <= SECOND, "seed {seed}: {longest_ns} ns");
    }
}

#[test]
fn data_to_an_end_that_only_answers_flows_again_within_three_seconds() {
    for seed in 0..4 {
        let longest_ns = wait_after_moving(seed, B);
        assert!(longest_ns > SECOND / 2 && longest_ns <= 3 * SECOND, "seed {seed}: {longest_ns} ns");
    }
}
