//! The sockets of an embedded link.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use quinn_udp::{RecvMeta, UdpSocketState};
use skyhaul_core::{NetworkFields, Packet, PacketMeta, ip_udp_bytes};

use crate::address::normalised;
use crate::path_header;
use crate::realtime::{Arrival, Gates};
use crate::udp;

/// Messages in one system call.
const MESSAGES: usize = 16;
/// Largest message.
const MESSAGE_BYTES: usize = 64 << 10;

/// A socket and room for what it receives.
pub(super) struct Side {
    socket: UdpSocket,
    state: UdpSocketState,
    room: Vec<u8>,
    metas: [RecvMeta; MESSAGES],
}

impl Side {
    pub(super) fn on_loopback(ip: IpAddr) -> io::Result<Self> {
        Self::at(SocketAddr::new(ip, 0))
    }

    fn at(address: SocketAddr) -> io::Result<Self> {
        let socket = udp::bound(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        let room = vec![0; MESSAGES * MESSAGE_BYTES];
        Ok(Self { socket, state, room, metas: [RecvMeta::default(); MESSAGES] })
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Receives what one system call gives; the number of messages.
    pub(super) fn receive(&mut self) -> io::Result<usize> {
        let mut rooms = self.room.chunks_exact_mut(MESSAGE_BYTES);
        let mut buffers: [_; MESSAGES] =
            std::array::from_fn(|_| IoSliceMut::new(rooms.next().unwrap_or_default()));
        self.state.recv((&self.socket).into(), &mut buffers, &mut self.metas)
    }

    /// The datagrams of the first `messages` messages and where they came from.
    pub(super) fn datagrams(&self, messages: usize) -> impl Iterator<Item = (SocketAddr, Bytes)> + '_ {
        let rooms = self.room.chunks_exact(MESSAGE_BYTES);
        self.metas[..messages].iter().zip(rooms).flat_map(|(meta, room)| {
            let bytes = Bytes::copy_from_slice(&room[..meta.len.min(MESSAGE_BYTES)]);
            let stride = meta.stride.max(1);
            let starts = (0..bytes.len().max(1)).step_by(stride); // an empty one is a datagram, too
            starts.map(move |at| (normalised(meta.addr), bytes.slice(at..bytes.len().min(at + stride))))
        })
    }

    pub(super) fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.socket.send_to(datagram, to).map(drop)
    }
}

/// Two UDP sockets as gates. The peer at a gate is the one address that was named, or else whoever wrote
/// there last: one at a time.
pub struct UdpGates {
    sides: [Side; 2],
    /// The peers that were named.
    named: [Option<SocketAddr>; 2],
    /// The peers that are known.
    peers: [Option<SocketAddr>; 2],
}

impl UdpGates {
    /// Gates at these addresses, for these peers. Port 0 of an address: a free one.
    pub fn bind(addresses: [SocketAddr; 2], named: [Option<SocketAddr>; 2]) -> io::Result<Self> {
        let sides = [Side::at(addresses[0])?, Side::at(addresses[1])?];
        Ok(Self::over(sides, named.map(|peer| peer.map(normalised))))
    }

    pub(super) fn over(sides: [Side; 2], named: [Option<SocketAddr>; 2]) -> Self {
        Self { sides, named, peers: named }
    }

    /// Addresses of the two sockets.
    pub fn local_addrs(&self) -> io::Result<[SocketAddr; 2]> {
        Ok([self.sides[0].local_addr()?, self.sides[1].local_addr()?])
    }
}

impl Gates for UdpGates {
    fn count(&self) -> usize {
        2
    }

    fn fd(&self, port: usize) -> BorrowedFd<'_> {
        self.sides[port].socket.as_fd()
    }

    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()> {
        let messages = self.sides[port].receive()?;
        for (from, bytes) in self.sides[port].datagrams(messages) {
            let is_welcome = is_welcome(self.named, &mut self.peers, port, from);
            take(if is_welcome { Arrival::Packet(packet(from, bytes)) } else { Arrival::Stray });
        }
        Ok(())
    }

    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()> {
        let to = self.peers[port].ok_or(io::ErrorKind::NotConnected)?;
        match packet.meta.fields.path_header {
            Some(header) => self.sides[port].send(to, &path_header::written(&packet.bytes, &header)),
            None => self.sides[port].send(to, &packet.bytes),
        }
    }
}

/// A peer that was named is known by its address, any other is whoever writes; nobody may write to nobody.
fn is_welcome(
    named: [Option<SocketAddr>; 2],
    peers: &mut [Option<SocketAddr>; 2],
    port: usize,
    from: SocketAddr,
) -> bool {
    if named[port].is_none() {
        peers[port] = Some(from);
    }
    peers[1 - port].is_some() && peers[port] == Some(from)
}

fn packet(from: SocketAddr, bytes: Bytes) -> Packet {
    let wire_bytes = bytes.len() as u32 + ip_udp_bytes(from.ip());
    let fields = NetworkFields { path_header: path_header::of_datagram(&bytes), ..NetworkFields::default() };
    Packet { bytes, meta: PacketMeta { wire_bytes, fields, ..PacketMeta::default() } }
}
