//! What a connection sends in its turn, and replies of no connection.

use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::{Ecn, Event, EventSink, Instant, Path, Transmit};

use super::Endpoint;
use crate::connection::Context;
use crate::segment::encode;

impl Endpoint {
    pub(super) fn transmit_stateless(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
        let (remote, segment) = self.stateless.pop_front()?;
        buffer.resize(self.config.head_bytes as usize, 0);
        encode(&segment, buffer);
        buffer.resize(buffer.len() + self.config.tail_bytes as usize, 0);
        let wire_bytes = self.carrier_bytes(remote) + buffer.len() as u32;
        // Where a declared rate is kept, everything to that address counts.
        if let Some(budget) = self.paths.get_mut(&remote).and_then(|path| path.budget.as_mut()) {
            budget.spend(now, wire_bytes);
        }
        if sink.wants() {
            let (types, number) = (segment.type_bits(), u64::from(segment.number));
            sink.emit(now, 0, Event::Sent { types, number, payload_bytes: 0, wire_bytes, repeat: None });
        }
        Some(Transmit { way: remote, connection: 0, segment_bytes: buffer.len(), ecn: Ecn::NotEct })
    }

    /// What the next connection of a path sends.
    pub(super) fn transmit_by(
        &mut self,
        way: SocketAddr,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
        let path = self.paths.get_mut(&way)?;
        let id = path.shares.call()?;
        let slot = self.slots.get_mut(&id)?;
        let (head, tail) = (path.head_bytes as usize, path.tail_bytes as usize);
        let poll = |path: &mut Path, buffer: &mut Vec<u8>| {
            let start = buffer.len();
            buffer.resize(start + head, 0);
            let mut context = Context { now, path, sink: &mut *sink };
            if slot.connection.poll_transmit(&mut context, buffer).is_none() {
                buffer.truncate(start);
                return None;
            }
            buffer.resize(buffer.len() + tail, 0);
            Some(Ecn::NotEct)
        };
        let batch = (&mut *buffer, max_segments);
        let transmit = self.turns.take(id, &mut slot.turn, now, (way, &mut *path), batch, poll);
        if transmit.is_some() {
            return transmit;
        }
        if slot.is_forgettable() {
            self.forget(id);
        } else {
            let deadline = slot.connection.deadline(path);
            let due = |path: &Path| deadline.and_then(|_| slot.connection.data_due(path)); // one that is over has nothing
            slot.turn.rest(path, due);
            self.timers.set(&mut slot.timer, id, deadline);
        }
        None
    }
}
