//! A host: an endpoint and the application on it.

use std::net::SocketAddr;

use bytes::Bytes;
use skyhaul_core::{Event, EventSink, Instant, Packet, PacketMeta, ip_udp_bytes};
use skyhaul_stp::Endpoint;

use crate::apps::App;

/// Datagrams per batch that an endpoint may hand out.
const MAX_SEGMENTS: usize = 16;
/// Octets of the envelope in front of every segment: as much as the real carrier puts there.
pub(crate) const ENVELOPE_BYTES: u32 = 1;

/// Sources of events: those of one host are this far from those of the next.
pub const SOURCES_PER_HOST: u64 = 1 << 40;

/// An endpoint with its address and application.
#[derive(Debug)]
pub struct Host {
    /// Added to the numbers of connections in events, so that those of two hosts differ.
    pub source_base: u64,
    /// The engine.
    pub endpoint: Endpoint,
    /// Its address.
    pub address: SocketAddr,
    /// What runs on it.
    pub app: Box<dyn App>,
    buffer: Vec<u8>,
}

impl Host {
    /// A host at `address`.
    pub fn new(endpoint: Endpoint, address: SocketAddr, app: Box<dyn App>) -> Self {
        Self { source_base: 0, endpoint, address, app, buffer: Vec::new() }
    }

    /// When the endpoint or the application has something to do next.
    pub fn deadline(&self) -> Option<Instant> {
        self.endpoint.deadline().into_iter().chain(self.app.deadline()).min()
    }

    /// A packet arrived from `from`.
    pub fn receive(&mut self, now: Instant, from: SocketAddr, packet: &Packet, sink: &mut dyn EventSink) {
        let body = packet.bytes.get(ENVELOPE_BYTES as usize..).unwrap_or_default();
        self.endpoint.handle(now, from, body, &mut Based { base: self.source_base, sink });
    }

    /// Lets timers, the application and the endpoint do what is due; sends by `send`.
    pub fn work(
        &mut self,
        now: Instant,
        sink: &mut dyn EventSink,
        mut send: impl FnMut(Packet, &mut dyn EventSink),
    ) {
        self.endpoint.handle_timeout(now, &mut Based { base: self.source_base, sink: &mut *sink });
        loop {
            self.app.work(now, &mut self.endpoint);
            if !self.transmit(now, sink, &mut send) {
                return;
            }
        }
    }

    /// Sends all that is due; false if there was nothing.
    fn transmit(
        &mut self,
        now: Instant,
        sink: &mut dyn EventSink,
        send: &mut impl FnMut(Packet, &mut dyn EventSink),
    ) -> bool {
        let mut sent = false;
        loop {
            let mut based = Based { base: self.source_base, sink: &mut *sink };
            let transmit = self.endpoint.poll_transmit(now, &mut self.buffer, MAX_SEGMENTS, &mut based);
            let Some(transmit) = transmit else { return sent };
            sent = true;
            let headers = ip_udp_bytes(transmit.remote.ip());
            for datagram in self.buffer.chunks(transmit.segment_bytes) {
                let wire_bytes = datagram.len() as u32 + headers;
                let meta = PacketMeta { wire_bytes, ..PacketMeta::default() };
                send(Packet { bytes: Bytes::copy_from_slice(datagram), meta }, sink);
            }
        }
    }
}

/// Shifts the sources of one host's events.
struct Based<'a> {
    base: u64,
    sink: &'a mut dyn EventSink,
}

impl EventSink for Based<'_> {
    fn wants(&self) -> bool {
        self.sink.wants()
    }

    fn emit(&mut self, now: Instant, source: u64, event: Event) {
        self.sink.emit(now, self.base + source, event);
    }
}
