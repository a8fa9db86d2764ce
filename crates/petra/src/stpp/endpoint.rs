//! STPP as a family of [`skyhaul_core::endpoint`]: openings, strays, and what an endpoint keeps beside its
//! connections.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::net::SocketAddr;

use skyhaul_core::endpoint::{
    self, Arrival, Bounds, Context, Family, HostConfig, Hosted, Key, Peer, Place, Stage, USUAL_MIN_MTU_BYTES,
};
use skyhaul_core::event::Refusal;
use skyhaul_core::{
    ConnectError, ConnectionId, EventSink, Instant, Integrity, NetworkFields, ResetReason, Stream,
};

use super::config::Config;
use super::connection::{Connection, State};
use super::pdu::{Body, Malformed, Opening, Pdu, decode_with, encode_with, reset};

/// First of the ports that connections are opened from.
const FIRST_PORT: u16 = 0xC000;
/// Number of them.
const OWN_PORTS: u64 = 0x4000;

/// Parameters of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Largest packet on any path, in bytes (at least 296), with what the carrier puts around a PDU.
    pub mtu_bytes: u32,
    /// Bytes that the carrier puts around each PDU to a peer.
    pub carrier_bytes: fn(SocketAddr) -> u32,
    /// Bytes kept free in front of each PDU.
    pub head_bytes: u32,
    /// Bounds of the number of connections.
    pub bounds: Bounds,
    /// Bytes that all connections together keep of what their peers sent, at most.
    pub receive_budget_bytes: u64,
}

/// Counters of what belongs to no connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Packets that were no PDUs.
    pub undecodable: u64,
    /// PDUs of no connection.
    pub unknown: u64,
    /// PDUs of a connection that was between these ports before.
    pub wrong_tag: u64,
    /// Openings dropped for want of room.
    pub full: u64,
}

/// STPP: what an endpoint keeps beside its connections.
#[derive(Clone, Debug)]
pub struct Stpp<P> {
    accept: Arc<Config>,
    stats: EndpointStats,
    peer: PhantomData<fn() -> P>,
}

/// All connections of a relay, or of a host, behind one carrier, whose name of a peer is `P`.
#[derive(Clone, Debug)]
pub struct Endpoint<P: Peer = SocketAddr>(endpoint::Endpoint<Stpp<P>>);

impl<P: Peer> Hosted for Endpoint<P> {
    type Family = Stpp<P>;

    fn endpoint(&self) -> &endpoint::Endpoint<Stpp<P>> {
        &self.0
    }

    fn endpoint_mut(&mut self) -> &mut endpoint::Endpoint<Stpp<P>> {
        &mut self.0
    }
}

impl Endpoint {
    /// Endpoint whose random values come from `random`.
    pub fn new(config: EndpointConfig, random: Stream) -> Self {
        let EndpointConfig { accept, mtu_bytes, carrier_bytes, head_bytes, bounds, receive_budget_bytes } =
            config;
        let host = HostConfig {
            mtu_bytes,
            min_mtu_bytes: USUAL_MIN_MTU_BYTES,
            carrier_bytes,
            head_bytes,
            tail_bytes: 0,
            bounds,
            host_of: None,
            receive_budget_bytes,
        };
        Self::on_host(accept, host, random)
    }
}

impl<P: Peer> Endpoint<P> {
    /// Endpoint on such a host, which accepts connections with parameters `accept`. Random values come from
    /// `random`.
    pub fn on_host(accept: Config, host: HostConfig<P>, random: Stream) -> Self {
        let accept = Arc::new(accept.checked());
        let family = Stpp { accept, stats: EndpointStats::default(), peer: PhantomData };
        Self(endpoint::Endpoint::new(family, host, random))
    }

    /// Opens a connection to `port` at `peer`.
    pub fn connect(
        &mut self,
        now: Instant,
        peer: P,
        port: u16,
        config: Config,
    ) -> Result<ConnectionId, ConnectError> {
        let endpoint = &mut self.0;
        endpoint.check_room()?;
        let first = endpoint.random.below(OWN_PORTS);
        let ports = (0..OWN_PORTS).map(|turn| FIRST_PORT + ((first + turn) % OWN_PORTS) as u16);
        let mut keys = ports.map(|local_port| Key { peer, local_port, remote_port: port });
        let free = keys.find(|&key| endpoint.find(key).is_none());
        let key = free.ok_or(ConnectError::NoFreePort)?;
        let (config, id, tag) = (Arc::new(config.checked()), endpoint.take_id(), new_tag(endpoint));
        endpoint.enter_path(now, peer, config.declared_rate());
        endpoint.insert(id, key, Connection::open(id, &key, tag, config, now), true);
        Ok(id)
    }

    /// The carrier reports that nobody receives at `peer`. If its driver believes it, all connections to that
    /// end; else those do for which only the peer's last words are missing.
    pub fn unreachable(&mut self, peer: P, is_believed: bool) {
        for id in self.0.connections_to(peer) {
            self.0.change(id, |connection| connection.unreachable(is_believed));
        }
    }

    /// True if there is a connection with this peer, whoever opened it.
    pub fn has_connection_to(&mut self, peer: P) -> bool {
        self.0.path_mut(peer).is_some()
    }

    /// Peer of a connection.
    pub fn remote(&self, id: ConnectionId) -> Option<P> {
        self.0.key(id).map(|key| key.peer)
    }

    /// State of a connection.
    pub fn state(&self, id: ConnectionId) -> Option<State> {
        self.0.state(id)
    }

    /// Stage of a connection's life.
    pub fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.0.stage(id)
    }

    /// Counters of what belongs to no connection.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.0.family.stats
    }
}

/// Tag for a new connection.
fn new_tag<P: Peer>(endpoint: &mut endpoint::Endpoint<Stpp<P>>) -> u16 {
    1 + endpoint.random.below(u64::from(u16::MAX)) as u16
}

impl<P: Peer> Family for Stpp<P> {
    type Peer = P;
    type Connection = Connection;
    type Segment<'a> = Pdu<'a>;
    type Malformed = Malformed;

    /// Late repeats of a peer are answered while a connection lingers, before it is over.
    const KEEPS_PORTS: bool = false;

    fn decode(_: P, integrity: Integrity, _: NetworkFields, bytes: &[u8]) -> Result<Pdu<'_>, Malformed> {
        decode_with(integrity, bytes)
    }

    fn ports(pdu: &Pdu<'_>) -> (u16, u16) {
        (pdu.destination_port, pdu.source_port)
    }

    fn encode(_: P, integrity: Integrity, pdu: &Pdu<'_>, out: &mut Vec<u8>) -> (u8, u64) {
        encode_with(integrity, pdu, out);
        (pdu.types(), u64::from(pdu.number()))
    }

    fn receive(
        endpoint: &mut endpoint::Endpoint<Self>,
        id: ConnectionId,
        arrival: Arrival<P>,
        pdu: &Pdu<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Some((connection, path)) = endpoint.get_mut(id) else { return };
        let wire_bytes = path.wire_bytes(arrival.bytes);
        let is_ours = connection.handle(pdu, wire_bytes, &mut Context { now: arrival.now, path, sink });
        if !is_ours {
            on_wrong_tag(endpoint, id, arrival, pdu);
        }
        endpoint.touch(id);
    }

    fn receive_stray(
        endpoint: &mut endpoint::Endpoint<Self>,
        arrival: Arrival<P>,
        pdu: &Pdu<'_>,
        sink: &mut dyn EventSink,
    ) {
        match &pdu.body {
            Body::Open(opening) if endpoint.listens(arrival.key.local_port) => {
                accept(endpoint, arrival, *opening, sink);
            }
            _ => {
                endpoint.refuse(Refusal::Unknown, arrival.now, sink);
                answer_by_reset(endpoint, arrival.key, pdu);
            }
        }
    }

    fn count_refusal(&mut self, why: Refusal) {
        match why {
            Refusal::Undecodable => self.stats.undecodable += 1,
            Refusal::Full => self.stats.full += 1,
            _ => self.stats.unknown += 1,
        }
    }
}

/// Takes in a connection that a peer opens, where there is a place: the oldest of those whose peers have
/// proven nothing gives way.
fn accept<P: Peer>(
    endpoint: &mut endpoint::Endpoint<Stpp<P>>,
    arrival: Arrival<P>,
    opening: Opening,
    sink: &mut dyn EventSink,
) {
    match endpoint.place_for(arrival.key.peer) {
        Place::None => return endpoint.refuse(Refusal::Full, arrival.now, sink),
        Place::Instead(oldest) => {
            endpoint.change(oldest, endpoint::Connection::refuse);
        }
        Place::Free => {}
    }
    let (id, tag, config) = (endpoint.take_id(), new_tag(endpoint), Arc::clone(&endpoint.family.accept));
    endpoint.enter_path(arrival.now, arrival.key.peer, config.declared_rate());
    let connection = Connection::accept(id, &arrival.key, tag, config, (opening, arrival.now));
    endpoint.insert(id, arrival.key, connection, false);
}

/// Answers a PDU of an earlier connection between the ports of `id`. A peer that opens again after a restart
/// is shown the tag of the connection that it has forgotten, which it resets then; one that has not forgotten
/// is told that this end has.
fn on_wrong_tag<P: Peer>(
    endpoint: &mut endpoint::Endpoint<Stpp<P>>,
    id: ConnectionId,
    arrival: Arrival<P>,
    pdu: &Pdu<'_>,
) {
    endpoint.family.stats.wrong_tag += 1;
    if matches!(pdu.body, Body::Open(_)) {
        endpoint.change(id, Connection::show);
    } else if endpoint.stage(id) == Some(Stage::Opening) {
        answer_by_reset(endpoint, arrival.key, pdu);
    }
}

/// Answers a PDU of no connection, unless that is a reset: by the tag that it carries, as no other is known.
fn answer_by_reset<P: Peer>(endpoint: &mut endpoint::Endpoint<Stpp<P>>, key: Key<P>, pdu: &Pdu<'_>) {
    let (tag, is_reflected, reason) = match &pdu.body {
        Body::Reset { .. } => return,
        Body::Open(opening) => (opening.tag, false, ResetReason::Refused),
        _ => (pdu.tag, true, ResetReason::UnknownConnection),
    };
    let body = Body::Reset { reason: reset::octet(reason), is_reflected };
    endpoint
        .answer(key.peer, Pdu { source_port: key.local_port, destination_port: key.remote_port, tag, body });
}
