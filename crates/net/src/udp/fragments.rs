//! What the system knows of a route's MTU, and whether it may cut packets. Sockets are made so that nothing
//! is cut (`quinn-udp`): that is how a size that arrives proves anything.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};

/// Size of IPv6 fragments: every link takes it.
const IPV6_FRAGMENT_BYTES: libc::c_int = 1280;

/// Largest packet that the system takes the route of a connected socket to carry: the first link's, or what
/// routers have reported.
pub(crate) fn route_mtu_bytes(socket: &impl AsFd) -> Option<u32> {
    sockopt::ipv6_mtu(socket).or_else(|_| sockopt::ip_mtu(socket)).ok()
}

/// Lets IP cut what is sent from now on, or not. Sockets for both families (`is_v6`) have both settings.
pub(super) fn set_cuts(socket: &(impl AsFd + AsRawFd), is_v6: bool, cuts: bool) -> io::Result<()> {
    // OMIT: as PROBE, what routers have reported counts for nothing; but DF is 0.
    let v4 = if cuts { Ipv4PathMtuDiscovery::OMIT } else { Ipv4PathMtuDiscovery::PROBE };
    let v4 = sockopt::set_ip_mtu_discover(socket, v4);
    if !is_v6 {
        return Ok(v4?);
    }
    // DONT: what routers have reported counts, so that this machine cuts what is larger.
    let v6 = if cuts { Ipv6PathMtuDiscovery::DONT } else { Ipv6PathMtuDiscovery::PROBE };
    sockopt::set_ipv6_mtu_discover(socket, v6)?;
    // Routers cut nothing: fragments leave here, and are so small that they need not know the path. (A packet
    // that the first link takes whole leaves whole, all the same, where no router has said anything.)
    let fragment_bytes = if cuts { IPV6_FRAGMENT_BYTES } else { 0 };
    set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU, fragment_bytes)?;
    set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG, i32::from(!cuts))
}

/// Sets an option whose value is a number. (No dependency has a safe wrapper for those that are set by it.)
#[allow(unsafe_code)]
pub(super) fn set_option(
    socket: &impl AsRawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let bytes = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the descriptor is open while `socket` lives; the kernel reads `bytes` bytes at `value`, and
    // keeps no pointer.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), bytes) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
