//! The sockets of an embedded link.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use quinn_udp::{RecvMeta, UdpSocketState};
use skyhaul_core::{Packet, PacketMeta, ip_udp_bytes};

use super::{Arrival, Gates};
use crate::address::normalised;
use crate::socket;

/// Messages in one system call.
const MESSAGES: usize = 16;
/// Largest message.
const MESSAGE_BYTES: usize = 64 << 10;

/// A loopback socket and room for what it receives.
pub(super) struct Side {
    socket: UdpSocket,
    state: UdpSocketState,
    room: Vec<u8>,
    metas: [RecvMeta; MESSAGES],
}

impl Side {
    pub(super) fn on_loopback(ip: IpAddr) -> io::Result<Self> {
        let socket = socket::bound(SocketAddr::new(ip, 0))?;
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
            let starts = (0..bytes.len()).step_by(stride);
            starts.map(move |at| (normalised(meta.addr), bytes.slice(at..bytes.len().min(at + stride))))
        })
    }

    pub(super) fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.socket.send_to(datagram, to).map(drop)
    }
}

/// The two sockets, and who may use them.
pub(super) struct Sides {
    sides: [Side; 2],
    /// Where side A last wrote from, and the address of side B.
    peers: [Option<SocketAddr>; 2],
}

impl Sides {
    pub(super) fn new(sides: [Side; 2], far: SocketAddr) -> Self {
        Self { sides, peers: [None, Some(far)] }
    }
}

impl Gates for Sides {
    fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.sides[0].socket.as_fd(), self.sides[1].socket.as_fd()]
    }

    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()> {
        let messages = self.sides[port].receive()?;
        for (from, bytes) in self.sides[port].datagrams(messages) {
            let is_welcome = is_welcome(&mut self.peers, port, from);
            take(if is_welcome { Arrival::Packet(packet(from, bytes)) } else { Arrival::Stray });
        }
        Ok(())
    }

    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()> {
        let to = self.peers[port].ok_or(io::ErrorKind::NotConnected)?;
        self.sides[port].send(to, &packet.bytes)
    }
}

/// Side B is known by its address; side A is whoever writes to the front, and B may answer only then.
fn is_welcome(peers: &mut [Option<SocketAddr>; 2], port: usize, from: SocketAddr) -> bool {
    if port == 0 {
        peers[0] = Some(from);
    }
    peers[0].is_some() && peers[port] == Some(from)
}

fn packet(from: SocketAddr, bytes: Bytes) -> Packet {
    let wire_bytes = bytes.len() as u32 + ip_udp_bytes(from.ip());
    Packet { bytes, meta: PacketMeta { wire_bytes, ..PacketMeta::default() } }
}
