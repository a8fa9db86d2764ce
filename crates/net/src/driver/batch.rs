//! Batch that is being sent. It stays here while the carrier takes nothing.

use skyhaul_core::{Engine, Instant, PathHeader, Transmit};

use crate::path_header;
use crate::watch::Sink;

/// Octets of segments that UDP over IPv4 takes in one call: path headers make a batch larger.
const MAX_CALL_BYTES: usize = 65_507;

/// Segments to one peer, or a packet of the carrier's own.
pub(crate) struct Batch<P> {
    buffer: Vec<u8>,
    /// Bytes of the buffer that are done with.
    done: usize,
    /// Peer and sizes of the segments; `None` for a packet of the carrier's own.
    transmit: Option<Transmit<P>>,
}

impl<P: Copy> Batch<P> {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), done: 0, transmit: None }
    }

    /// True if nothing is left to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.done == self.buffer.len()
    }

    /// Takes the next batch from the engine; false if there is none.
    pub(super) fn fill(
        &mut self,
        now: Instant,
        engine: &mut impl Engine<Peer = P>,
        max_segments: usize,
        sink: &mut Sink,
    ) -> bool {
        self.done = 0;
        self.transmit = engine.poll_transmit(now, &mut self.buffer, max_segments, sink);
        self.transmit.is_some()
    }

    /// Takes a whole packet of the carrier's own.
    pub(super) fn put(&mut self, packet: &[u8]) {
        self.done = 0;
        self.transmit = None;
        self.buffer.clear();
        self.buffer.extend_from_slice(packet);
    }

    /// Peer, sizes and fields of the segments; `None` for a packet of the carrier's own.
    pub(crate) fn transmit(&self) -> Option<Transmit<P>> {
        self.transmit
    }

    /// Bytes that are left, of which as many segments as possible up to `max_segments`, whole ones.
    pub(crate) fn part(&self, max_segments: usize) -> &[u8] {
        let rest = &self.buffer[self.done..];
        let segment_bytes = self.transmit.map_or(rest.len(), |transmit| transmit.segment_bytes).max(1);
        let max_segments = max_segments.min(MAX_CALL_BYTES / segment_bytes).max(1);
        &rest[..rest.len().min(segment_bytes * max_segments)]
    }

    /// Takes note that the next `bytes` are sent, or lost.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.done += bytes;
    }

    /// Puts the path header of the batch, if it has one, behind the first octet of each segment.
    pub(crate) fn insert_path_headers(&mut self) {
        let Some(transmit) = &mut self.transmit else { return };
        if let Some(header) = transmit.fields.path_header {
            self.buffer = path_header::insert(&self.buffer, transmit.segment_bytes, &header);
            transmit.segment_bytes += usize::from(PathHeader::BYTES);
        }
    }

    /// Segments for the carrier to complete, in the room that the engine left.
    pub(crate) fn segments_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let segment_bytes = self.transmit.map_or(usize::MAX, |transmit| transmit.segment_bytes);
        self.buffer.chunks_mut(segment_bytes.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::NetworkFields;

    #[test]
    fn a_batch_is_cut_where_segments_end() {
        let fields = NetworkFields::default();
        let transmit = Some(Transmit { peer: (), connection: 1, segment_bytes: 300, fields });
        let mut batch = Batch { buffer: vec![0; 1000], done: 0, transmit };
        assert_eq!((batch.part(64).len(), batch.part(1).len()), (1000, 300));
        batch.advance(900);
        assert_eq!(batch.part(1).len(), 100);
        batch.advance(100);
        assert!(batch.is_empty());
        batch.put(&[0; 500]);
        assert_eq!((batch.part(1).len(), batch.transmit()), (500, None));
    }
}
