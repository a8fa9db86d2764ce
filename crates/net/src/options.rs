//! Options of an endpoint.

use std::io;
use std::net::SocketAddr;

use rustix::rand::{GetRandomFlags, getrandom};
use skyhaul_association::AssociationId;
use skyhaul_capture::Inlet;
use skyhaul_core::endpoint::{Bounds, HostConfig, Peer, USUAL_MIN_MTU_BYTES};
use skyhaul_core::{
    BASE_MTU_BYTES, MAX_MTU_BYTES, MIN_IPV4_MTU_BYTES, MIN_IPV6_MTU_BYTES, Stream as RandomStream,
    host_number, ip_udp_bytes,
};
use skyhaul_petra::stpp;
use skyhaul_stp::{Config, EndpointConfig, MtuSearch};

use crate::{Protection, Watch};

/// Largest packet of which no more is known: that of Ethernet.
const USUAL_MTU_BYTES: u32 = 1500;

/// Options of an endpoint of STP, or of another protocol whose connections have parameters `C`.
#[derive(Clone, Debug)]
pub struct EndpointOptions<C = Config> {
    /// Largest IP packet that is sent to any peer, or taken from it. `None`: 1500 bytes, or with STP more
    /// where the route to the only peer takes more; and whatever comes is taken.
    pub mtu_bytes: Option<u32>,
    /// Parameters of the connections that peers open.
    pub accept: C,
    /// Bounds of the number of connections.
    pub limits: Limits,
    /// Seed of random values (initial numbers, nonces, ports), for tests that
    /// must repeat, or else the operating system.
    pub seed: Option<u64>,
    /// Receiver of events ([`watch`](crate::watch())), if somebody wants to see them.
    pub watch: Option<Watch>,
    /// Capture that gets every datagram with its events. It has one interface, this endpoint.
    pub capture: Option<Inlet>,
}

/// Options of an endpoint of STPP.
pub type StppOptions = EndpointOptions<stpp::Config>;

/// Bounds of the connections that peers open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at most, those to other peers included, and half of them from one address; further
    /// openings are refused.
    pub max_connections: usize,
    /// Of those, connections of peers that have not shown yet that they receive at their address: the oldest
    /// gives way to a newcomer.
    pub max_unproven: usize,
    /// Of those, connections that a [`Listener`](crate::Listener) gives out before that, for the sake of data
    /// that comes with an opening; the others it gives out then. TCP gives some out before where
    /// [`accelerated_open`](skyhaul_tcp::Config::accelerated_open) says so.
    pub max_early: usize,
    /// Bytes that all connections together hold of what their peers sent, at most; one has half of it at
    /// most. Not of TCP.
    pub receive_budget_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let engine = EndpointConfig::default();
        Self {
            max_connections: engine.max_connections,
            max_unproven: engine.max_unproven,
            max_early: engine.max_early,
            receive_budget_bytes: engine.receive_budget_bytes,
        }
    }
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self::accepting(Config { discover_mtu: true, ..Config::standard() })
    }
}

impl Default for StppOptions {
    fn default() -> Self {
        Self::accepting(stpp::Config::standard())
    }
}

impl<C> EndpointOptions<C> {
    /// Defaults, with these parameters of the connections that peers open.
    pub fn accepting(accept: C) -> Self {
        Self { mtu_bytes: None, accept, limits: Limits::default(), seed: None, watch: None, capture: None }
    }
}

impl StppOptions {
    /// The engine that has such names of its peers, and keeps so much room in front of PDUs and behind.
    pub(crate) fn stpp_engine<P: Peer>(
        self,
        names: Names<P>,
        (head_bytes, tail_bytes): (u32, u32),
    ) -> io::Result<stpp::Endpoint<P>> {
        let Limits { max_connections, max_unproven, max_early, receive_budget_bytes } = self.limits;
        let host = HostConfig {
            mtu_bytes: self.mtu_bytes.unwrap_or(USUAL_MTU_BYTES),
            min_mtu_bytes: USUAL_MIN_MTU_BYTES,
            carrier_bytes: names.carrier_bytes,
            head_bytes,
            tail_bytes,
            bounds: Bounds { max_connections, max_unproven, max_early },
            host_of: Some(names.host_of),
            receive_budget_bytes,
        };
        Ok(stpp::Endpoint::on_host(self.accept, host, random(self.seed, "net/stpp")?))
    }
}

impl EndpointOptions {
    /// Largest packet that is sent, where the route to the only peer takes `route_bytes`.
    fn sent_bytes(&self, route_bytes: Option<u32>) -> u32 {
        self.mtu_bytes.unwrap_or_else(|| route_bytes.unwrap_or(0).clamp(USUAL_MTU_BYTES, MAX_MTU_BYTES))
    }

    /// The engine that these options ask for. `route_bytes`: what the first link to the only peer takes, as
    /// far as the system knows.
    pub(crate) fn engine(self, route_bytes: Option<u32>) -> io::Result<skyhaul_stp::Endpoint> {
        self.engine_of(route_bytes, Names::addresses(), plain_room())
    }

    /// The engine that has such names of its peers, and keeps so much room in front of segments and behind.
    pub(crate) fn engine_of<P: Peer>(
        self,
        route_bytes: Option<u32>,
        names: Names<P>,
        (head_bytes, tail_bytes): (u32, u32),
    ) -> io::Result<skyhaul_stp::Endpoint<P>> {
        let mtu_search = MtuSearch {
            base_bytes: route_bytes.unwrap_or(BASE_MTU_BYTES).clamp(MIN_IPV4_MTU_BYTES, BASE_MTU_BYTES),
            min_bytes: names.min_bytes,
            taken_bytes: self.mtu_bytes.unwrap_or(MAX_MTU_BYTES),
            link_bytes: route_bytes.unwrap_or(0).max(USUAL_MTU_BYTES),
        };
        let config = EndpointConfig {
            mtu_bytes: self.sent_bytes(route_bytes),
            mtu_search,
            carrier_bytes: names.carrier_bytes,
            accept: self.accept,
            head_bytes,
            tail_bytes,
            max_connections: self.limits.max_connections,
            max_unproven: self.limits.max_unproven,
            max_early: self.limits.max_early,
            receive_budget_bytes: self.limits.receive_budget_bytes,
            host_of: Some(names.host_of),
        };
        Ok(skyhaul_stp::Endpoint::new(config, random(self.seed, "net/endpoint")?))
    }
}

/// What an engine has to know of its names of peers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<P> {
    /// Bytes of IP and UDP headers towards a peer.
    pub(crate) carrier_bytes: fn(P) -> u32,
    /// Least size of full packets to it.
    pub(crate) min_bytes: fn(P) -> u32,
    /// Host that it is, as a number.
    pub(crate) host_of: fn(P) -> u64,
}

impl Names<SocketAddr> {
    /// Names of plain endpoints.
    pub(crate) fn addresses() -> Self {
        Self {
            carrier_bytes: |peer| ip_udp_bytes(peer.ip()),
            min_bytes: MtuSearch::<SocketAddr>::default().min_bytes,
            host_of: |peer| host_number(peer.ip()),
        }
    }
}

impl Names<AssociationId> {
    /// Names of sealed endpoints.
    pub(crate) fn associations() -> Self {
        Self {
            carrier_bytes: |id| if id.is_ipv6() { 48 } else { 28 },
            min_bytes: |id| if id.is_ipv6() { MIN_IPV6_MTU_BYTES } else { MIN_IPV4_MTU_BYTES },
            host_of: AssociationId::number,
        }
    }
}

/// Room that a plain envelope needs in front of its body, and behind.
pub(crate) fn plain_room() -> (u32, u32) {
    (Protection::Plain.head_bytes(), Protection::Plain.tail_bytes())
}

/// Random values of an endpoint: by the seed, if a test gives one, else from 256 bits of the operating
/// system.
pub(crate) fn random(seed: Option<u64>, name: &str) -> io::Result<RandomStream> {
    if let Some(seed) = seed {
        return Ok(RandomStream::new(seed, name));
    }
    let mut key = [0; 32];
    // A request this small is never answered in part.
    getrandom(&mut key, GetRandomFlags::empty())?;
    Ok(RandomStream::from_entropy(key))
}
