//! The endpoint as an application sees it.

use super::{Connection, Endpoint, Family, Hosted, Stage};
use crate::{
    ConnectionId, Connections, Description, Gap, Instant, Path, PathMtu, Stats, StreamError, StreamEvent,
    Weight,
};

impl<H: Hosted> Connections for H {
    fn listen(&mut self, port: u16) {
        self.endpoint_mut().listening.insert(port);
    }

    fn unlisten(&mut self, port: u16) {
        self.endpoint_mut().listening.remove(&port);
    }

    fn accept(&mut self) -> Option<ConnectionId> {
        self.endpoint_mut().accepted.pop_front()
    }

    fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)> {
        let endpoint = self.endpoint_mut();
        let slots = &mut endpoint.slots;
        endpoint.events.pop(|id| slots.get_mut(id).map(|slot| &mut slot.waiting))
    }

    fn write(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        let endpoint = self.endpoint_mut();
        let slot = endpoint.slots.get_mut(id).ok_or(StreamError::Unknown)?;
        let taken = slot.connection.write(data)?;
        endpoint.touch(id);
        Ok(taken)
    }

    fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        read_of(self.endpoint_mut(), id, |connection| connection.read(out))
    }

    fn write_described(&mut self, id: ConnectionId, data: Description) -> Result<u64, StreamError> {
        let endpoint = self.endpoint_mut();
        let slot = endpoint.slots.get_mut(id).ok_or(StreamError::Unknown)?;
        let taken = slot.connection.write_described(data)?;
        endpoint.touch(id);
        Ok(taken)
    }

    fn read_described(&mut self, id: ConnectionId) -> Result<Option<Description>, StreamError> {
        read_of(self.endpoint_mut(), id, Connection::read_described)
    }

    fn next_gap(&mut self, id: ConnectionId) -> Option<Gap> {
        let endpoint = self.endpoint_mut();
        let gap = endpoint.slots.get_mut(id)?.connection.next_gap()?;
        endpoint.touch(id);
        Some(gap)
    }

    fn hold(&mut self, id: ConnectionId, holds: bool) {
        self.endpoint_mut().change(id, |connection| connection.hold(holds));
    }

    fn finish(&mut self, id: ConnectionId) {
        self.endpoint_mut().change(id, Connection::finish);
    }

    fn abort(&mut self, id: ConnectionId) {
        self.endpoint_mut().change(id, Connection::abort);
    }

    fn refuse(&mut self, id: ConnectionId) {
        self.endpoint_mut().change(id, Connection::refuse);
    }

    fn is_proven(&self, id: ConnectionId) -> bool {
        self.endpoint().get(id).is_some_and(|connection| !connection.is_unproven())
    }

    fn release(&mut self, now: Instant, id: ConnectionId) {
        let endpoint = self.endpoint_mut();
        if let Some(slot) = endpoint.slots.get_mut(id) {
            slot.release(id, &mut endpoint.events);
            endpoint.change(id, |connection| connection.release(now));
        }
    }

    fn set_weight(&mut self, id: ConnectionId, weight: Weight) {
        if let Some(slot) = self.endpoint_mut().slots.get_mut(id) {
            slot.entry.set_weight(weight);
        }
    }

    fn stats(&self, id: ConnectionId) -> Option<Stats> {
        let endpoint = self.endpoint();
        let slot = endpoint.slots.get(id)?;
        let path = endpoint.paths.get(slot.path);
        let own = slot.connection.stats();
        Some(Stats {
            path_estimate: path.and_then(Path::estimate),
            path_mtu_bytes: path.and_then(Path::mtu).map(PathMtu::packet_bytes).or(own.path_mtu_bytes),
            lowered_rate_bps: path.and_then(Path::lowered_bps),
            ruled_by: path.and_then(Path::ruled_by),
            resume: path.and_then(Path::resumed).map(|(phase, _)| phase),
            ..own
        })
    }

    fn state_name(&self, id: ConnectionId) -> Option<&'static str> {
        self.endpoint().get(id).map(Connection::state_name)
    }

    fn local_port(&self, id: ConnectionId) -> Option<u16> {
        self.endpoint().key(id).map(|key| key.local_port)
    }

    fn held_bytes(&self, id: ConnectionId) -> u64 {
        self.endpoint().get(id).map_or(0, Connection::held_bytes)
    }

    fn unsent_bytes(&self, id: ConnectionId) -> u64 {
        self.endpoint().get(id).map_or(0, Connection::unsent_bytes)
    }

    fn writable_bytes(&self, id: ConnectionId) -> u64 {
        self.endpoint().get(id).map_or(0, Connection::writable_bytes)
    }

    fn connection_count(&self) -> usize {
        self.endpoint().slots.len()
    }
}

/// Reads of a connection. Where nothing was there, nothing is to be sent or told for it; but an opening may
/// have waited for the application.
fn read_of<F: Family, R>(
    endpoint: &mut Endpoint<F>,
    id: ConnectionId,
    read: impl FnOnce(&mut F::Connection) -> Result<Option<R>, StreamError>,
) -> Result<Option<R>, StreamError> {
    let slot = endpoint.slots.get_mut(id).ok_or(StreamError::Unknown)?;
    let read = read(&mut slot.connection);
    if !matches!(read, Ok(None)) || slot.connection.stage() == Stage::Opening {
        endpoint.touch(id);
    }
    read
}
