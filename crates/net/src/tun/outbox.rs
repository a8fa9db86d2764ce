//! The batch that is being sent. It stays here while the device would block.

use std::io::IoSlice;
use std::task::{Context, Poll, ready};

use skyhaul_core::{Engine as _, Instant, Transmit};
use skyhaul_tcp::Endpoint;
use skyhaul_tcp::segment::Way;

use super::TunCounters;
use super::ip;
use super::wire::PacketWire;
use crate::watch::Sink;

/// Segments in a batch.
const MAX_SEGMENTS: usize = 32;

/// A batch of segments to one peer, or a packet that has its header already.
pub(super) struct Outbox {
    buffer: Vec<u8>,
    /// Bytes of the buffer that are done with.
    done: usize,
    batch: Option<Transmit<Way>>,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), done: 0, batch: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.done == self.buffer.len()
    }

    /// Takes the next batch from the engine; false if there is none.
    pub(super) fn fill(&mut self, now: Instant, engine: &mut Endpoint, sink: &mut Sink) -> bool {
        self.done = 0;
        self.batch = engine.poll_transmit(now, &mut self.buffer, MAX_SEGMENTS, sink);
        self.batch.is_some()
    }

    /// Takes a whole packet.
    pub(super) fn put_packet(&mut self, packet: &[u8]) {
        self.done = 0;
        self.batch = None;
        self.buffer.clear();
        self.buffer.extend_from_slice(packet);
    }

    /// Sends what is left, as far as the device takes it. What it refuses is lost.
    pub(super) fn flush(
        &mut self,
        cx: &mut Context<'_>,
        wire: &PacketWire,
        counters: &mut TunCounters,
    ) -> Poll<()> {
        while !self.is_empty() {
            let rest = &self.buffer[self.done..];
            let part = self.batch.map_or(rest, |batch| &rest[..rest.len().min(batch.segment_bytes.max(1))]);
            let header = self.batch.map(|Transmit { way, ecn, .. }| {
                ip::write_header(way.local, way.remote, ip::TCP, ecn, part.len())
            });
            let header = header.as_deref().unwrap_or_default();
            let sent = wire.poll_send(cx, &[IoSlice::new(header), IoSlice::new(part)]);
            if sent.is_pending() {
                counters.send_waits += 1;
            }
            match ready!(sent) {
                Ok(()) => {
                    counters.sent_packets += 1;
                    counters.sent_bytes += (header.len() + part.len()) as u64;
                }
                Err(_) => counters.send_failures += 1,
            }
            self.done += part.len();
        }
        Poll::Ready(())
    }
}
