//! Addresses of simulated nodes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// UDP port of every simulated endpoint.
const PORT: u16 = 4000;
const NET: u32 = 10 << 24;

/// Address of the node with this number (below 2^24 - 1): 10.0.0.1 for node 0.
pub(crate) fn address(node: u32) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from_bits(NET | (node + 1))), PORT)
}

/// Node with this address.
pub(crate) fn node(address: SocketAddr) -> Option<u32> {
    let IpAddr::V4(ip) = address.ip() else { return None };
    (ip.to_bits() & !0xFF_FFFF == NET).then(|| ip.to_bits() & 0xFF_FFFF)?.checked_sub(1)
}
