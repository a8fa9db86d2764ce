//! Who sends next: deficit round robin over the connections that may have something to send, in
//! batches of equal-sized segments.

use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::{Event, EventSink, Instant};

use super::{ConnectionId, Endpoint};
use crate::connection::Context;
use crate::segment::encode;

/// Bytes that a connection may send before the next one has its turn.
const QUANTUM_BYTES: i64 = 16 * 1500;

/// Bytes for the wire: a batch of datagrams to one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub remote: SocketAddr,
    /// Connection that all of them belong to; 0 for answers to segments of none.
    pub connection: ConnectionId,
    /// Size of each datagram in the buffer but the last, which may be smaller.
    pub segment_bytes: usize,
}

impl Endpoint {
    /// Fills `buffer` (cleared first) with at most `max_segments` datagrams to one peer; each has the
    /// head and tail room of the configuration. `None`: nothing to send before [`Self::deadline`].
    pub fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit> {
        buffer.clear();
        if let Some((transmit, bytes)) = self.stash.take() {
            buffer.extend_from_slice(&bytes);
            return Some(transmit);
        }
        if let Some(transmit) = self.transmit_stateless(now, buffer, sink) {
            return Some(transmit);
        }
        while let Some(id) = self.ready.pop_front() {
            if let Some(transmit) = self.transmit_from(id, now, buffer, max_segments.max(1), sink) {
                return Some(transmit);
            }
        }
        None
    }

    fn transmit_stateless(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit> {
        let (remote, segment) = self.stateless.pop_front()?;
        buffer.resize(self.config.head_bytes as usize, 0);
        encode(&segment, buffer);
        buffer.resize(buffer.len() + self.config.tail_bytes as usize, 0);
        let wire_bytes = self.carrier_bytes(remote) + buffer.len() as u32;
        // Where a declared rate is kept, everything to that address counts.
        if let Some(budget) = self.paths.get_mut(&remote).and_then(|shared| shared.path.budget.as_mut()) {
            budget.spend(now, wire_bytes);
        }
        if sink.wants() {
            let (types, number) = (segment.type_bits(), u64::from(segment.number));
            sink.emit(now, 0, Event::Sent { types, number, payload_bytes: 0, wire_bytes, repeat: None });
        }
        Some(Transmit { remote, connection: 0, segment_bytes: buffer.len() })
    }

    fn transmit_from(
        &mut self,
        id: ConnectionId,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit> {
        let slot = self.slots.get_mut(&id)?;
        let shared = self.paths.get_mut(&slot.remote)?;
        let (head, tail) = (shared.path.head_bytes as usize, shared.path.tail_bytes as usize);
        slot.deficit_bytes = slot.deficit_bytes.min(0) + QUANTUM_BYTES;
        let mut segment_bytes = 0;
        // Whoever has just said that this was all need not be asked again.
        let asks = slot.silent_at.take() != Some(now);
        for count in 0..if asks { max_segments } else { 0 } {
            if count > 0 && slot.deficit_bytes <= 0 {
                break;
            }
            let start = buffer.len();
            buffer.resize(start + head, 0);
            let mut context = Context { now, path: &mut shared.path, sink };
            if slot.connection.poll_transmit(&mut context, buffer).is_none() {
                buffer.truncate(start);
                slot.silent_at = Some(now);
                break;
            }
            buffer.resize(buffer.len() + tail, 0);
            let bytes = buffer.len() - start;
            slot.deficit_bytes -= bytes as i64;
            if count == 0 {
                segment_bytes = bytes;
            } else if bytes > segment_bytes {
                let transmit = Transmit { remote: slot.remote, connection: id, segment_bytes: bytes };
                self.stash = Some((transmit, buffer.split_off(start)));
                break;
            }
            if bytes < segment_bytes {
                break;
            }
        }
        let transmit = Transmit { remote: slot.remote, connection: id, segment_bytes };
        if !buffer.is_empty() {
            self.ready.push_back(id); // even if this was all: its timer is set behind those of the others in line
            return Some(transmit);
        }
        if slot.is_forgettable() {
            self.forget(id);
        } else {
            slot.is_ready = false;
            self.timers.set(&mut slot.timer, id, slot.connection.deadline(&shared.path));
        }
        None
    }
}
