//! The endpoint as its driver sees it.

use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::event::Refusal;
use skyhaul_core::{Ecn, Engine, EventSink, Instant, Transmit};

use super::Endpoint;
use crate::connection::Context;
use crate::segment::decode;

impl Engine for Endpoint {
    type Way = SocketAddr;

    fn handle(&mut self, now: Instant, remote: SocketAddr, _: Ecn, bytes: &[u8], sink: &mut dyn EventSink) {
        let Ok(segment) = decode(bytes) else {
            return self.refuse(Refusal::Undecodable, now, sink);
        };
        let key = (remote, segment.destination_port, segment.source_port);
        match self.keys.get(&key).copied() {
            Some(id) => self.deliver(id, now, remote, &segment, bytes.len(), sink),
            None => self.handle_unknown(now, remote, &segment, bytes.len(), sink),
        }
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
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
            if let Some(path) = self.paths.get_mut(&slot.remote) {
                let mut context = Context { now, path, sink };
                slot.connection.handle_timeout(&mut context);
            }
            self.touch(id);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.timers.first()
    }
}
