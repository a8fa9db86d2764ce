//! STP.

use std::net::SocketAddr;

use skyhaul_core::{ConnectError, ConnectionId, Instant, Stream};
pub(crate) use skyhaul_stp::Endpoint;
use skyhaul_stp::{Config, EndpointConfig};

use crate::ends::{NO_LIMIT, PORT};

pub(crate) fn new_endpoint(seed: u64) -> Endpoint {
    let config =
        EndpointConfig { max_connections: NO_LIMIT, max_unproven: NO_LIMIT, ..EndpointConfig::default() };
    Endpoint::new(config, Stream::new(seed, "bench/idle-memory"))
}

/// How this end sees the other.
pub(crate) fn way(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 2 - end as u8], 4700))
}

/// From end 0.
pub(crate) fn connect(endpoint: &mut Endpoint, now: Instant) -> Result<ConnectionId, ConnectError> {
    endpoint.connect(now, way(0), PORT, Config::standard(), false)
}
