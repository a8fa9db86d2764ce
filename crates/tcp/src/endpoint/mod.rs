//! The endpoint: all connections of a host, its ports, and who may send next (owners: endpoint > path >
//! connection).

mod accept;
mod application;
mod driving;
mod extensions;
mod icmp;
mod secrets;
mod transmit;
mod ways;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;

use core::net::SocketAddr;

use skyhaul_core::event::Refusal;
use skyhaul_core::{
    ConnectError, ConnectionId, Ecn, Event, EventSink, Instant, Path, Paths, Shares, Stream, StreamEvent,
    Timer, Timers, Turn, Turns, ip_bytes,
};

use crate::config::Config;
use crate::connection::{Connection, Context, Names, State};
use crate::segment::{Segment, Way, flags};

/// What an endpoint is told once.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Largest IP packet on any path, in bytes (at least 296).
    pub mtu_bytes: u32,
    /// Connections at most; further openings are dropped.
    pub max_connections: usize,
    /// Of those, connections whose opening a peer has not confirmed yet: the bound of a SYN flood.
    pub max_unproven: usize,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self { accept: Config::standard(), mtu_bytes: 1500, max_connections: 1024, max_unproven: 128 }
    }
}

/// Counters of what belongs to no connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndpointStats {
    /// Packets that were no segments.
    pub undecodable: u64,
    /// Segments of no connection.
    pub unknown: u64,
    /// Openings dropped for want of room.
    pub full: u64,
    /// RSTs that did not end their connection: of a wrong number, or too late [RFC 5961 3, RFC 1337 3].
    pub resets_ignored: u64,
    /// ICMP messages that counted.
    pub icmp_taken: u64,
    /// Those that did not: of no connection, about nothing under way, or impossible.
    pub icmp_ignored: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    connection: Connection,
    timer: Option<Timer>,
    turn: Turn,
    /// Handed out, or on its way there.
    is_announced: bool,
    released: bool,
}

/// All connections of a host.
#[derive(Clone, Debug)]
pub struct Endpoint {
    config: EndpointConfig,
    accept_config: Arc<Config>,
    listening: BTreeSet<u16>,
    slots: BTreeMap<ConnectionId, Box<Slot>>,
    keys: BTreeMap<Names, ConnectionId>,
    paths: Paths<Way>,
    timers: Timers,
    turns: Turns<Way>,
    accepted: VecDeque<ConnectionId>,
    events: VecDeque<(ConnectionId, StreamEvent)>,
    stateless: VecDeque<(Way, Segment<'static>)>,
    ways: ways::Ways,
    secrets: secrets::Secrets,
    random: Stream,
    next_id: ConnectionId,
    stats: EndpointStats,
}

impl Endpoint {
    /// An endpoint whose random values come from `random`.
    pub fn new(config: EndpointConfig, mut random: Stream) -> Self {
        Self {
            accept_config: Arc::new(config.accept.clone()),
            config,
            listening: BTreeSet::new(),
            slots: BTreeMap::new(),
            keys: BTreeMap::new(),
            paths: Paths::default(),
            timers: Timers::default(),
            turns: Turns::default(),
            accepted: VecDeque::new(),
            events: VecDeque::new(),
            stateless: VecDeque::new(),
            ways: ways::Ways::default(),
            secrets: secrets::Secrets::new(&mut random),
            random,
            next_id: 1,
            stats: EndpointStats::default(),
        }
    }

    /// Opens a connection to `port` at the far end of `way`, from a free port or the one given.
    pub fn connect(
        &mut self,
        now: Instant,
        way: Way,
        port: u16,
        local_port: Option<u16>,
        config: Config,
    ) -> Result<ConnectionId, ConnectError> {
        if self.slots.len() >= self.config.max_connections {
            return Err(ConnectError::TooManyConnections);
        }
        let names = |local_port| Names { way, local_port, remote_port: port };
        let is_free = |endpoint: &Self, port: u16| !endpoint.keys.contains_key(&names(port));
        let local_port = match local_port {
            Some(port) => Some(port).filter(|&port| is_free(self, port)),
            None => secrets::ports(&mut self.random).find(|&port| is_free(self, port)),
        };
        let names = names(local_port.ok_or(ConnectError::NoFreePort)?);
        let (entropy, id, new) = (self.secrets.entropy(names, now), self.take_id(), self.new_path(way));
        let path = self.paths.enter(way, new, config.declared_rate());
        let mut context = Context { now, path, sink: &mut skyhaul_core::NullSink };
        let mut connection = Connection::open(id, names, entropy, Arc::new(config), &context);
        self.ways.brief(&mut connection, &mut context);
        self.insert(id, connection, true);
        Ok(id)
    }

    fn take_id(&mut self) -> ConnectionId {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    fn new_path(&self, way: Way) -> Path {
        Path {
            mtu_bytes: self.config.mtu_bytes.max(296),
            carrier_bytes: ip_bytes(way.remote),
            head_bytes: 0,
            tail_bytes: 0,
            budget: None,
            control: None,
            sent_octets: 0,
            shares: Shares::default(),
        }
    }

    fn insert(&mut self, id: ConnectionId, connection: Connection, is_announced: bool) {
        self.keys.insert(connection.names, id);
        let slot = Slot { connection, timer: None, turn: Turn::default(), is_announced, released: false };
        self.slots.insert(id, Box::new(slot));
        self.touch(id);
    }

    /// State of a connection.
    pub fn state(&self, id: ConnectionId) -> Option<State> {
        self.slots.get(&id).map(|slot| slot.connection.state())
    }

    /// Peer of a connection.
    pub fn remote(&self, id: ConnectionId) -> Option<SocketAddr> {
        let names = self.slots.get(&id)?.connection.names;
        Some(SocketAddr::new(names.way.remote, names.remote_port))
    }

    /// Counters of what belongs to no connection.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.stats
    }

    fn refuse(&mut self, why: Refusal, now: Instant, sink: &mut dyn EventSink) {
        let counter = match why {
            Refusal::Undecodable => &mut self.stats.undecodable,
            Refusal::Full => &mut self.stats.full,
            _ => &mut self.stats.unknown,
        };
        *counter += 1;
        if sink.wants() {
            sink.emit(now, 0, Event::Refused { why });
        }
    }

    fn deliver(
        &mut self,
        id: ConnectionId,
        now: Instant,
        ecn: Ecn,
        segment: &Segment<'_>,
        bytes: usize,
        sink: &mut dyn EventSink,
    ) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let Some(path) = self.paths.get_mut(&slot.connection.names.way) else { return };
        let wire_bytes = path.wire_bytes(bytes);
        let mut context = Context { now, path, sink };
        slot.connection.handle(segment, ecn, wire_bytes, &mut context);
        let survives = slot.connection.state() != State::Closed;
        self.stats.resets_ignored += u64::from(segment.has(flags::RST) && survives);
        self.touch(id);
    }

    /// Collects a connection's events and puts it in line for sending.
    fn touch(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        if !slot.is_announced && slot.connection.state() != State::SynReceived {
            if slot.connection.state() == State::Closed {
                slot.released = true; // it never came to be: nobody waits for it
            } else {
                slot.is_announced = true;
                self.accepted.push_back(id);
            }
        }
        while let Some(event) = slot.connection.poll_event() {
            if !slot.released {
                self.events.push_back((id, event));
            }
        }
        if slot.connection.is_done() {
            self.retire(id);
        } else {
            let way = slot.connection.names.way;
            self.turns.touch(id, &mut slot.turn, way, || self.paths.get_mut(&way));
        }
    }

    /// A connection is over: its ports are free, and once the application has let go it is forgotten.
    fn retire(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        self.timers.set(&mut slot.timer, id, None);
        if let Some(path) = self.paths.get_mut(&slot.connection.names.way) {
            slot.turn.leave(path);
        }
        if self.keys.get(&slot.connection.names) == Some(&id) {
            self.keys.remove(&slot.connection.names);
        }
        if slot.released {
            self.paths.leave(&slot.connection.names.way);
            self.slots.remove(&id);
            self.accepted.retain(|&other| other != id);
        }
    }
}
