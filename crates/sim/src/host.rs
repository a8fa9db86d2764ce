//! A host: an endpoint and the application on it.

use std::mem;
use std::net::SocketAddr;

use bytes::Bytes;
use skyhaul_core::{Engine, Event, EventSink, Instant, Packet, PacketMeta, Transmit};
use skyhaul_stp::Endpoint;

use crate::app::App;
use crate::network::node;
use crate::scenario::Carrier;

/// Datagrams per batch that an endpoint may hand out.
const MAX_SEGMENTS: usize = 16;

/// Sources of events, and names of packets: those of one host are this far from those of the next.
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
    carrier: Carrier,
    /// Number of the node that `address` belongs to.
    node: u32,
    sent_packets: u64,
    buffer: Vec<u8>,
}

impl Host {
    /// A host at `address`, with UDP around its segments.
    pub fn new(endpoint: Endpoint, address: SocketAddr, app: Box<dyn App>) -> Self {
        Self {
            source_base: 0,
            endpoint,
            address,
            app,
            carrier: Carrier::Udp,
            node: node(address).unwrap_or_default(),
            sent_packets: 0,
            buffer: Vec::new(),
        }
    }

    /// With `carrier` around its segments. The endpoint must have been told the same.
    #[must_use]
    pub fn with_carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// When the endpoint or the application has something to do next.
    pub fn deadline(&self) -> Option<Instant> {
        match (self.endpoint.deadline(), self.app.deadline()) {
            (Some(endpoint), Some(app)) => Some(endpoint.min(app)),
            (endpoint, app) => endpoint.or(app),
        }
    }

    /// A packet arrived from `from`.
    pub fn receive(&mut self, now: Instant, from: SocketAddr, packet: &Packet, sink: &mut dyn EventSink) {
        let body = packet.bytes.get(self.carrier.envelope_bytes() as usize..).unwrap_or_default();
        self.app.arrived(now, &packet.meta);
        if sink.wants() {
            sink.emit(now, self.source_base, Event::Arrived { packet: packet.meta.id });
        }
        self.endpoint.handle(now, from, packet.meta.ecn, body, &mut Based { base: self.source_base, sink });
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
            self.send_batch(now, transmit, sink, send);
        }
    }

    /// One allocation a batch: its packets share it.
    fn send_batch(
        &mut self,
        now: Instant,
        transmit: Transmit<SocketAddr>,
        sink: &mut dyn EventSink,
        send: &mut impl FnMut(Packet, &mut dyn EventSink),
    ) {
        let mut batch = Bytes::copy_from_slice(&self.buffer);
        let first = PacketMeta {
            flow: self.app.flow(transmit.connection),
            from: self.node,
            to: node(transmit.way).unwrap_or(u32::MAX),
            ecn: transmit.ecn,
            sent_at: now,
            ..PacketMeta::default()
        };
        while !batch.is_empty() {
            // The last one keeps the batch itself: one packet alone needs no count of who shares it.
            let is_last = batch.len() <= transmit.segment_bytes.max(1);
            let bytes = if is_last { mem::take(&mut batch) } else { batch.split_to(transmit.segment_bytes) };
            let wire_bytes = bytes.len() as u32 + self.carrier.header_bytes();
            let id = u64::from(self.node) * SOURCES_PER_HOST + self.sent_packets;
            self.sent_packets += 1;
            send(Packet { bytes, meta: PacketMeta { wire_bytes, id, ..first } }, sink);
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
