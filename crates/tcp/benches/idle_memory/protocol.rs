//! TCP.

use std::net::Ipv4Addr;

use skyhaul_core::{ConnectError, ConnectionId, Instant, Stream};
pub(crate) use skyhaul_tcp::Endpoint;
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{Config, EndpointConfig};

use crate::ends::{NO_LIMIT, PORT};

pub(crate) fn new_endpoint(seed: u64) -> Endpoint {
    let config =
        EndpointConfig { max_connections: NO_LIMIT, max_unproven: NO_LIMIT, ..EndpointConfig::default() };
    Endpoint::new(config, Stream::new(seed, "bench/idle-memory"))
}

/// Peer of this end.
pub(crate) fn way(end: usize) -> Way {
    let address = |end: usize| Ipv4Addr::new(192, 0, 2, 1 + end as u8).into();
    Way { local: address(end), remote: address(1 - end) }
}

/// From end 0.
pub(crate) fn connect(endpoint: &mut Endpoint, now: Instant) -> Result<ConnectionId, ConnectError> {
    endpoint.connect(now, way(0), PORT, None, Config::standard())
}
