//! A host: its engines and the application on them.

use std::mem;
use std::net::SocketAddr;

use bytes::Bytes;
use skyhaul_core::{Engine, Event, EventSink, Instant, Packet, PacketMeta, Transmit};

use crate::app::App;
use crate::engines::{Engines, Peer, Protocol, Shifted};
use crate::network::node;
use crate::scenario::Carrier;

/// Datagrams per batch that an endpoint may hand out.
const MAX_SEGMENTS: usize = 16;

/// Sources of events, and names of packets: those of one host are this far from those of the next.
pub const SOURCES_PER_HOST: u64 = 1 << 40;

/// Engines with their address and application.
#[derive(Debug)]
pub struct Host {
    /// Added to the numbers of connections in events, so that those of two hosts differ.
    pub source_base: u64,
    /// The engines.
    pub engines: Engines,
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
    /// A host at `address`, with UDP around the segments of STP.
    pub fn new(engines: Engines, address: SocketAddr, app: Box<dyn App>) -> Self {
        Self {
            source_base: 0,
            engines,
            address,
            app,
            carrier: Carrier::Udp,
            node: node(address).unwrap_or_default(),
            sent_packets: 0,
            buffer: Vec::new(),
        }
    }

    /// With `carrier` around the segments of STP. The endpoint must have been told the same.
    #[must_use]
    pub fn with_carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// When an engine or the application has something to do next.
    pub fn deadline(&self) -> Option<Instant> {
        match (self.engines.deadline(), self.app.deadline()) {
            (Some(engines), Some(app)) => Some(engines.min(app)),
            (engines, app) => engines.or(app),
        }
    }

    /// A packet arrived from `from`.
    pub fn receive(&mut self, now: Instant, from: SocketAddr, packet: &Packet, sink: &mut dyn EventSink) {
        let peer = Peer { protocol: Protocol::of_number(packet.meta.protocol), address: from };
        let carrier = peer.protocol.carrier(self.carrier);
        let body = packet.bytes.get(carrier.envelope_bytes() as usize..).unwrap_or_default();
        self.app.arrived(now, &packet.meta);
        if sink.wants() {
            sink.emit(now, self.source_base, Event::Arrived { packet: packet.meta.id });
        }
        self.engines.handle(now, peer, packet.meta.ecn, body, &mut Shifted { by: self.source_base, sink });
    }

    /// Lets timers, the application and the engines do what is due; sends by `send`.
    pub fn work(
        &mut self,
        now: Instant,
        sink: &mut dyn EventSink,
        mut send: impl FnMut(Packet, &mut dyn EventSink),
    ) {
        self.engines.handle_timeout(now, &mut Shifted { by: self.source_base, sink: &mut *sink });
        loop {
            self.app.work(now, &mut self.engines);
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
            let mut based = Shifted { by: self.source_base, sink: &mut *sink };
            let transmit = self.engines.poll_transmit(now, &mut self.buffer, MAX_SEGMENTS, &mut based);
            let Some(transmit) = transmit else { return sent };
            sent = true;
            self.send_batch(now, transmit, sink, send);
        }
    }

    /// One allocation a batch: its packets share it.
    fn send_batch(
        &mut self,
        now: Instant,
        transmit: Transmit<Peer>,
        sink: &mut dyn EventSink,
        send: &mut impl FnMut(Packet, &mut dyn EventSink),
    ) {
        let header_bytes = transmit.way.protocol.carrier(self.carrier).header_bytes();
        let mut batch = Bytes::copy_from_slice(&self.buffer);
        let first = PacketMeta {
            flow: self.app.flow(transmit.connection),
            from: self.node,
            to: node(transmit.way.address).unwrap_or(u32::MAX),
            protocol: transmit.way.protocol.number(self.carrier),
            ecn: transmit.ecn,
            sent_at: now,
            ..PacketMeta::default()
        };
        while !batch.is_empty() {
            // The last one keeps the batch itself: one packet alone needs no count of who shares it.
            let is_last = batch.len() <= transmit.segment_bytes.max(1);
            let bytes = if is_last { mem::take(&mut batch) } else { batch.split_to(transmit.segment_bytes) };
            let wire_bytes = bytes.len() as u32 + header_bytes;
            let id = u64::from(self.node) * SOURCES_PER_HOST + self.sent_packets;
            self.sent_packets += 1;
            send(Packet { bytes, meta: PacketMeta { wire_bytes, id, ..first } }, sink);
        }
    }
}
