//! Options of an endpoint.

use std::io;
use std::net::SocketAddr;

use rustix::rand::{GetRandomFlags, getrandom};
use skyhaul_core::{Stream as RandomStream, ip_udp_bytes};
use skyhaul_stp::{Config, EndpointConfig};

use crate::{Protection, Watch};

/// Options of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointOptions {
    /// Largest IP packet that the way to every peer carries.
    pub mtu_bytes: u32,
    /// Parameters of the connections that peers open.
    pub accept: Config,
    /// Bounds of the number of connections.
    pub limits: Limits,
    /// Seed of random values (initial numbers, nonces, ports), for tests that
    /// must repeat, or else the operating system.
    pub seed: Option<u64>,
    /// Protection of datagrams; the peer's setting must be the same.
    pub protection: Protection,
    /// Receiver of events ([`watch`](crate::watch())), if somebody wants to see them.
    pub watch: Option<Watch>,
}

/// Bounds of the number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at most; further openings are refused.
    pub max_connections: usize,
    /// Of those, connections of peers that have not shown yet that they receive at their address.
    pub max_unproven: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let engine = EndpointConfig::default();
        Self { max_connections: engine.max_connections, max_unproven: engine.max_unproven }
    }
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            mtu_bytes: 1500,
            accept: Config::standard(),
            limits: Limits::default(),
            seed: None,
            protection: Protection::Plain,
            watch: None,
        }
    }
}

impl EndpointOptions {
    /// The engine that these options ask for.
    pub(crate) fn engine(self) -> io::Result<skyhaul_stp::Endpoint> {
        let config = EndpointConfig {
            carrier_bytes: |peer: SocketAddr| ip_udp_bytes(peer.ip()),
            accept: self.accept,
            mtu_bytes: self.mtu_bytes,
            head_bytes: self.protection.head_bytes(),
            tail_bytes: self.protection.tail_bytes(),
            max_connections: self.limits.max_connections,
            max_unproven: self.limits.max_unproven,
        };
        let seed = self.seed.map_or_else(entropy, Ok)?;
        Ok(skyhaul_stp::Endpoint::new(config, RandomStream::new(seed, "net/endpoint")))
    }
}

/// A random number of the operating system.
pub(crate) fn entropy() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // A request this small is never answered in part.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}
