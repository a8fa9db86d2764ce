//! Engine around an engine: what the inner one sends is sealed, what arrives is opened. To the inner one an
//! association is a peer; to whoever drives this one, an address is.

mod connections;

use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::{Engine, EventSink, Instant, NetworkFields, Transmit};

use crate::aead::TAG_BYTES;
use crate::{AssociationId, Associations, HEAD_BYTES, Sealed};

/// Engine whose segments travel sealed. The inner engine must keep [`SealedEngine::HEAD_BYTES`] of room in
/// front of each segment and [`SealedEngine::TAIL_BYTES`] behind.
#[derive(Debug)]
pub struct SealedEngine<E> {
    inner: E,
    associations: Associations,
    /// Batch that was sealed and waits for the messages in front of it.
    sealed: Option<(Transmit<SocketAddr>, Vec<u8>)>,
    /// Datagram that is being opened.
    scratch: Vec<u8>,
}

impl<E> SealedEngine<E> {
    /// Room in front of a segment.
    pub const HEAD_BYTES: u32 = HEAD_BYTES as u32;
    /// Room behind a segment.
    pub const TAIL_BYTES: u32 = TAG_BYTES as u32;

    /// Engine around `inner` with these associations.
    pub fn new(inner: E, associations: Associations) -> Self {
        Self { inner, associations, sealed: None, scratch: Vec::new() }
    }

    /// Inner engine: for what is its own.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    /// Inner engine, for a change: as opening connections.
    pub fn inner_mut(&mut self) -> &mut E {
        &mut self.inner
    }

    /// Whether a batch of segments is sealed already and waits behind a datagram of the associations' own.
    pub fn has_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// Associations: for peers, events and counters.
    pub fn associations(&self) -> &Associations {
        &self.associations
    }

    /// Associations, for a change.
    pub fn associations_mut(&mut self) -> &mut Associations {
        &mut self.associations
    }
}

impl<E: Engine<Peer = AssociationId>> SealedEngine<E> {
    /// Hands segments that came in messages, or were withheld, to the inner engine.
    fn take_released(&mut self, now: Instant, sink: &mut dyn EventSink) {
        while let Some(released) = self.associations.poll_released() {
            let fields = NetworkFields::default();
            self.inner.handle(now, released.association, fields, &released.segment, sink);
        }
    }

    /// Takes a datagram as [`Engine::handle`] does, and opens it in place.
    pub fn handle_in_place(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        fields: NetworkFields,
        datagram: &mut [u8],
        sink: &mut dyn EventSink,
    ) {
        let arrived = self.associations.handle(now, peer, datagram);
        // What was withheld came first.
        self.take_released(now, sink);
        while let Some(id) = self.associations.poll_moved() {
            self.inner.peer_moved(now, id);
        }
        if let Some(arrived) = arrived {
            self.inner.handle(now, arrived.association, fields, &datagram[arrived.segment], sink);
        }
    }

    /// Datagram of the associations' own.
    fn message(&mut self, buffer: &mut Vec<u8>) -> Option<Transmit<SocketAddr>> {
        let outgoing = self.associations.poll_transmit()?;
        buffer.clear();
        buffer.extend_from_slice(&outgoing.datagram);
        let (peer, fields) = (outgoing.to, NetworkFields::default());
        Some(Transmit { peer, connection: 0, segment_bytes: buffer.len(), fields })
    }

    /// Seals the segments of a batch in place. `None` if all of them ride in a message, or none could be
    /// sealed: they are lost then, as on the way.
    fn seal(
        &mut self,
        now: Instant,
        transmit: Transmit<AssociationId>,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit<SocketAddr>> {
        let (mut peer, mut kept) = (None, 0);
        let segment_bytes = transmit.segment_bytes.max(1);
        let mut start = 0;
        while start < buffer.len() {
            let end = buffer.len().min(start + segment_bytes);
            if let Ok(Sealed::InPlace(to)) =
                self.associations.seal(now, transmit.peer, &mut buffer[start..end])
            {
                peer = Some(to);
                if kept < start {
                    buffer.copy_within(start..end, kept);
                }
                kept += end - start;
            }
            start = end;
        }
        buffer.truncate(kept);
        let Transmit { connection, fields, .. } = transmit;
        Some(Transmit { peer: peer?, connection, segment_bytes: segment_bytes.min(kept), fields })
    }
}

impl<E: Engine<Peer = AssociationId>> Engine for SealedEngine<E> {
    type Peer = SocketAddr;

    fn handle(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    ) {
        let mut datagram = core::mem::take(&mut self.scratch);
        datagram.clear();
        datagram.extend_from_slice(bytes);
        self.handle_in_place(now, peer, fields, &mut datagram, sink);
        self.scratch = datagram;
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
        loop {
            if let Some(message) = self.message(buffer) {
                return Some(message);
            }
            if let Some((transmit, sealed)) = self.sealed.take() {
                *buffer = sealed;
                return Some(transmit);
            }
            let transmit = self.inner.poll_transmit(now, buffer, max_segments, sink)?;
            self.sealed = self.seal(now, transmit, buffer).map(|sealed| (sealed, core::mem::take(buffer)));
        }
    }

    fn deadline(&self) -> Option<Instant> {
        [self.inner.deadline(), self.associations.deadline()].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        self.associations.handle_timeout(now);
        self.inner.handle_timeout(now, sink);
    }
}
