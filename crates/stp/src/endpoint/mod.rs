//! The endpoint: all connections behind one socket, the paths that they share, and who may send next
//! (owners: endpoint > path > connection).

mod accept;
mod application;
mod closed;
mod driving;
#[cfg(test)]
mod endpoint_tests;
mod transmit;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_congestion::memory::Remembering;
use skyhaul_core::event::Refusal;
use skyhaul_core::{
    ConnectError, ConnectionId, DeclaredRate, Event, EventSink, Instant, Pacer, Path, Paths, RateControl,
    Shares, Stream, StreamEvent, Timer, Timers, Turn, Turns, ip_udp_bytes,
};

use crate::config::Config;
use crate::connection::{Connection, Context, Entropy, Names, State};
use crate::segment::{HEADER_BYTES, Segment};
pub(crate) use closed::Farewell;
use closed::{ClosedMemory, Farewells};

/// What an endpoint is told once.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Largest IP packet on any path, in bytes (at least 296).
    pub mtu_bytes: u32,
    /// Bytes of the headers that the carrier puts around each datagram; `None`: IP and UDP.
    pub carrier_bytes: Option<u32>,
    /// Bytes kept free in front of each segment.
    pub head_bytes: u32,
    /// Bytes kept free behind each segment.
    pub tail_bytes: u32,
    /// Connections at most; further openings are answered with RST (busy).
    pub max_connections: usize,
    /// Of those, connections whose peer's address is not proven yet.
    pub max_unproven: usize,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            accept: Config::standard(),
            mtu_bytes: 1500,
            carrier_bytes: None,
            head_bytes: 0,
            tail_bytes: 0,
            max_connections: 1024,
            max_unproven: 32,
        }
    }
}

#[derive(Clone, Debug)]
struct Slot {
    remote: SocketAddr,
    connection: Connection,
    timer: Option<Timer>,
    turn: Turn,
    /// The application has let go of it.
    released: bool,
}

impl Slot {
    /// Whether nobody needs the connection any more.
    fn is_forgettable(&self) -> bool {
        self.released && self.connection.is_done()
    }
}

/// Ports and peer: what a segment is routed by.
type Key = (SocketAddr, u16, u16);

/// Counters of what belongs to no connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndpointStats {
    /// Datagrams that were no segments.
    pub undecodable: u64,
    /// Segments of no connection.
    pub unknown: u64,
    /// Segments of an earlier or other instance.
    pub wrong_instance: u64,
    /// Openings seen before.
    pub replays: u64,
    /// Openings refused for want of room.
    pub full: u64,
}

/// All connections behind one socket.
#[derive(Clone, Debug)]
pub struct Endpoint {
    config: EndpointConfig,
    accept_config: Arc<Config>,
    listening: BTreeSet<u16>,
    /// Boxed: a node of the tree has room for eleven, and about half of them stay empty.
    slots: BTreeMap<ConnectionId, Box<Slot>>,
    keys: BTreeMap<Key, ConnectionId>,
    paths: Paths<SocketAddr>,
    timers: Timers,
    turns: Turns<SocketAddr>,
    accepted: VecDeque<ConnectionId>,
    events: VecDeque<(ConnectionId, StreamEvent)>,
    memory: ClosedMemory,
    farewells: Farewells<Key>,
    stateless: VecDeque<(SocketAddr, Segment<'static>)>,
    random: Stream,
    next_id: ConnectionId,
    stats: EndpointStats,
}

/// Replies of no connection that wait; further ones are not sent.
const MAX_STATELESS: usize = 64;

impl Endpoint {
    /// An endpoint whose random values come from `random`.
    pub fn new(config: EndpointConfig, random: Stream) -> Self {
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
            memory: ClosedMemory::default(),
            farewells: Farewells::default(),
            stateless: VecDeque::new(),
            random,
            next_id: 1,
            stats: EndpointStats::default(),
        }
    }

    /// Opens a connection to `port` at `remote`. With `held`, BGN waits for the first write, read
    /// or finish, so that it carries data.
    pub fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: Config,
        held: bool,
    ) -> Result<ConnectionId, ConnectError> {
        if self.slots.len() >= self.config.max_connections {
            return Err(ConnectError::TooManyConnections);
        }
        let local_port = self.free_port(remote, port).ok_or(ConnectError::NoFreePort)?;
        let names = Names {
            local_port,
            remote_port: port,
            instance: self.random.next_u64() as u16,
            nonce: self.random.next_u64(),
        };
        let entropy = self.entropy();
        let id = self.take_id();
        let path = self.use_path(remote, &config);
        let mut sink = skyhaul_core::NullSink;
        let mut context = Context { now, path, sink: &mut sink };
        let connection = Connection::open(id, names, entropy, Arc::new(config), held, &mut context);
        self.insert(id, remote, connection);
        Ok(id)
    }

    /// Bytes that the carrier puts around every datagram to `remote`.
    fn carrier_bytes(&self, remote: SocketAddr) -> u32 {
        self.config.carrier_bytes.unwrap_or_else(|| ip_udp_bytes(remote.ip()))
    }

    fn free_port(&mut self, remote: SocketAddr, port: u16) -> Option<u16> {
        (0..64).find_map(|_| {
            let candidate = 0xC000 | (self.random.next_u64() as u16 >> 2);
            (!self.keys.contains_key(&(remote, candidate, port))).then_some(candidate)
        })
    }

    fn entropy(&mut self) -> Entropy {
        Entropy {
            initial: self.random.next_u64() as u32 & 0xFF_FFFF,
            timestamp_offset: self.random.next_u64() as u32,
        }
    }

    fn take_id(&mut self) -> ConnectionId {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// The path to `remote`, made if it is new, with the declared rate as its budget.
    fn use_path(&mut self, remote: SocketAddr, config: &Config) -> &mut Path {
        let carrier_bytes = self.carrier_bytes(remote);
        let template = &self.config;
        let new = Path {
            mtu_bytes: template.mtu_bytes.max(296),
            carrier_bytes,
            head_bytes: template.head_bytes,
            tail_bytes: template.tail_bytes,
            budget: None,
            control: None,
            sent_octets: 0,
            shares: Shares::default(),
        };
        let burst_ns = config.budget_burst_ns;
        let declared = config.rate_bps.map(|rate_bps| DeclaredRate { rate_bps, burst_ns });
        let path = self.paths.enter(remote, new, declared);
        if declared.is_some() {
            path.control = None; // what was measured before does not overrule it
        }
        if config.wants_timing() && path.budget.is_none() {
            let mss_bytes = (path.max_segment_bytes() - HEADER_BYTES).min(config.max_payload_bytes) as u64;
            let first_window_bytes = config.initial_window_packets * mss_bytes;
            let control = Remembering::new(mss_bytes, first_window_bytes, config.remembered);
            path.budget = Some(Pacer::new(control.rate_bps(), burst_ns));
            path.control = Some(Box::new(control));
        }
        path
    }

    fn insert(&mut self, id: ConnectionId, remote: SocketAddr, connection: Connection) {
        let names = connection.names;
        self.keys.insert((remote, names.local_port, names.remote_port), id);
        let slot = Slot { remote, connection, timer: None, turn: Turn::default(), released: false };
        self.slots.insert(id, Box::new(slot));
        self.touch(id);
    }

    /// The carrier reports that nobody receives at `remote`, and its driver believes it: all
    /// connections to this peer end.
    pub fn unreachable(&mut self, remote: SocketAddr) {
        let hit: Vec<ConnectionId> =
            self.slots.iter().filter(|(_, s)| s.remote == remote).map(|(&id, _)| id).collect();
        for id in hit {
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.connection.unreachable();
                self.touch(id);
            }
        }
    }

    /// State of a connection.
    pub fn state(&self, id: ConnectionId) -> Option<State> {
        self.slots.get(&id).map(|slot| slot.connection.state())
    }

    /// Peer of a connection.
    pub fn remote(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.slots.get(&id).map(|slot| slot.remote)
    }

    /// Counters of what belongs to no connection.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.stats
    }

    fn refuse(&mut self, why: Refusal, now: Instant, sink: &mut dyn EventSink) {
        let counter = match why {
            Refusal::Undecodable => &mut self.stats.undecodable,
            Refusal::WrongInstance => &mut self.stats.wrong_instance,
            Refusal::Replay => &mut self.stats.replays,
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
        remote: SocketAddr,
        segment: &Segment<'_>,
        bytes: usize,
        sink: &mut dyn EventSink,
    ) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        if slot.connection.names.instance != segment.instance {
            return self.deliver_foreign(id, now, remote, segment, bytes, sink);
        }
        if slot.connection.is_over() {
            return self.handle_unknown(now, remote, segment, bytes, sink); // not released yet, but over
        }
        let Some(path) = self.paths.get_mut(&remote) else { return };
        let wire_bytes = path.wire_bytes(bytes);
        let mut context = Context { now, path, sink };
        slot.connection.handle(segment, wire_bytes, &mut context);
        self.touch(id);
    }

    /// Collects a connection's events and puts it in line for sending.
    fn touch(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        while let Some(event) = slot.connection.poll_event() {
            if !slot.released {
                self.events.push_back((id, event));
            }
        }
        if slot.is_forgettable() {
            return self.forget(id);
        }
        let way = slot.remote;
        self.turns.touch(id, &mut slot.turn, way, || self.paths.get_mut(&way));
    }

    fn forget(&mut self, id: ConnectionId) {
        let Some(mut slot) = self.slots.remove(&id) else { return };
        let names = slot.connection.names;
        let key = (slot.remote, names.local_port, names.remote_port);
        if let Some(farewell) = slot.connection.farewell() {
            self.farewells.remember(key, farewell);
        }
        if self.keys.get(&key) == Some(&id) {
            self.keys.remove(&key);
        }
        self.timers.set(&mut slot.timer, id, None);
        if let Some(path) = self.paths.get_mut(&slot.remote) {
            slot.turn.leave(path);
        }
        self.paths.leave(&slot.remote);
        self.accepted.retain(|&other| other != id);
    }
}
