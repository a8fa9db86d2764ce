//! Inbox of a socket: messages of one system call.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::slice::ChunksMut;
use std::task::{Context, Poll};

use quinn_udp::RecvMeta;
use skyhaul_core::NetworkFields;
use skyhaul_core::packet::ip_protocol;

use super::socket::{Socket, ecn};
use crate::address::normalised;

/// Messages in one system call.
const MESSAGES: usize = 16;
/// Largest message: the kernel joins datagrams up to the size of an IP packet.
const MESSAGE_BYTES: usize = 64 << 10;

/// Room for the messages of one system call. (The pages that no message reaches take no memory.)
pub(super) struct Inbox {
    room: Vec<u8>,
    metas: [RecvMeta; MESSAGES],
}

/// Datagrams that came together: from one peer to one of our addresses, with equal fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) peer: SocketAddr,
    pub(super) local_ip: Option<IpAddr>,
    pub(super) fields: NetworkFields,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { room: vec![0; MESSAGES * MESSAGE_BYTES], metas: [RecvMeta::default(); MESSAGES] }
    }

    /// Receives; gives the number of messages.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, socket: &Socket) -> Poll<io::Result<usize>> {
        let mut rooms = self.room.chunks_exact_mut(MESSAGE_BYTES);
        let mut buffers: [_; MESSAGES] =
            std::array::from_fn(|_| IoSliceMut::new(rooms.next().unwrap_or_default()));
        socket.poll_receive(cx, &mut buffers, &mut self.metas)
    }

    /// The message at `index`, and its datagrams.
    pub(super) fn message(&mut self, index: usize) -> (Message, ChunksMut<'_, u8>) {
        let meta = &self.metas[index];
        let fields = NetworkFields { protocol: ip_protocol::UDP, ..ecn(meta.ecn).into() };
        let message = Message { peer: normalised(meta.addr), local_ip: meta.dst_ip, fields };
        let start = index * MESSAGE_BYTES;
        let bytes = &mut self.room[start..start + meta.len.min(MESSAGE_BYTES)];
        (message, bytes.chunks_mut(meta.stride.max(1)))
    }
}
