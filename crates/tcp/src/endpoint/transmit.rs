//! What a connection sends in its turn, and replies of no connection.

use alloc::vec::Vec;

use skyhaul_core::{Ecn, Event, EventSink, Instant, Path, Transmit};

use super::Endpoint;
use crate::connection::Context;
use crate::segment::{Way, encode};

impl Endpoint {
    pub(super) fn transmit_stateless(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<Way>> {
        let (way, segment) = self.stateless.pop_front()?;
        encode(way, &segment, buffer);
        let wire_bytes = self.new_path(way).wire_bytes(buffer.len());
        // Where a declared rate is kept, everything to that address counts.
        if let Some(budget) = self.paths.get_mut(&way).and_then(|path| path.budget.as_mut()) {
            budget.spend(now, wire_bytes);
        }
        if sink.wants() {
            let (types, number) = (segment.flags, u64::from(segment.sequence));
            sink.emit(now, 0, Event::Sent { types, number, payload_bytes: 0, wire_bytes, repeat: None });
        }
        Some(Transmit { way, connection: 0, segment_bytes: buffer.len(), ecn: Ecn::NotEct })
    }

    /// What the next connection of a path sends.
    pub(super) fn transmit_by(
        &mut self,
        way: Way,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<Way>> {
        let path = self.paths.get_mut(&way)?;
        let id = path.shares.call()?;
        let slot = self.slots.get_mut(&id)?;
        let poll = |path: &mut Path, buffer: &mut Vec<u8>| {
            slot.connection.poll_transmit(&mut Context { now, path, sink: &mut *sink }, buffer)
        };
        let batch = (&mut *buffer, max_segments);
        let transmit = self.turns.take(id, &mut slot.turn, now, (way, &mut *path), batch, poll);
        if transmit.is_some() {
            return transmit;
        }
        slot.turn.rest(path, |_| slot.connection.paced_at());
        self.timers.set(&mut slot.timer, id, slot.connection.deadline());
        if slot.connection.is_done() {
            self.retire(id);
        }
        None
    }
}
