//! The endpoint as its driver sees it.

use alloc::vec::Vec;

use skyhaul_core::event::Refusal;
use skyhaul_core::{Ecn, Engine, EventSink, Instant, Transmit};

use super::Endpoint;
use crate::connection::{Context, Names};
use crate::segment::{Way, decode};

impl Engine for Endpoint {
    type Way = Way;

    fn handle(&mut self, now: Instant, way: Way, ecn: Ecn, bytes: &[u8], sink: &mut dyn EventSink) {
        let Ok(segment) = decode(way, bytes) else {
            return self.refuse(Refusal::Undecodable, now, sink);
        };
        let names = Names { way, local_port: segment.destination_port, remote_port: segment.source_port };
        let id = self.keys.get(&names).copied();
        let successor = id.and_then(|id| self.succeed(id, &segment));
        match id.filter(|_| successor.is_none()) {
            Some(id) => self.deliver(id, now, ecn, &segment, bytes.len(), sink),
            None => self.handle_unknown(now, names, &segment, successor, sink),
        }
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<Way>> {
        buffer.clear();
        if let Some(transmit) = self.turns.poll_stash(buffer) {
            return Some(transmit);
        }
        if let Some(transmit) = self.transmit_stateless(now, buffer, sink) {
            return Some(transmit);
        }
        while let Some(way) = self.turns.call() {
            if let Some(transmit) = self.transmit_by(way, now, buffer, max_segments, sink) {
                return Some(transmit);
            }
        }
        None
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        while let Some(id) = self.timers.pop_due(now) {
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            slot.timer = None;
            let Some(path) = self.paths.get_mut(&slot.connection.names.way) else { continue };
            slot.connection.handle_timeout(&mut Context { now, path, sink });
            self.touch(id);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.timers.first()
    }
}
