//! Endpoint of STP: what [`skyhaul_core::endpoint`] leaves to the protocol.

mod accept;
mod closed;
mod cookies;
#[cfg(test)]
mod endpoint_tests;
mod family;
mod strangers;

use alloc::sync::Arc;
use core::net::SocketAddr;

use skyhaul_congestion::PathStart;
use skyhaul_core::endpoint::{
    self, Bounds, Context, HostConfig, Hosted, Key, Peer, Stage, USUAL_MIN_MTU_BYTES,
};
use skyhaul_core::{
    BASE_MTU_BYTES, ConnectError, ConnectionId, Instant, MAX_MTU_BYTES, MIN_IPV4_MTU_BYTES,
    MIN_IPV6_MTU_BYTES, MtuBounds, NullSink, Path, Stream, host_number, ip_udp_bytes,
};

use crate::config::Config;
use crate::connection::{Connection, Entropy, Names, State};
use crate::segment::HEADER_BYTES;
use closed::{ClosedMemory, Farewells};
use cookies::Cookies;
use strangers::Strangers;

/// Parameters of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointConfig<P = SocketAddr> {
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Largest IP packet on any path, in bytes (at least 296).
    pub mtu_bytes: u32,
    /// Where a connection discovers what a path takes ([`Config::discover_mtu`]), up to that: how.
    pub mtu_search: MtuSearch<P>,
    /// Bytes of the headers that the carrier puts around each datagram to a peer.
    pub carrier_bytes: fn(P) -> u32,
    /// Bytes kept free in front of each segment.
    pub head_bytes: u32,
    /// Bytes kept free behind each segment.
    pub tail_bytes: u32,
    /// Connections at most; further openings are answered with RST (busy).
    pub max_connections: usize,
    /// Of those, connections whose peer's address is not proven yet. Of further ones nothing is kept but what
    /// their peers return (cookies); what came with the opening comes again.
    pub max_unproven: usize,
    /// Of those, connections that the application is handed before the proof, for the sake of early data.
    pub max_early: usize,
    /// Host that a peer's address is of: one has half of the places at most. `None`: there is no such bound.
    pub host_of: Option<fn(P) -> u64>,
    /// Bytes that all connections together keep of what their peers sent, at most. One connection gets half
    /// of it, each of n an (n + 1)th; those without proof an eighth together.
    pub receive_budget_bytes: u64,
}

/// Budget that an endpoint has unless it is told another: the usual window fits, as one connection alone gets
/// half.
const USUAL_RECEIVE_BUDGET_BYTES: u64 = 128 << 20;

/// Search for the largest packet of a path.
#[derive(Clone, Copy, Debug)]
pub struct MtuSearch<P> {
    /// Size of packets to begin with, in bytes.
    pub base_bytes: u32,
    /// Least size of full packets to a peer: IP cuts them where less gets through.
    pub min_bytes: fn(P) -> u32,
    /// Largest packet to take from peers.
    pub taken_bytes: u32,
    /// Largest packet that leaves this machine whole towards a peer to whom nobody else cuts any (IPv6).
    pub link_bytes: u32,
}

/// Begins with 1280 bytes, ends at 576 over IPv4, and takes what comes.
impl Default for MtuSearch<SocketAddr> {
    fn default() -> Self {
        let min_bytes =
            |peer: SocketAddr| if peer.is_ipv4() { MIN_IPV4_MTU_BYTES } else { MIN_IPV6_MTU_BYTES };
        Self { base_bytes: BASE_MTU_BYTES, min_bytes, taken_bytes: MAX_MTU_BYTES, link_bytes: 1500 }
    }
}

impl<P> MtuSearch<P> {
    fn bounds(self, peer: P) -> MtuBounds {
        let Self { base_bytes, min_bytes, taken_bytes, link_bytes } = self;
        let min_bytes = min_bytes(peer);
        let link_bytes = if min_bytes < MIN_IPV6_MTU_BYTES { 0 } else { link_bytes };
        MtuBounds { min_bytes, base_bytes, taken_bytes, link_bytes }
    }
}

/// Defaults for a carrier that is UDP.
impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            accept: Config::standard(),
            mtu_bytes: 1500,
            mtu_search: MtuSearch::default(),
            carrier_bytes: |peer| ip_udp_bytes(peer.ip()),
            head_bytes: 0,
            tail_bytes: 0,
            max_connections: 4096,
            max_unproven: 2048,
            max_early: 32,
            host_of: Some(|peer| host_number(peer.ip())),
            receive_budget_bytes: USUAL_RECEIVE_BUDGET_BYTES,
        }
    }
}

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
    /// Connections without proof that gave way to a proven newcomer.
    pub gave_way: u64,
    /// Openings answered by a cookie, of which nothing is kept.
    pub cookies_sent: u64,
    /// Connections whose peers have returned one.
    pub cookies_taken: u64,
    /// Segments of strangers that had no answer, since many others had one at that time.
    pub unanswered: u64,
}

/// STP as a family of [`skyhaul_core::endpoint`]: what an endpoint keeps beside its connections.
#[derive(Clone, Debug)]
pub struct Stp<P: Peer> {
    /// Parameters of accepted connections.
    accept: Arc<Config>,
    mtu_search: MtuSearch<P>,
    memory: ClosedMemory,
    farewells: Farewells<Key<P>>,
    cookies: Cookies,
    strangers: Strangers,
    stats: EndpointStats,
}

/// All connections behind one carrier, whose name of a peer is `P`.
#[derive(Clone, Debug)]
pub struct Endpoint<P: Peer = SocketAddr>(endpoint::Endpoint<Stp<P>>);

impl<P: Peer> Hosted for Endpoint<P> {
    type Family = Stp<P>;

    fn endpoint(&self) -> &endpoint::Endpoint<Stp<P>> {
        &self.0
    }

    fn endpoint_mut(&mut self) -> &mut endpoint::Endpoint<Stp<P>> {
        &mut self.0
    }
}

impl<P: Peer> Endpoint<P> {
    /// An endpoint whose random values come from `random`.
    pub fn new(config: EndpointConfig<P>, random: Stream) -> Self {
        let EndpointConfig { accept, mtu_bytes, carrier_bytes, head_bytes, tail_bytes, .. } = config;
        let EndpointConfig { max_connections, max_unproven, max_early, .. } = config;
        let EndpointConfig { host_of, receive_budget_bytes, mtu_search, .. } = config;
        let host = HostConfig {
            mtu_bytes,
            min_mtu_bytes: USUAL_MIN_MTU_BYTES,
            carrier_bytes,
            head_bytes,
            tail_bytes,
            bounds: Bounds { max_connections, max_unproven, max_early },
            host_of,
            receive_budget_bytes,
        };
        let family = Stp {
            accept: Arc::new(accept),
            mtu_search,
            memory: ClosedMemory::default(),
            farewells: Farewells::default(),
            cookies: Cookies::default(),
            strangers: Strangers::default(),
            stats: EndpointStats::default(),
        };
        Self(endpoint::Endpoint::new(family, host, random))
    }

    /// Opens a connection to `port` at `remote`. With `held`, BGN waits for the first write, read
    /// or finish, so that it carries data.
    pub fn connect(
        &mut self,
        now: Instant,
        remote: P,
        port: u16,
        config: Config,
        held: bool,
    ) -> Result<ConnectionId, ConnectError> {
        let endpoint = &mut self.0;
        endpoint.check_room()?;
        let key = free_key(endpoint, remote, port).ok_or(ConnectError::NoFreePort)?;
        let names = Names {
            local_port: key.local_port,
            remote_port: port,
            instance: endpoint.random.next_u64() as u16,
            nonce: endpoint.random.next_u64(),
        };
        let (entropy, id) = (entropy(&mut endpoint.random), endpoint.take_id());
        let path = enter_path(endpoint, now, remote, &config);
        let mut context = Context { now, path, sink: &mut NullSink };
        let connection = Connection::open(id, names, entropy, Arc::new(config), held, &mut context);
        endpoint.insert(id, key, connection, true);
        Ok(id)
    }

    /// The carrier reports that nobody receives at `remote`. If its driver believes it, all connections to
    /// this peer end; else those do for which only the peer's last words are missing.
    pub fn unreachable(&mut self, remote: P, is_believed: bool) {
        for id in self.0.connections_to(remote) {
            self.0.change(id, |connection| connection.unreachable(is_believed));
        }
    }

    /// The carrier refused to send a packet of `bytes` to `peer`: it is larger than what the first link
    /// takes, which is `told_bytes` if the system says that.
    pub fn packet_refused(&mut self, now: Instant, peer: P, bytes: u32, told_bytes: Option<u32>) {
        if let Some(mtu) = self.0.path_mut(peer).and_then(Path::mtu_mut) {
            mtu.refused(now, bytes, told_bytes);
        }
    }

    /// A router on the way to `peer` reports that it forwards no larger packets than of `bytes`. It is a
    /// hint, which may be forged.
    pub fn packet_too_big(&mut self, now: Instant, peer: P, bytes: u32) {
        if let Some(mtu) = self.0.path_mut(peer).and_then(Path::mtu_mut) {
            mtu.told(now, bytes);
        }
    }

    /// State of a connection.
    pub fn state(&self, id: ConnectionId) -> Option<State> {
        self.0.state(id)
    }

    /// Stage of a connection's life.
    pub fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.0.stage(id)
    }

    /// Peer of a connection.
    pub fn remote(&self, id: ConnectionId) -> Option<P> {
        self.0.key(id).map(|key| key.peer)
    }

    /// True if there is a connection with this peer, whoever opened it.
    pub fn has_connection_to(&mut self, remote: P) -> bool {
        self.0.path_mut(remote).is_some()
    }

    /// Bytes that all connections keep of what their peers sent.
    pub fn kept_bytes(&self) -> u64 {
        self.0.kept_bytes()
    }

    /// Counters of what belongs to no connection.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.0.family.stats
    }
}

/// Key with a free port of ours.
fn free_key<P: Peer>(endpoint: &mut endpoint::Endpoint<Stp<P>>, peer: P, remote_port: u16) -> Option<Key<P>> {
    (0..64).find_map(|_| {
        let local_port = 0xC000 | (endpoint.random.next_u64() as u16 >> 2);
        let key = Key { peer, local_port, remote_port };
        endpoint.find(key).is_none().then_some(key)
    })
}

fn entropy(random: &mut Stream) -> Entropy {
    let (one, other) = (random.next_u64(), random.next_u64());
    Entropy {
        initial: one as u32 & 0xFF_FFFF,
        timestamp_offset: other as u32,
        secret: (one >> 24 & 0xFFFF_FFFF) << 32 | other >> 32,
        last_timestamp: None,
    }
}

/// Makes the path find its MTU out, if connections do.
fn discover_mtu(config: &Config, bounds: MtuBounds, path: &mut Path) {
    if config.discover_mtu {
        path.discover_mtu(bounds, config.remembered_mtu_bytes);
    }
}

/// Path to `peer` for one more connection. It keeps to the rate that the connection declares; without any
/// rate, the connection measures one if it goes by that.
fn enter_path<'a, P: Peer>(
    endpoint: &'a mut endpoint::Endpoint<Stp<P>>,
    now: Instant,
    peer: P,
    config: &Config,
) -> &'a mut Path {
    let bounds = endpoint.family.mtu_search.bounds(peer);
    let path = endpoint.enter_path(now, peer, config.declared_rate());
    discover_mtu(config, bounds, path);
    if config.wants_timing() {
        path.measure(config.budget_burst_ns, |path| {
            let mss_bytes = (path.max_segment_bytes() - HEADER_BYTES).min(config.max_payload_bytes) as u64;
            let first_window_bytes = config.initial_window_packets * mss_bytes;
            let start = PathStart { mss_bytes, first_window_bytes, remembered: config.remembered };
            config.controller.build_path(start)
        });
    }
    path
}
