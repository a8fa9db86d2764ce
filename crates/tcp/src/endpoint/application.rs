//! The endpoint as an application sees it.

use skyhaul_core::{ConnectionId, Connections, Instant, Stats, StreamError, StreamEvent, Weight};

use super::Endpoint;
use crate::connection::State;

impl Connections for Endpoint {
    fn listen(&mut self, port: u16) {
        self.listening.insert(port);
    }

    fn unlisten(&mut self, port: u16) {
        self.listening.remove(&port);
    }

    fn accept(&mut self) -> Option<ConnectionId> {
        self.accepted.pop_front()
    }

    fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)> {
        self.events.pop_front()
    }

    fn write(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        let slot = self.slots.get_mut(&id).ok_or(StreamError::Unknown)?;
        let taken = slot.connection.write(data)?;
        self.touch(id);
        Ok(taken)
    }

    fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        let slot = self.slots.get_mut(&id).ok_or(StreamError::Unknown)?;
        let read = slot.connection.read(out);
        self.touch(id);
        read
    }

    fn finish(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.connection.finish();
            self.touch(id);
        }
    }

    fn abort(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.connection.abort();
            self.touch(id);
        }
    }

    fn release(&mut self, now: Instant, id: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.released = true;
            slot.connection.release(now);
            self.touch(id);
        }
    }

    fn set_weight(&mut self, id: ConnectionId, weight: Weight) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.turn.set_weight(weight);
        }
    }

    fn stats(&self, id: ConnectionId) -> Option<Stats> {
        self.slots.get(&id).map(|slot| slot.connection.stats())
    }

    fn state_name(&self, id: ConnectionId) -> Option<&'static str> {
        self.state(id).map(State::name)
    }

    fn local_port(&self, id: ConnectionId) -> Option<u16> {
        self.slots.get(&id).map(|slot| slot.connection.names.local_port)
    }

    fn held_bytes(&self, id: ConnectionId) -> u64 {
        self.slots.get(&id).map_or(0, |slot| slot.connection.held_bytes())
    }

    fn writable_bytes(&self, id: ConnectionId) -> u64 {
        self.slots.get(&id).map_or(0, |slot| slot.connection.writable_bytes())
    }

    fn connection_count(&self) -> usize {
        self.slots.len()
    }
}
