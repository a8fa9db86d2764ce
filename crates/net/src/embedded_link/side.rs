//! One socket of an embedded link.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use quinn_udp::{RecvMeta, UdpSocketState};

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

impl AsFd for Side {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
