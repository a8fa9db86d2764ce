//! Who sends next: deficit round robin over the connections that may have something to send, in batches of
//! equal-sized segments.

use alloc::vec::Vec;

use skyhaul_core::{Ecn, Event, EventSink, Instant};

use super::{ConnectionId, Endpoint};
use crate::connection::Context;
use crate::segment::{Way, encode};

/// Bytes that a connection may send before the next one has its turn.
const QUANTUM_BYTES: i64 = 16 * 1500;

/// Bytes for the wire: a batch of segments to one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// From where and where to.
    pub way: Way,
    /// Connection that all of them belong to; 0 for answers to segments of none.
    pub connection: ConnectionId,
    /// Size of each segment in the buffer but the last, which may be smaller.
    pub segment_bytes: usize,
    /// Field of the IP header of each.
    pub ecn: Ecn,
}

impl Endpoint {
    /// Fills `buffer` (cleared first) with at most `max_segments` segments to one peer. `None`: nothing to
    /// send before [`Self::deadline`].
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
        let (way, segment) = self.stateless.pop_front()?;
        encode(way, &segment, buffer);
        if sink.wants() {
            let (types, number) = (segment.flags, u64::from(segment.sequence));
            let wire_bytes = self.path(way).wire_bytes(buffer.len());
            sink.emit(now, 0, Event::Sent { types, number, payload_bytes: 0, wire_bytes, repeat: None });
        }
        Some(Transmit { way, connection: 0, segment_bytes: buffer.len(), ecn: Ecn::NotEct })
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
        let way = slot.connection.names.way;
        slot.deficit_bytes = slot.deficit_bytes.min(0) + QUANTUM_BYTES;
        let mut batch = Transmit { way, connection: id, segment_bytes: 0, ecn: Ecn::NotEct };
        for count in 0..max_segments {
            let start = buffer.len();
            let mut context = Context { now, path: &slot.path, sink };
            let is_spent = count > 0 && slot.deficit_bytes <= 0;
            if is_spent {
                break;
            }
            let Some(ecn) = slot.connection.poll_transmit(&mut context, buffer) else { break };
            let bytes = buffer.len() - start;
            slot.deficit_bytes -= bytes as i64;
            if count == 0 {
                batch = Transmit { segment_bytes: bytes, ecn, ..batch };
            } else if bytes > batch.segment_bytes || ecn != batch.ecn {
                let transmit = Transmit { segment_bytes: bytes, ecn, ..batch };
                self.stash = Some((transmit, buffer.split_off(start)));
                break;
            }
            if bytes < batch.segment_bytes {
                break;
            }
        }
        if !buffer.is_empty() {
            self.ready.push_back(id);
            return Some(batch);
        }
        slot.is_ready = false;
        self.timers.set(&mut slot.timer, id, slot.connection.deadline());
        if slot.connection.is_done() {
            self.retire(id);
        }
        None
    }
}
