//! The endpoint as its driver sees it.

use alloc::vec::Vec;

use super::{Arrival, Connection, Context, Endpoint, Family, Hosted, Key};
use crate::event::Refusal;
use crate::{
    AfterTurn, Engine, Event, EventSink, Instant, Integrity, NetworkFields, Path, PathIndex, Transmit,
};

impl<H: Hosted> Engine for H {
    type Peer = <H::Family as Family>::Peer;

    fn handle(
        &mut self,
        now: Instant,
        peer: Self::Peer,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    ) {
        let endpoint = self.endpoint_mut();
        let integrity = Integrity::with_tail(endpoint.config.tail_bytes);
        // Used where it lies: a segment is large, and each move of it costs.
        let Ok(segment) = &H::Family::decode(peer, integrity, fields, bytes) else {
            return endpoint.refuse(Refusal::Undecodable, now, sink);
        };
        let (local_port, remote_port) = H::Family::ports(segment);
        let key = Key { local_port, remote_port, peer };
        let arrival = Arrival { now, key, fields, bytes: fields.whole_bytes(bytes.len()) };
        match H::Family::find(endpoint, key, segment) {
            Some(id) => H::Family::receive(endpoint, id, arrival, segment, sink),
            None => H::Family::receive_stray(endpoint, arrival, segment, sink),
        }
        endpoint.check_invariants();
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<Self::Peer>> {
        let endpoint = self.endpoint_mut();
        buffer.clear();
        // Every second question, as a rule.
        if endpoint.scheduler.is_idle() && endpoint.answers.is_empty() {
            return None;
        }
        if let Some(transmit) = endpoint.scheduler.poll_stash(buffer) {
            return Some(transmit);
        }
        if let Some(transmit) = endpoint.transmit_answer(now, buffer, sink) {
            return Some(transmit);
        }
        while let Some(index) = endpoint.scheduler.call() {
            let transmit = endpoint.transmit_over(index, now, (buffer, max_segments), sink);
            if transmit.is_some() {
                return transmit;
            }
        }
        endpoint.check_invariants();
        None
    }

    fn peer_moved(&mut self, now: Instant, peer: Self::Peer) {
        let endpoint = self.endpoint_mut();
        if let Some(path) = endpoint.path_mut(peer) {
            path.outage(now);
            if let Some(mtu) = path.mtu_mut() {
                mtu.restart();
            }
        }
        for id in endpoint.connections_to(peer) {
            endpoint.touch(id);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.endpoint().timers.first()
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        let endpoint = self.endpoint_mut();
        while let Some(id) = endpoint.timers.pop_due(now) {
            let Some(slot) = endpoint.slots.get_mut(id) else { continue };
            slot.timer = None;
            let Some(path) = endpoint.paths.get_mut(slot.path) else { continue };
            slot.connection.handle_timeout(&mut Context { now, path, sink });
            endpoint.touch(id);
        }
        endpoint.check_invariants();
    }
}

impl<F: Family> Endpoint<F> {
    fn transmit_answer(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<F::Peer>> {
        let (peer, segment) = self.answers.pop_front()?;
        let path = self.config.path(peer);
        buffer.resize(path.head_bytes as usize, 0);
        let (types, number) = F::encode(peer, path.integrity(), &segment, buffer);
        buffer.resize(buffer.len() + path.tail_bytes as usize, 0);
        let wire_bytes = path.carrier_bytes + buffer.len() as u32;
        // Where a rate is kept, everything to that peer counts.
        if let Some(path) = self.path_mut(peer) {
            path.charge_unasked(now, wire_bytes);
        }
        if sink.wants() {
            sink.emit(now, 0, Event::Sent { types, number, payload_bytes: 0, wire_bytes, repeat: None });
        }
        let fields = NetworkFields::default();
        Some(Transmit { peer, connection: 0, segment_bytes: buffer.len(), fields })
    }

    /// Takes the turn of the next connection of a path.
    fn transmit_over(
        &mut self,
        index: PathIndex,
        now: Instant,
        (buffer, max_segments): (&mut Vec<u8>, usize),
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<F::Peer>> {
        let path = self.paths.get_mut(index)?;
        let id = path.next_connection()?;
        let slot = self.slots.get_mut(id)?;
        let (head, tail) = (path.config().head_bytes as usize, path.config().tail_bytes as usize);
        let connection = &mut slot.connection;
        let poll = |path: &mut Path, buffer: &mut Vec<u8>| {
            let start = buffer.len();
            buffer.resize(start + head, 0);
            let fields = connection.poll_transmit(&mut Context { now, path, sink: &mut *sink }, buffer);
            buffer.resize(if fields.is_ok() { buffer.len() + tail } else { start }, 0);
            fields
        };
        let (peer, batch) = (slot.key.peer, (&mut *buffer, max_segments));
        let (transmit, after) =
            self.scheduler.take(id, &mut slot.entry, now, (peer, index, &mut *path), batch, poll);
        slot.tell(id, &mut self.events);
        let AfterTurn::Silent(deadline) = after else { return transmit };
        if slot.is_retirable() {
            self.retire(id);
        } else {
            // What others take of a shared rate moves the deadline.
            let deadline = if path.shares_rate() { slot.connection.deadline(now, path) } else { deadline };
            debug_assert_eq!(deadline, slot.connection.deadline(now, path), "a deadline as it was told");
            slot.entry.rest(path, |path| deadline.and_then(|_| slot.connection.data_due(now, path)));
            self.timers.set(&mut slot.timer, id, deadline);
        }
        transmit
    }
}
