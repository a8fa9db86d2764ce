//! Times at which a host's machine stands still: nothing is read, nothing is sent, and its clock goes on.

use std::collections::VecDeque;
use std::net::SocketAddr;

use skyhaul_core::{Instant, MS, Packet};

/// Packets that a host reads at a time, before its engines answer, ...
const READ_PACKETS: usize = 16;
/// ... and the time that this takes.
const READ_NS: u64 = MS / 10;

/// Standstills of a host, and what its socket holds meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Standstills {
    /// Begin and end of each, one behind the other.
    spans: VecDeque<[Instant; 2]>,
    /// Room of the socket, in bytes of IP packets; what finds none is lost.
    max_bytes: u64,
    held: VecDeque<(SocketAddr, Packet)>,
    held_bytes: u64,
    /// Time at which the host goes on; `None`: it does.
    until: Option<Instant>,
}

impl Standstills {
    /// Standstills from each begin to its end, in order, at a host whose socket holds so many bytes.
    pub fn new(spans: impl IntoIterator<Item = [Instant; 2]>, socket_bytes: u64) -> Self {
        Self { spans: spans.into_iter().collect(), max_bytes: socket_bytes, ..Self::default() }
    }

    /// Time at which the host goes on, if it stands still or has not yet read what its socket holds.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Takes a packet that arrived into the socket; false: the host reads it at once.
    pub(super) fn hold(&mut self, now: Instant, from: SocketAddr, packet: &Packet) -> bool {
        if self.end(now).is_none() && self.held.is_empty() {
            return false;
        }
        let bytes = self.held_bytes + u64::from(packet.meta.wire_bytes);
        if bytes <= self.max_bytes {
            self.held_bytes = bytes;
            self.held.push_back((from, packet.clone()));
        }
        true
    }

    /// Packets that the host reads now; `None`: it stands still.
    pub(super) fn read(&mut self, now: Instant) -> Option<Vec<(SocketAddr, Packet)>> {
        self.until = self.end(now);
        if self.until.is_some() {
            return None;
        }
        let read: Vec<_> = self.held.drain(..READ_PACKETS.min(self.held.len())).collect();
        self.held_bytes -= read.iter().map(|(_, packet)| u64::from(packet.meta.wire_bytes)).sum::<u64>();
        self.until = (!self.held.is_empty()).then(|| now.after(READ_NS));
        Some(read)
    }

    /// End of the standstill that lasts now, if one does.
    fn end(&mut self, now: Instant) -> Option<Instant> {
        while self.spans.front().is_some_and(|[_, end]| *end <= now) {
            self.spans.pop_front();
        }
        self.spans.front().filter(|[begin, _]| *begin <= now).map(|[_, end]| *end)
    }
}
