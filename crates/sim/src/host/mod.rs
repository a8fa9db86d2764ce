//! A host: its engines and the application on them.

mod app;
mod engines;
mod layers;
mod standstills;

use std::mem;
use std::net::SocketAddr;

use bytes::Bytes;
use skyhaul_core::envelope::Mode;
use skyhaul_core::{Event, EventSink, Instant, Packet, PacketMeta};

use crate::fabric::node;
use crate::source::Source;
pub use app::App;
pub use engines::{Around, ConnectionKey, Engines, SegmentBatch};
pub use standstills::Standstills;

/// Datagrams per batch that an endpoint may hand out.
const MAX_SEGMENTS: usize = 16;

/// Names of packets of one node are this far from those of the next.
pub(crate) const PACKETS_PER_HOST: u64 = 1 << 40;

/// Engines with their address and application.
#[derive(Debug)]
pub struct Host {
    /// Engines.
    pub engines: Engines,
    /// Address.
    pub address: SocketAddr,
    /// Application.
    pub app: Box<dyn App>,
    /// Number of the node that `address` belongs to.
    node: u32,
    next_packet: u64,
    buffer: Vec<u8>,
    /// `None`: its machine never stands still.
    standstills: Option<Box<Standstills>>,
}

impl Host {
    /// Host at `address`, whose engines have been told the carrier.
    pub fn new(mut engines: Engines, address: SocketAddr, mut app: Box<dyn App>) -> Self {
        app.begin(&mut engines);
        let node = node(address).unwrap_or_default();
        let next_packet = u64::from(node) * PACKETS_PER_HOST;
        Self { engines, address, app, node, next_packet, buffer: Vec::new(), standstills: None }
    }

    /// Has its machine stand still at these times.
    pub fn set_standstills(&mut self, standstills: Standstills) {
        self.standstills = Some(Box::new(standstills));
    }

    /// When an engine or the application has something to do next.
    pub fn deadline(&self) -> Option<Instant> {
        if let Some(until) = self.standstills.as_ref().and_then(|standstills| standstills.until()) {
            return Some(until);
        }
        match (self.engines.deadline(), self.app.deadline()) {
            (Some(engines), Some(app)) => Some(engines.min(app)),
            (engines, app) => engines.or(app),
        }
    }

    /// Takes a packet that arrived from `from`: while the machine stands still, its socket does.
    pub fn receive(
        &mut self,
        now: Instant,
        from: SocketAddr,
        packet: &Packet,
        sink: &mut dyn EventSink<Source>,
    ) {
        if !self.standstills.as_mut().is_some_and(|standstills| standstills.hold(now, from, packet)) {
            self.read(now, from, packet, sink);
        }
    }

    fn read(&mut self, now: Instant, from: SocketAddr, packet: &Packet, sink: &mut dyn EventSink<Source>) {
        self.app.arrived(now, &packet.meta);
        if sink.wants() {
            sink.emit(now, Source::Host(self.node), Event::Arrived { packet: packet.meta.id });
        }
        self.engines.handle(now, from, packet.meta.fields, &packet.bytes, sink);
    }

    /// Lets timers, the application and the engines do what is due; sends by `send`. Nothing is while the
    /// machine stands still.
    pub fn work(
        &mut self,
        now: Instant,
        sink: &mut dyn EventSink<Source>,
        mut send: impl FnMut(Packet, &mut dyn EventSink<Source>),
    ) {
        if let Some(standstills) = &mut self.standstills {
            let Some(held) = standstills.read(now) else { return };
            for (from, packet) in held {
                self.read(now, from, &packet, sink);
            }
        }
        self.engines.handle_timeout(now, sink);
        let mut has_sent = false;
        loop {
            // Layers take in what arrived before the application works, and hand down what it wrote after.
            let mut worked = self.engines.work_layers(now);
            worked |= self.app.work(now, &mut self.engines);
            let moved = self.engines.work_layers(now);
            // Engines that had nothing more to send have nothing until somebody uses them.
            if has_sent && !worked && !moved {
                return;
            }
            has_sent = self.transmit(now, sink, &mut send);
            if !has_sent && !moved {
                return;
            }
        }
    }

    /// Sends all that is due; false if there was nothing.
    fn transmit(
        &mut self,
        now: Instant,
        sink: &mut dyn EventSink<Source>,
        send: &mut impl FnMut(Packet, &mut dyn EventSink<Source>),
    ) -> bool {
        let mut sent = false;
        loop {
            let (next_packet, buffer) = (self.next_packet, &mut self.buffer);
            let batch = self.engines.poll_transmit(now, next_packet, buffer, MAX_SEGMENTS, sink);
            let Some(batch) = batch else { return sent };
            sent = true;
            self.send_batch(now, batch, sink, send);
        }
    }

    /// One allocation a batch: its packets share it.
    fn send_batch(
        &mut self,
        now: Instant,
        SegmentBatch { engine, around, transmit }: SegmentBatch,
        sink: &mut dyn EventSink<Source>,
        send: &mut impl FnMut(Packet, &mut dyn EventSink<Source>),
    ) {
        if around.envelope_bytes > 0 {
            for segment in self.buffer.chunks_mut(transmit.segment_bytes.max(1)) {
                segment[0] = Mode::Plain.octet();
            }
        }
        let mut batch = Bytes::copy_from_slice(&self.buffer);
        let first = PacketMeta {
            flow: self.app.flow(ConnectionKey { engine, connection: transmit.connection }),
            from: self.node,
            to: node(transmit.peer).unwrap_or(u32::MAX),
            fields: transmit.fields.of_protocol(around.number),
            sent_at: now,
            ..PacketMeta::default()
        };
        while !batch.is_empty() {
            // The last one keeps the batch itself: one packet alone needs no count of who shares it.
            let is_last = batch.len() <= transmit.segment_bytes.max(1);
            let bytes = if is_last { mem::take(&mut batch) } else { batch.split_to(transmit.segment_bytes) };
            let wire_bytes = first.fields.whole_bytes(bytes.len()) as u32 + around.header_bytes;
            let id = self.next_packet;
            self.next_packet += 1;
            send(Packet { bytes, meta: PacketMeta { wire_bytes, id, ..first } }, sink);
        }
    }
}
