//! Sockets: bound or connected, with large buffers and readable errors.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use rustix::net::sockopt;
use socket2::{Domain, Protocol, Socket, Type};

use super::reports;

/// Bytes asked for each socket buffer, of which the system counts its own overhead, too: some 100 ms at
/// 1 Gbit/s. Who may not exceed the system's limit (`net.core.rmem_max`) gets that.
const BUFFER_BYTES: usize = 16 << 20;

/// A non-blocking socket bound to `address`; both families if that is `[::]`.
pub(crate) fn bound(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into()).map_err(|error| explain(error, address))?;
    socket.set_nonblocking(true)?;
    enlarge(&socket);
    Ok(socket.into())
}

/// A non-blocking socket on a free port, connected to `peer`: only `peer` is heard, and the
/// system reports when nobody receives there.
pub(crate) fn connected(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = bound(anywhere(peer))?;
    socket.connect(peer)?;
    Ok(socket)
}

/// A non-blocking socket on a free port for datagrams to `peer`, which hears everybody: both ends may move.
/// The system keeps reports for it.
pub(crate) fn reporting(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = bound(anywhere(peer))?;
    reports::keep(&socket, peer.is_ipv6())?;
    Ok(socket)
}

/// Any address of this machine of the family of `peer`, any port.
fn anywhere(peer: SocketAddr) -> SocketAddr {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(any, 0)
}

fn explain(error: io::Error, address: SocketAddr) -> io::Error {
    let (ip, port) = (address.ip(), address.port());
    let text = match error.kind() {
        ErrorKind::AddrInUse => format!("another program uses UDP port {port} on {ip}"),
        ErrorKind::AddrNotAvailable => format!("{ip} is no address of this machine"),
        ErrorKind::PermissionDenied => format!("UDP port {port} on {ip} may not be used: {error}"),
        _ => return error,
    };
    io::Error::new(error.kind(), text)
}

/// Large buffers, past the system's limit where that is permitted. What cannot be had is done
/// without: losses are repaired.
fn enlarge(socket: &Socket) {
    if sockopt::set_socket_recv_buffer_size_force(socket, BUFFER_BYTES).is_err() {
        let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
    }
    if sockopt::set_socket_send_buffer_size_force(socket, BUFFER_BYTES).is_err() {
        let _ = socket.set_send_buffer_size(BUFFER_BYTES);
    }
}
