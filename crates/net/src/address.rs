//! Addresses: one form for each peer, and who can reach a socket.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// The one form in which the engine knows a peer: IPv4 as IPv4, also on a dual-stack socket, and
/// IPv6 without a flow label.
pub(crate) fn normalised(address: SocketAddr) -> SocketAddr {
    match (address, address.ip().to_canonical()) {
        (_, IpAddr::V4(ip)) => SocketAddr::new(ip.into(), address.port()),
        (SocketAddr::V6(v6), IpAddr::V6(ip)) => SocketAddrV6::new(ip, v6.port(), 0, v6.scope_id()).into(),
        (SocketAddr::V4(_), IpAddr::V6(_)) => address,
    }
}

/// The peer that a user means: as the system does, "any address" is taken for this machine.
pub(crate) fn as_peer(address: SocketAddr) -> SocketAddr {
    let here: IpAddr = match address.ip().to_canonical() {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    let is_any = address.ip().to_canonical().is_unspecified();
    if is_any { SocketAddr::new(here, address.port()) } else { normalised(address) }
}

/// The form in which a socket of this family takes `peer`.
pub(crate) fn for_family(peer: SocketAddr, is_v6: bool) -> SocketAddr {
    match peer.ip() {
        IpAddr::V4(ip) if is_v6 => SocketAddr::new(ip.to_ipv6_mapped().into(), peer.port()),
        _ => peer,
    }
}

/// True if other machines can send to a socket bound to `address`: anything but loopback. (A
/// firewall may still be in between.)
pub fn is_reachable_from_outside(address: SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_peer_has_one_form() {
        assert_eq!(normalised(at("[::ffff:10.0.0.1]:7")), at("10.0.0.1:7"));
        assert_eq!(normalised(at("10.0.0.1:7")), at("10.0.0.1:7"));
        let labelled = SocketAddrV6::new("fe80::1".parse().unwrap(), 7, 99, 3);
        let plain = SocketAddrV6::new("fe80::1".parse().unwrap(), 7, 0, 3);
        assert_eq!(normalised(labelled.into()), plain.into());
    }

    #[test]
    fn any_address_is_this_machine() {
        assert_eq!(as_peer(at("0.0.0.0:7")), at("127.0.0.1:7"));
        assert_eq!(as_peer(at("[::]:7")), at("[::1]:7"));
        assert_eq!(as_peer(at("[::ffff:0.0.0.0]:7")), at("127.0.0.1:7"));
        assert_eq!(as_peer(at("[::ffff:10.0.0.1]:7")), at("10.0.0.1:7"));
    }

    #[test]
    fn a_dual_stack_socket_gets_mapped_addresses() {
        assert_eq!(for_family(at("10.0.0.1:7"), true), at("[::ffff:10.0.0.1]:7"));
        assert_eq!(for_family(at("10.0.0.1:7"), false), at("10.0.0.1:7"));
        assert_eq!(for_family(at("[::1]:7"), true), at("[::1]:7"));
    }

    #[test]
    fn only_loopback_is_private() {
        for inside in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(!is_reachable_from_outside(at(inside)), "{inside}");
        }
        for outside in ["0.0.0.0:1", "[::]:1", "192.168.1.1:1", "[fe80::1]:1", "[::ffff:10.0.0.1]:1"] {
            assert!(is_reachable_from_outside(at(outside)), "{outside}");
        }
    }
}
