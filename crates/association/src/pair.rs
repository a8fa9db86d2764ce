//! Two STP engines under a seal, with their owners and applications, and the way between them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream};
use skyhaul_stp::{Config as StpConfig, Endpoint, EndpointConfig, MtuSearch};

use crate::nonces::{forget, recording_aead};
use crate::world::{A, B, callsign, identity};
use crate::{
    AssociationId, Associations, Config, Event, Offer, PeerId, PeerSettings, SealedEngine, Secret, Token,
};

pub(crate) const PORT: u16 = 7;

pub(crate) type StpEngine = SealedEngine<Endpoint<AssociationId>>;

pub(crate) fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, end as u8 + 1], 4700))
}

/// End with what its owner wrote down.
pub(crate) struct Host {
    pub(crate) engine: StpEngine,
    pub(crate) peer: PeerId,
    pub(crate) token: Token,
    pub(crate) reserved: u64,
    pub(crate) received: BTreeMap<ConnectionId, Vec<u8>>,
    pub(crate) ended: Vec<ConnectionId>,
    making: Making,
}

/// What an engine is made of: its place, its mode, how it speaks STP, and which life it is.
#[derive(Clone)]
pub(crate) struct Making {
    pub(crate) end: usize,
    pub(crate) mode: Mode,
    pub(crate) stp: StpConfig,
    pub(crate) life: u8,
}

/// Parameters of an endpoint with such connections on paths of 1500, in datagrams with so much room.
pub(crate) fn endpoint_config<P>(stp: &StpConfig, head_bytes: u32, tail_bytes: u32) -> EndpointConfig<P> {
    EndpointConfig {
        accept: stp.clone(),
        mtu_bytes: 1500,
        mtu_search: MtuSearch { base_bytes: 1280, min_bytes: |_| 576, taken_bytes: 1500, link_bytes: 0 },
        carrier_bytes: |_| 28,
        head_bytes,
        tail_bytes,
        max_connections: 64,
        max_unproven: 32,
        max_early: 8,
        host_of: None,
        receive_budget_bytes: 16 << 20,
    }
}

fn engine(making: &Making, token: Token, reserved: u64) -> (StpEngine, PeerId) {
    let Making { end, mode, ref stp, life } = *making;
    let config = Config { offer: Offer { aes: true }, maker: recording_aead };
    let seed = Secret::new([life; 32]).mac(&[&[end as u8]]);
    let mut associations = Associations::new(config, identity(end), Secret::new(seed));
    let (key, psk) = (identity(1 - end).public(), Secret::new([0x33; 32]));
    associations = associations.with_callsign(Some(&callsign(end)));
    let peer = associations.add_peer(PeerSettings { key, psk, mode, token, reserved }).unwrap();
    let stp = endpoint_config(stp, StpEngine::HEAD_BYTES, StpEngine::TAIL_BYTES);
    let random = Stream::new(u64::from(life) * 2 + end as u64, "sealed stp");
    let mut engine = SealedEngine::new(Endpoint::new(stp, random), associations);
    engine.listen(PORT);
    (engine, peer)
}

impl Host {
    pub(crate) fn new(making: Making) -> Self {
        let (engine, peer) = engine(&making, Token::NONE, 0);
        let (received, ended) = (BTreeMap::new(), Vec::new());
        Self { engine, peer, token: Token::NONE, reserved: 0, received, ended, making }
    }

    pub(crate) fn restart(&mut self) {
        self.making.life += 1;
        (self.engine, self.peer) = engine(&self.making, self.token, self.reserved);
        self.received.clear();
    }

    /// Owner: writes tokens and counters down.
    pub(crate) fn write_down(&mut self) {
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
    }

    /// Owner and application: writes down, accepts, reads.
    pub(crate) fn attend(&mut self, now: Instant) {
        self.write_down();
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
pub(crate) struct Way {
    pub(crate) random: Stream,
    pub(crate) loss_percent: u64,
    pub(crate) copies_percent: u64,
    pub(crate) delay_ms: u64,
    pub(crate) jitter_ms: u64,
}

pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) hosts: [Host; 2],
    pub(crate) way: Way,
    /// Where each host is; what goes to another address is lost.
    pub(crate) addresses: [SocketAddr; 2],
    /// Receiver, sender's address and octets, by the time of arrival.
    pub(crate) under_way: BTreeMap<(Instant, u64), (usize, SocketAddr, Vec<u8>)>,
    pub(crate) sequence: u64,
    /// Datagrams of each size that left, messages among them.
    pub(crate) left: [u64; 2],
    pub(crate) messages: u64,
    /// Largest packet that the path takes. It cuts nothing, and carries no fragments.
    pub(crate) path_bytes: usize,
    /// Datagrams that IP was let to cut.
    pub(crate) may_be_cut: u64,
}

impl Pair {
    pub(crate) fn new(seed: u64, mode: Mode) -> Self {
        Self::speaking(seed, mode, &StpConfig::standard())
    }

    /// Pair whose ends speak STP like this.
    pub(crate) fn speaking(seed: u64, mode: Mode, stp: &StpConfig) -> Self {
        forget();
        let mut random = Stream::new(seed, "way");
        let way = Way {
            loss_percent: random.below(20),
            copies_percent: random.below(20),
            delay_ms: 1 + random.below(400),
            jitter_ms: 1 + random.below(50),
            random,
        };
        let hosts = [A, B].map(|end| Host::new(Making { end, mode, stp: stp.clone(), life: 0 }));
        let under_way = BTreeMap::new();
        let now = Instant::from_ns(SECOND);
        let addresses = [address(A), address(B)];
        let mut pair = Self {
            now,
            hosts,
            way,
            addresses,
            under_way,
            sequence: 0,
            left: [0; 2],
            messages: 0,
            path_bytes: 1500,
            may_be_cut: 0,
        };
        pair.transmit();
        pair
    }

    pub(crate) fn connect(&mut self, end: usize) -> ConnectionId {
        let now = self.now;
        let host = &mut self.hosts[end];
        let association = host.engine.associations_mut().open(now, host.peer, address(1 - end)).unwrap();
        let config = host.making.stp.clone();
        host.engine.inner_mut().connect(now, association, PORT, config, false).unwrap()
    }

    pub(crate) fn transmit(&mut self) {
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
                    self.may_be_cut += u64::from(transmit.fields.may_fragment);
                    if is_there && datagram.len() + 28 <= self.path_bytes {
                        self.launch(1 - end, datagram);
                    }
                }
            }
        }
    }

    pub(crate) fn launch(&mut self, to: usize, datagram: &[u8]) {
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
    pub(crate) fn step(&mut self, until: Instant) -> bool {
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

    pub(crate) fn run(&mut self, ns: u64) {
        let until = self.now.after(ns);
        while self.step(until) {}
    }

    /// Writes `data` and ends the stream, and lets time pass until it is read at the other end.
    pub(crate) fn carry(&mut self, end: usize, data: &[u8]) {
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

pub(crate) fn content(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Stream::new(seed, "content");
    (0..bytes).map(|_| random.next_u64() as u8).collect()
}
