//! Engines of a host: a list, in which each has a family of its own. A connection is named by engine and
//! number.

use std::fmt;
use std::net::SocketAddr;

use skyhaul_core::envelope::Mode;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{
    ConnectError, ConnectionId, Connections, Description, EventSink, Gap, Instant, NetworkFields, Stats,
    StreamError, StreamEvent, Transmit, Weight,
};
use skyhaul_scenario::{Carrier, EndConfig, HostEngine, Protocol};

use skyhaul_petra::utl::{self, RoundTrips, UtlError, UtlLayer};

use super::layers::Layers;
use crate::source::{EngineId, EngineSink, Source};

/// Connection of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionKey {
    /// Engine that has it.
    pub engine: EngineId,
    /// Number that the engine gave it.
    pub connection: ConnectionId,
}

impl fmt::Display for ConnectionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.engine, self.connection)
    }
}

/// Octets and number that a family's packets have around their segments at a host, asked once.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Number in the IP header.
    pub number: u8,
    /// Headers that are counted, not stored.
    pub header_bytes: u32,
    /// Octets of the envelope in front of a segment.
    pub envelope_bytes: u32,
}

/// Engine with its family.
#[derive(Debug)]
pub(super) struct Member {
    protocol: &'static dyn Protocol,
    around: Around,
    /// Another family has its number, too.
    is_shared: bool,
    pub(super) engine: Box<dyn HostEngine>,
}

/// All engines at one address. Whatever is asked of all is asked in their order.
#[derive(Debug)]
pub struct Engines {
    /// Number of the host's node, for sources of events.
    host: u32,
    carrier: Carrier,
    /// Packet that the next `Sent` event tells of.
    next_told: u64,
    members: Vec<Member>,
    layers: Layers,
}

/// Batch that an engine hands out.
#[derive(Clone, Copy, Debug)]
pub struct SegmentBatch {
    /// Engine.
    pub engine: EngineId,
    /// Octets and number around each segment.
    pub around: Around,
    /// Receiver and size of the segments.
    pub transmit: Transmit<SocketAddr>,
}

impl Engines {
    /// No engine yet, at the host with this node number in a scenario with this carrier.
    pub fn new(host: u32, carrier: Carrier) -> Self {
        Self { host, carrier, next_told: 0, members: Vec::new(), layers: Layers::default() }
    }

    /// Adds the engine of a family, behind those that are there.
    #[must_use]
    pub fn with(mut self, protocol: &'static dyn Protocol, engine: Box<dyn HostEngine>) -> Self {
        let carrier = protocol.carrier(self.carrier);
        let around = Around {
            number: protocol.number(self.carrier),
            header_bytes: carrier.header_bytes(),
            envelope_bytes: protocol.envelope_bytes(self.carrier),
        };
        let mut is_shared = false;
        for other in self.members.iter_mut().filter(|other| other.around.number == around.number) {
            (other.is_shared, is_shared) = (true, true);
        }
        self.members.push(Member { protocol, around, is_shared, engine });
        self
    }

    /// Copy of all engines as they are; `None` if there must be none of one of them.
    pub fn copied(&self) -> Option<Self> {
        let copy = |member: &Member| Some(Member { engine: member.engine.copied()?, ..*member });
        let members: Option<Vec<Member>> = self.members.iter().map(copy).collect();
        Some(Self { members: members?, layers: self.layers.clone(), ..*self })
    }

    /// Engine of type `E` with its number, for tests that know the family.
    pub fn find_mut<E: HostEngine + 'static>(&mut self) -> Option<(EngineId, &mut E)> {
        let mut all = self.members.iter_mut().zip(0..);
        all.find_map(|(member, id)| Some((id, member.engine.as_any_mut().downcast_mut()?)))
    }

    /// Opens a connection to `port` at `remote` in the engine whose parameters these are.
    pub fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: &EndConfig,
    ) -> Result<ConnectionKey, ConnectError> {
        let name = config.protocol().name();
        let mut all = self.members.iter_mut().zip(0..);
        let Some((member, engine)) = all.find(|(member, _)| member.protocol.name() == name) else {
            return Err(ConnectError::TooManyConnections); // such a host may hold none
        };
        let connection = member.engine.connect(now, remote, port, config)?;
        Ok(ConnectionKey { engine, connection })
    }

    fn of(&self, key: ConnectionKey) -> Option<&(dyn HostEngine + 'static)> {
        Some(&*self.members.get(usize::from(key.engine))?.engine)
    }

    fn of_mut(&mut self, key: ConnectionKey) -> Option<&mut (dyn HostEngine + 'static)> {
        Some(&mut *self.members.get_mut(usize::from(key.engine))?.engine)
    }

    /// Connections of the engine that has this one, for a relay.
    pub fn connections_of(&mut self, key: ConnectionKey) -> Option<&mut dyn Connections> {
        let member = self.members.get_mut(usize::from(key.engine))?;
        Some(&mut *member.engine)
    }

    fn all(&mut self) -> impl Iterator<Item = (EngineId, &mut (dyn HostEngine + 'static))> {
        self.members.iter_mut().zip(0..).map(|(member, engine)| (engine, &mut *member.engine))
    }

    /// Accepts openings to this port from now on.
    pub fn listen(&mut self, port: u16) {
        self.all().for_each(|(_, engine)| engine.listen(port));
    }

    /// Connection that a peer opened, not yet handed out.
    pub fn accept(&mut self) -> Option<ConnectionKey> {
        self.all().find_map(|(engine, of)| Some(ConnectionKey { engine, connection: of.accept()? }))
    }

    /// Next event for the application.
    #[inline]
    pub fn poll_event(&mut self) -> Option<(ConnectionKey, StreamEvent)> {
        if self.layers.is_empty() { self.poll_below() } else { self.poll_layers() }
    }

    fn poll_layers(&mut self) -> Option<(ConnectionKey, StreamEvent)> {
        loop {
            let Some((key, event)) = self.poll_below() else { return self.layers.poll_event() };
            if let Some(event) = self.layers.above(key, event) {
                return Some((key, event));
            }
        }
    }

    #[inline]
    fn poll_below(&mut self) -> Option<(ConnectionKey, StreamEvent)> {
        self.all().find_map(|(engine, of)| {
            let (connection, event) = of.poll_event()?;
            Some((ConnectionKey { engine, connection }, event))
        })
    }

    /// Puts an end-to-end layer above a connection that nothing was written to or read of.
    pub fn add_layer(&mut self, key: ConnectionKey, config: utl::Config) {
        self.layers.add(key, config);
    }

    /// Lets the end-to-end layers work; true if something moved.
    #[inline]
    pub fn work_layers(&mut self, now: Instant) -> bool {
        let Self { members, layers, .. } = self;
        !layers.is_empty() && layers.work(now, members)
    }

    /// Why the end-to-end layer above a connection failed.
    pub fn layer_failure(&self, key: ConnectionKey) -> Option<UtlError> {
        self.layers.get(key)?.failure()
    }

    /// Round trips of the batches of the end-to-end layer above a connection.
    pub fn layer_round_trips(&self, key: ConnectionKey) -> Option<RoundTrips> {
        Some(self.layers.get(key)?.round_trips())
    }

    /// Number of bytes taken of `data`, see [`skyhaul_core::Connections::write`].
    pub fn write(&mut self, key: ConnectionKey, data: &[u8]) -> Result<usize, StreamError> {
        if let Some(layer) = self.layers.get_mut(key) {
            return Ok(layer.write(data));
        }
        self.of_mut(key).map_or(Err(StreamError::Unknown), |of| of.write(key.connection, data))
    }

    /// Number of bytes read, see [`skyhaul_core::Connections::read`].
    pub fn read(&mut self, key: ConnectionKey, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        if let Some(layer) = self.layers.get_mut(key) {
            return Ok(layer.read(out));
        }
        self.of_mut(key).map_or(Err(StreamError::Unknown), |of| of.read(key.connection, out))
    }

    /// Number of octets taken of `data`, see [`skyhaul_core::Connections::write_described`].
    pub fn write_described(&mut self, key: ConnectionKey, data: Description) -> Result<u64, StreamError> {
        self.of_mut(key).map_or(Err(StreamError::Unknown), |of| of.write_described(key.connection, data))
    }

    /// Octets read, see [`skyhaul_core::Connections::read_described`].
    pub fn read_described(&mut self, key: ConnectionKey) -> Result<Option<Description>, StreamError> {
        self.of_mut(key).map_or(Err(StreamError::Unknown), |of| of.read_described(key.connection))
    }

    /// Next gap of a stream, see [`skyhaul_core::Connections::next_gap`].
    pub fn next_gap(&mut self, key: ConnectionKey) -> Option<Gap> {
        self.of_mut(key)?.next_gap(key.connection)
    }

    /// Ends the stream of a connection: nothing more will be written.
    pub fn finish(&mut self, key: ConnectionKey) {
        if let Some(layer) = self.layers.get_mut(key) {
            return layer.finish();
        }
        self.of_mut(key).into_iter().for_each(|of| of.finish(key.connection));
    }

    /// Ends a connection at once; the peer is told.
    pub fn abort(&mut self, key: ConnectionKey) {
        self.of_mut(key).into_iter().for_each(|of| of.abort(key.connection));
    }

    /// Lets go of a connection, which is forgotten when it is over.
    pub fn release(&mut self, now: Instant, key: ConnectionKey) {
        self.layers.remove(key);
        self.of_mut(key).into_iter().for_each(|of| of.release(now, key.connection));
    }

    /// Weight of a connection beside others that share its path, from now on.
    pub fn set_weight(&mut self, key: ConnectionKey, weight: Weight) {
        self.of_mut(key).into_iter().for_each(|of| of.set_weight(key.connection, weight));
    }

    /// Counters of a connection.
    pub fn stats(&self, key: ConnectionKey) -> Option<Stats> {
        self.of(key)?.stats(key.connection)
    }

    /// Name of a connection's state, as its specification prints it.
    pub fn state_name(&self, key: ConnectionKey) -> Option<&'static str> {
        self.of(key)?.state_name(key.connection)
    }

    /// Port of a connection at this end.
    pub fn local_port(&self, key: ConnectionKey) -> Option<u16> {
        self.of(key)?.local_port(key.connection)
    }

    /// Bytes that a connection's send buffer holds.
    pub fn held_bytes(&self, key: ConnectionKey) -> u64 {
        let above = self.layers.get(key).map_or(0, UtlLayer::unsent_bytes);
        above + self.of(key).map_or(0, |of| of.held_bytes(key.connection))
    }

    /// Bytes that [`write`](Self::write) would take now.
    pub fn writable_bytes(&self, key: ConnectionKey) -> u64 {
        if let Some(layer) = self.layers.get(key) {
            return layer.writable_bytes();
        }
        self.of(key).map_or(0, |of| of.writable_bytes(key.connection))
    }

    /// Connections held by all engines.
    pub fn connection_count(&self) -> usize {
        self.members.iter().map(|member| member.engine.connection_count()).sum()
    }

    /// Engine that a packet is for; of those that share its number the first that claims it, else the first.
    fn addressee(&self, from: SocketAddr, fields: NetworkFields, bytes: &[u8]) -> Option<EngineId> {
        let takes = |member: &Member| {
            member.around.number == fields.protocol
                || member.protocol.further_number() == Some(fields.protocol)
        };
        let of_number = || self.members.iter().zip(0..).filter(|&(member, _)| takes(member));
        let (first, id) = of_number().next()?;
        if !first.is_shared {
            return Some(id);
        }
        let claims = |member: &Member| {
            let (envelope, body) = bytes.split_at_checked(member.around.envelope_bytes as usize)?;
            let is_plain = envelope.iter().all(|&octet| Mode::Plain.check(octet).is_ok());
            (is_plain && member.engine.claims(from, fields, body)).then_some(())
        };
        Some(of_number().find(|(member, _)| claims(member).is_some()).map_or(id, |(_, id)| id))
    }

    /// Takes the bytes of a packet from `from`. Those for a family that has no engine here are dropped.
    pub fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink<Source>,
    ) {
        let host = self.host;
        let Some(id) = self.addressee(from, fields, bytes) else {
            return self.hear(now, fields, bytes, sink);
        };
        let Some(Member { protocol, around, engine, .. }) = self.members.get_mut(usize::from(id)) else {
            return;
        };
        let body = bytes.get(around.envelope_bytes as usize..).unwrap_or_default();
        let mut sink = EngineSink { host, engine: id, protocol: *protocol, next_told: 0, sink };
        engine.handle(now, from, fields, body, &mut sink);
    }

    /// Every engine hears of an ICMP message: it says itself whose packet it is about.
    #[cold]
    fn hear(&mut self, now: Instant, fields: NetworkFields, bytes: &[u8], sink: &mut dyn EventSink<Source>) {
        if fields.protocol != ip_protocol::ICMP {
            return;
        }
        let host = self.host;
        for (Member { protocol, engine, .. }, id) in self.members.iter_mut().zip(0..) {
            let mut sink =
                EngineSink { host, engine: id, protocol: *protocol, next_told: 0, sink: &mut *sink };
            engine.hear(now, bytes, &mut sink);
        }
    }

    /// Batch of segments that are due, written to `buffer`; the first becomes the packet called
    /// `next_packet`, the others those after it. One engine after the other, so that segments become packets
    /// in the order of their `Sent` events; an engine may have made, and told of, a segment that goes with
    /// its next batch.
    pub fn poll_transmit(
        &mut self,
        now: Instant,
        next_packet: u64,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink<Source>,
    ) -> Option<SegmentBatch> {
        self.next_told = self.next_told.max(next_packet); // nobody may have wanted to be told
        for (Member { protocol, around, engine, .. }, id) in self.members.iter_mut().zip(0..) {
            let (host, next_told) = (self.host, self.next_told);
            let mut named = EngineSink { host, engine: id, protocol: *protocol, next_told, sink: &mut *sink };
            let transmit = engine.poll_transmit(now, buffer, max_segments, &mut named);
            self.next_told = named.next_told;
            if let Some(transmit) = transmit {
                let segments = buffer.len().div_ceil(transmit.segment_bytes.max(1)) as u64;
                debug_assert!(!sink.wants() || self.next_told >= next_packet + segments, "an untold segment");
                return Some(SegmentBatch { engine: id, around: *around, transmit });
            }
        }
        None
    }

    /// Time at which [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let engines = self.members.iter().filter_map(|member| member.engine.deadline()).min();
        if self.layers.is_empty() {
            return engines;
        }
        engines.into_iter().chain(self.layers.deadline()).min()
    }

    /// Fires the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink<Source>) {
        let host = self.host;
        for (Member { protocol, engine, .. }, id) in self.members.iter_mut().zip(0..) {
            let mut sink =
                EngineSink { host, engine: id, protocol: *protocol, next_told: 0, sink: &mut *sink };
            engine.handle_timeout(now, &mut sink);
        }
    }
}
