//! What an application sees of a sealed engine: the inner one.

use skyhaul_core::{
    ConnectionId, Connections, Description, Gap, Instant, Stats, StreamError, StreamEvent, Weight,
};

use super::SealedEngine;

impl<E: Connections> Connections for SealedEngine<E> {
    fn listen(&mut self, port: u16) {
        self.inner.listen(port);
    }

    fn unlisten(&mut self, port: u16) {
        self.inner.unlisten(port);
    }

    fn accept(&mut self) -> Option<ConnectionId> {
        self.inner.accept()
    }

    fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)> {
        self.inner.poll_event()
    }

    fn write(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        self.inner.write(id, data)
    }

    fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.inner.read(id, out)
    }

    /// Nothing: what is sealed are octets.
    fn write_described(&mut self, _: ConnectionId, _: Description) -> Result<u64, StreamError> {
        Ok(0)
    }

    fn read_described(&mut self, id: ConnectionId) -> Result<Option<Description>, StreamError> {
        self.inner.read_described(id)
    }

    fn next_gap(&mut self, id: ConnectionId) -> Option<Gap> {
        self.inner.next_gap(id)
    }

    fn hold(&mut self, id: ConnectionId, holds: bool) {
        self.inner.hold(id, holds);
    }

    fn finish(&mut self, id: ConnectionId) {
        self.inner.finish(id);
    }

    fn abort(&mut self, id: ConnectionId) {
        self.inner.abort(id);
    }

    fn refuse(&mut self, id: ConnectionId) {
        self.inner.refuse(id);
    }

    fn is_proven(&self, id: ConnectionId) -> bool {
        self.inner.is_proven(id)
    }

    fn release(&mut self, now: Instant, id: ConnectionId) {
        self.inner.release(now, id);
    }

    fn set_weight(&mut self, id: ConnectionId, weight: Weight) {
        self.inner.set_weight(id, weight);
    }

    fn stats(&self, id: ConnectionId) -> Option<Stats> {
        self.inner.stats(id)
    }

    fn state_name(&self, id: ConnectionId) -> Option<&'static str> {
        self.inner.state_name(id)
    }

    fn local_port(&self, id: ConnectionId) -> Option<u16> {
        self.inner.local_port(id)
    }

    fn held_bytes(&self, id: ConnectionId) -> u64 {
        self.inner.held_bytes(id)
    }

    fn unsent_bytes(&self, id: ConnectionId) -> u64 {
        self.inner.unsent_bytes(id)
    }

    fn writable_bytes(&self, id: ConnectionId) -> u64 {
        self.inner.writable_bytes(id)
    }

    fn connection_count(&self) -> usize {
        self.inner.connection_count()
    }
}
