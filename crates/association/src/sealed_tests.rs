//! Two STP engines under a seal, over a way that loses, doubles and reorders: every stream arrives intact.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream};
use skyhaul_stp::{Config as StpConfig, Endpoint, EndpointConfig, MtuSearch};

use crate::nonces::{forget, recording_aead};
use crate::world::{A, B, identity};
use crate::{
    AssociationId, Associations, Config, Event, Offer, PeerId, PeerSettings, SealedEngine, Secret, Token,
};

const PORT: u16 = 7;

type StpEngine = SealedEngine<Endpoint<AssociationId>>;

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, end as u8 + 1], 4700))
}

/// End with what its owner wrote down.
struct Host {
    engine: StpEngine,
    peer: PeerId,
    token: Token,
    reserved: u64,
    received: BTreeMap<ConnectionId, Vec<u8>>,
    ended: Vec<ConnectionId>,
    lives: u8,
}

fn engine(end: usize, mode: Mode, life: u8, token: Token, reserved: u64) -> (StpEngine, PeerId) {
    let config = Config { offer: Offer { aes: true }, maker: recording_aead };
    let seed = Secret::new([life; 32]).mac(&[&[end as u8]]);
    let mut associations = Associations::new(config, identity(end), Secret::new(seed));
    let (key, psk) = (identity(1 - end).public(), Secret::new([0x33; 32]));
    let peer = associations.add_peer(PeerSettings { key, psk, mode, token, reserved }).unwrap();
    let stp = EndpointConfig {
        accept: StpConfig::standard(),
        mtu_bytes: 1500,
        mtu_search: MtuSearch { base_bytes: 1280, min_bytes: |_| 576, taken_bytes: 1500, link_bytes: 0 },
        carrier_bytes: |_| 28,
        head_bytes: StpEngine::HEAD_BYTES,
        tail_bytes: StpEngine::TAIL_BYTES,
        max_connections: 64,
        max_unproven: 32,
        max_early: 8,
        host_of: None,
        receive_budget_bytes: 16 << 20,
    };
    let random = Stream::new(u64::from(life) * 2 + end as u64, "sealed stp");
    let mut engine = SealedEngine::new(Endpoint::new(stp, random), associations);
    engine.listen(PORT);
    (engine, peer)
}

impl Host {
    fn new(end: usize, mode: Mode) -> Self {
        let (engine, peer) = engine(end, mode, 0, Token::NONE, 0);
        let (received, ended) = (BTreeMap::new(), Vec::new());
        Self { engine, peer, token: Token::NONE, reserved: 0, received, ended, lives: 0 }
    }

    fn restart(&mut self, end: usize, mode: Mode) {
        self.lives += 1;
        (self.engine, self.peer) = engine(end, mode, self.lives, self.token, self.reserved);
        self.received.clear();
    }

    /// Owner and application: writes down, accepts, reads.
    fn attend(&mut self, now: Instant) {
        let associations = self.engine.associations_mut();
        while let Some(event) = associations.poll_event() {
            match event {
                Event::Token { token, .. } => self.token = token,
                Event::Reserve { peer, up_to } => {
                    let reserved = std::mem::replace(&mut self.reserved, up_to);
                    associations.reserved(peer, reserved..up_to);
                }
                _ => {}
            }
        }
        while let Some(id) = self.engine.accept() {
            self.received.insert(id, Vec::new());
        }
        while self.engine.poll_event().is_some() {}
        let mut buffer = [0; 4096];
        for (&id, received) in &mut self.received {
            while let Ok(Some(bytes @ 1..)) = self.engine.read(id, &mut buffer) {
                received.extend(&buffer[..bytes]);
            }
            if matches!(self.engine.read(id, &mut buffer), Ok(Some(0))) && !self.ended.contains(&id) {
                self.ended.push(id);
                self.engine.finish(id);
                self.engine.release(now, id);
            }
        }
    }
}

/// Way between the hosts.
struct Way {
    random: Stream,
    loss_percent: u64,
    copies_percent: u64,
    delay_ms: u64,
    jitter_ms: u64,
}

struct Pair {
    now: Instant,
    hosts: [Host; 2],
    way: Way,
    /// Where each host is; what goes to another address is lost.
    addresses: [SocketAddr; 2],
    /// Receiver, sender's address and octets, by the time of arrival.
    under_way: BTreeMap<(Instant, u64), (usize, SocketAddr, Vec<u8>)>,
    sequence: u64,
    /// Datagrams of each size that left, messages among them.
    left: [u64; 2],
    messages: u64,
}

impl Pair {
    fn new(seed: u64, mode: Mode) -> Self {
        forget();
        let mut random = Stream::new(seed, "way");
        let way = Way {
            loss_percent: random.below(20),
            copies_percent: random.below(20),
            delay_ms: 1 + random.below(400),
            jitter_ms: 1 + random.below(50),
            random,
        };
        let hosts = [Host::new(A, mode), Host::new(B, mode)];
        let under_way = BTreeMap::new();
        let now = Instant::from_ns(SECOND);
        let addresses = [address(A), address(B)];
        let mut pair = Self { now, hosts, way, addresses, under_way, sequence: 0, left: [0; 2], messages: 0 };
        pair.transmit();
        pair
    }

    fn connect(&mut self, end: usize) -> ConnectionId {
        let now = self.now;
        let host = &mut self.hosts[end];
        let association = host.engine.associations_mut().open(now, host.peer, address(1 - end)).unwrap();
        let config = StpConfig::standard();
        host.engine.inner_mut().connect(now, association, PORT, config, false).unwrap()
    }

    fn transmit(&mut self) {
        for end in [A, B] {
            self.hosts[end].attend(self.now);
            let mut buffer = Vec::new();
            while let Some(transmit) =
                self.hosts[end].engine.poll_transmit(self.now, &mut buffer, 17, &mut NullSink)
            {
                let is_there = transmit.peer == self.addresses[1 - end];
                for datagram in buffer.chunks(transmit.segment_bytes) {
                    assert!(datagram.len() + 28 <= 1500, "larger than the path");
                    self.messages += u64::from(datagram[1..4] == [0; 3]);
                    self.left[end] += 1;
                    if is_there {
                        self.launch(1 - end, datagram);
                    }
                }
            }
        }
    }

    fn launch(&mut self, to: usize, datagram: &[u8]) {
        let way = &mut self.way;
        let happens = |random: &mut Stream, percent| random.below(100) < percent;
        if happens(&mut way.random, way.loss_percent) {
            return;
        }
        let copies = 1 + u64::from(happens(&mut way.random, way.copies_percent));
        for _ in 0..copies {
            self.sequence += 1;
            let delay_ns = (way.delay_ms + way.random.below(way.jitter_ms)) * MS;
            let arrival = (to, self.addresses[1 - to], datagram.to_vec());
            self.under_way.insert((self.now.after(delay_ns), self.sequence), arrival);
        }
    }

    /// Goes on to the next moment at which anything happens, `until` at most; whether there was one.
    fn step(&mut self, until: Instant) -> bool {
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let timers = self.hosts.iter().filter_map(|host| host.engine.deadline()).min();
        let next = [arrival, timers].into_iter().flatten().min().filter(|&next| next <= until);
        self.now = self.now.max(next.unwrap_or(until));
        while self.under_way.first_key_value().is_some_and(|(&(at, _), _)| at <= self.now) {
            let (_, (to, from, datagram)) = self.under_way.pop_first().expect("it was there");
            let engine = &mut self.hosts[to].engine;
            engine.handle(self.now, from, NetworkFields::default(), &datagram, &mut NullSink);
        }
        for host in &mut self.hosts {
            if host.engine.deadline().is_some_and(|at| at <= self.now) {
                host.engine.handle_timeout(self.now, &mut NullSink);
            }
        }
        self.transmit();
        next.is_some()
    }

    fn run(&mut self, ns: u64) {
        let until = self.now.after(ns);
        while self.step(until) {}
    }

    /// Writes `data` and ends the stream, and lets time pass until it is read at the other end.
    fn carry(&mut self, end: usize, data: &[u8]) {
        let id = self.connect(end);
        let mut rest = data;
        let until = self.now.after(3000 * SECOND);
        let ended = self.hosts[1 - end].ended.len();
        while self.hosts[1 - end].ended.len() == ended {
            if !rest.is_empty() {
                let taken = self.hosts[end].engine.write(id, rest).unwrap();
                rest = &rest[taken..];
                if rest.is_empty() {
                    self.hosts[end].engine.finish(id);
                }
            }
            self.transmit();
            assert!(self.step(until), "the stream stands still");
        }
        assert_eq!(self.hosts[1 - end].received.last_key_value().unwrap().1, data);
    }
}

fn content(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Stream::new(seed, "content");
    (0..bytes).map(|_| random.next_u64() as u8).collect()
}

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
        pair.hosts[B].restart(B, Mode::Encrypted);
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
    assert_eq!((first.segment_bytes, &buffer[1..5]), (crate::MESSAGE_1_BYTES, &[0, 0, 0, 1][..]));
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
