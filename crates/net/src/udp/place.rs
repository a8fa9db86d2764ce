//! Places of sockets: an address, and the only peer if there is one.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use super::bind;
use crate::address::{as_peer, normalised};

/// Address of a socket, and the only peer that it talks to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) local: SocketAddr,
    pub(crate) peer: Option<SocketAddr>,
}

impl Place {
    /// Socket that peers can reach at `address`.
    pub(crate) fn bound(address: SocketAddr) -> io::Result<(UdpSocket, Self)> {
        let socket = bind::bound(normalised(address))?;
        let local = normalised(socket.local_addr()?);
        Ok((socket, Self { local, peer: None }))
    }

    /// Socket on a free port for `peer` alone.
    pub(crate) fn connected(peer: SocketAddr) -> io::Result<(UdpSocket, Self)> {
        let peer = as_peer(peer);
        let socket = bind::connected(peer)?;
        let local = normalised(socket.local_addr()?);
        Ok((socket, Self { local, peer: Some(peer) }))
    }

    /// Socket on a free port for datagrams to `peer`, which hears everybody, and what tells of the route.
    pub(crate) fn reporting(peer: SocketAddr) -> io::Result<((UdpSocket, Self), UdpSocket)> {
        let peer = as_peer(peer);
        let socket = bind::reporting(peer)?;
        // What the route is now: a socket that is not connected is not told.
        let route = bind::connected(peer)?;
        let local = normalised(SocketAddr::new(route.local_addr()?.ip(), socket.local_addr()?.port()));
        Ok(((socket, Self { local, peer: Some(peer) }), route))
    }
}
