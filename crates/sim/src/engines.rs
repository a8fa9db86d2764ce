//! The engines of a host, one a protocol, behind one contract: an application sees one space of connections, the
//! host one engine whose peers are told apart by protocol, too.

use std::net::{IpAddr, SocketAddr};

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{
    ConnectError, ConnectionId, Connections, Ecn, Engine, Event, EventSink, Instant, Stats, StreamError,
    StreamEvent, Transmit, Weight,
};
use skyhaul_tcp::segment::Way as TcpWay;

use crate::scenario::Carrier;

/// Numbers of TCP connections, and sources of their events, begin here at each host.
pub const TCP_IDS: ConnectionId = 1 << 39;

/// A transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// The Satellite Transport Protocol.
    Stp,
    /// TCP.
    Tcp,
}

impl Protocol {
    /// What stands in the IP header where STP has this carrier.
    pub fn number(self, carrier: Carrier) -> u8 {
        match (self, carrier) {
            (Self::Tcp, _) => ip_protocol::TCP,
            (Self::Stp, Carrier::Udp) => ip_protocol::UDP,
            (Self::Stp, Carrier::Ip) => ip_protocol::EXPERIMENT,
        }
    }

    /// Whose packet it is by the number in its IP header.
    pub fn of_number(number: u8) -> Self {
        if number == ip_protocol::TCP { Self::Tcp } else { Self::Stp }
    }

    /// What is around a segment where STP has this carrier; TCP is always carried by IP.
    pub fn carrier(self, of_stp: Carrier) -> Carrier {
        match self {
            Self::Stp => of_stp,
            Self::Tcp => Carrier::Ip,
        }
    }

    /// Protocol of a connection by its number, or of an event by its source within its host.
    pub fn of(id: ConnectionId) -> Self {
        if id < TCP_IDS { Self::Stp } else { Self::Tcp }
    }
}

/// Parameters of one end of a flow, of one protocol or the other.
#[derive(Clone, Debug)]
pub enum EndConfig {
    /// STP's.
    Stp(Box<skyhaul_stp::Config>),
    /// TCP's.
    Tcp(Box<skyhaul_tcp::Config>),
}

impl EndConfig {
    /// Whose they are.
    pub fn protocol(&self) -> Protocol {
        match self {
            Self::Stp(_) => Protocol::Stp,
            Self::Tcp(_) => Protocol::Tcp,
        }
    }

    /// Size of a full packet with the headers around it, where STP has this carrier.
    pub(crate) fn max_packet_bytes(&self, of_stp: Carrier) -> u64 {
        let carrier = self.protocol().carrier(of_stp);
        let around = u64::from(carrier.header_bytes() + carrier.envelope_bytes());
        let (payload_bytes, header_bytes, mtu_bytes) = match self {
            Self::Stp(config) => (
                config.max_payload_bytes as u64,
                skyhaul_stp::segment::HEADER_BYTES,
                skyhaul_stp::EndpointConfig::default().mtu_bytes,
            ),
            Self::Tcp(config) => (
                u64::from(config.mss_bytes),
                skyhaul_tcp::segment::HEADER_BYTES,
                skyhaul_tcp::EndpointConfig::default().mtu_bytes,
            ),
        };
        (payload_bytes + header_bytes as u64 + around).min(u64::from(mtu_bytes))
    }

    /// STP's, if they are.
    pub fn stp(&self) -> Option<&skyhaul_stp::Config> {
        if let Self::Stp(config) = self { Some(config) } else { None }
    }

    /// STP's, if they are, to be changed.
    pub fn stp_mut(&mut self) -> Option<&mut skyhaul_stp::Config> {
        if let Self::Stp(config) = self { Some(config) } else { None }
    }

    /// TCP's, if they are.
    pub fn tcp(&self) -> Option<&skyhaul_tcp::Config> {
        if let Self::Tcp(config) = self { Some(config) } else { None }
    }
}

impl From<skyhaul_stp::Config> for EndConfig {
    fn from(config: skyhaul_stp::Config) -> Self {
        Self::Stp(Box::new(config))
    }
}

impl From<skyhaul_tcp::Config> for EndConfig {
    fn from(config: skyhaul_tcp::Config) -> Self {
        Self::Tcp(Box::new(config))
    }
}

/// Both protocols at one address.
#[derive(Clone, Debug)]
pub struct Engines {
    /// STP.
    pub stp: skyhaul_stp::Endpoint,
    tcp: skyhaul_tcp::Endpoint,
    /// Whether TCP was ever spoken here: at most hosts it is not, and need not be asked all the time.
    speaks_tcp: bool,
    address: IpAddr,
}

/// A peer: its address, and the protocol spoken with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The protocol.
    pub protocol: Protocol,
    /// The address.
    pub address: SocketAddr,
}

impl Engines {
    /// Those of the host at `address`.
    pub fn new(address: IpAddr, stp: skyhaul_stp::Endpoint, tcp: skyhaul_tcp::Endpoint) -> Self {
        Self { stp, tcp, speaks_tcp: false, address }
    }

    /// TCP.
    pub fn tcp(&self) -> &skyhaul_tcp::Endpoint {
        &self.tcp
    }

    /// TCP, to be used.
    pub fn tcp_mut(&mut self) -> &mut skyhaul_tcp::Endpoint {
        self.speaks_tcp = true;
        &mut self.tcp
    }

    fn way(&self, remote: SocketAddr) -> TcpWay {
        TcpWay { local: self.address, remote: remote.ip() }
    }

    /// Opens a connection to `port` at `remote`, with the protocol whose parameters these are. With STP the first
    /// segment waits for the first word of the application.
    pub fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: &EndConfig,
    ) -> Result<ConnectionId, ConnectError> {
        match config {
            EndConfig::Stp(config) => self.stp.connect(now, remote, port, (**config).clone(), true),
            EndConfig::Tcp(config) => {
                let way = self.way(remote);
                self.tcp_mut().connect(now, way, port, None, (**config).clone()).map(|id| id + TCP_IDS)
            }
        }
    }

    /// The engine of a connection, and its number there.
    fn of(&self, id: ConnectionId) -> (&dyn Connections, ConnectionId) {
        match Protocol::of(id) {
            Protocol::Stp => (&self.stp, id),
            Protocol::Tcp => (&self.tcp, id - TCP_IDS),
        }
    }

    fn of_mut(&mut self, id: ConnectionId) -> (&mut dyn Connections, ConnectionId) {
        match Protocol::of(id) {
            Protocol::Stp => (&mut self.stp, id),
            Protocol::Tcp => (self.tcp_mut(), id - TCP_IDS),
        }
    }
}

impl Connections for Engines {
    fn listen(&mut self, port: u16) {
        self.stp.listen(port);
        self.tcp.listen(port);
    }

    fn unlisten(&mut self, port: u16) {
        self.stp.unlisten(port);
        self.tcp.unlisten(port);
    }

    fn accept(&mut self) -> Option<ConnectionId> {
        let accepted = self.stp.accept();
        if accepted.is_some() || !self.speaks_tcp {
            return accepted;
        }
        self.tcp.accept().map(|id| id + TCP_IDS)
    }

    fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)> {
        let event = self.stp.poll_event();
        if event.is_some() || !self.speaks_tcp {
            return event;
        }
        self.tcp.poll_event().map(|(id, event)| (id + TCP_IDS, event))
    }

    fn write(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        let (engine, id) = self.of_mut(id);
        engine.write(id, data)
    }

    fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        let (engine, id) = self.of_mut(id);
        engine.read(id, out)
    }

    fn finish(&mut self, id: ConnectionId) {
        let (engine, id) = self.of_mut(id);
        engine.finish(id);
    }

    fn abort(&mut self, id: ConnectionId) {
        let (engine, id) = self.of_mut(id);
        engine.abort(id);
    }

    fn release(&mut self, now: Instant, id: ConnectionId) {
        let (engine, id) = self.of_mut(id);
        engine.release(now, id);
    }

    fn set_weight(&mut self, id: ConnectionId, weight: Weight) {
        let (engine, id) = self.of_mut(id);
        engine.set_weight(id, weight);
    }

    fn stats(&self, id: ConnectionId) -> Option<Stats> {
        let (engine, id) = self.of(id);
        engine.stats(id)
    }

    fn state_name(&self, id: ConnectionId) -> Option<&'static str> {
        let (engine, id) = self.of(id);
        engine.state_name(id)
    }

    fn local_port(&self, id: ConnectionId) -> Option<u16> {
        let (engine, id) = self.of(id);
        engine.local_port(id)
    }

    fn held_bytes(&self, id: ConnectionId) -> u64 {
        let (engine, id) = self.of(id);
        engine.held_bytes(id)
    }

    fn writable_bytes(&self, id: ConnectionId) -> u64 {
        let (engine, id) = self.of(id);
        engine.writable_bytes(id)
    }

    fn connection_count(&self) -> usize {
        self.stp.connection_count() + self.tcp.connection_count()
    }
}

impl Engine for Engines {
    type Way = Peer;

    fn handle(&mut self, now: Instant, peer: Peer, ecn: Ecn, bytes: &[u8], sink: &mut dyn EventSink) {
        match peer.protocol {
            Protocol::Stp => self.stp.handle(now, peer.address, ecn, bytes, sink),
            Protocol::Tcp => {
                let way = self.way(peer.address);
                self.tcp_mut().handle(now, way, ecn, bytes, &mut Shifted { by: TCP_IDS, sink });
            }
        }
    }

    /// One engine after the other: events and packets keep the same order.
    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<Peer>> {
        let told = |protocol, address, connection, segment_bytes, ecn| {
            let way = Peer { protocol, address };
            Some(Transmit { way, connection, segment_bytes, ecn })
        };
        if let Some(Transmit { way, connection, segment_bytes, ecn }) =
            self.stp.poll_transmit(now, buffer, max_segments, sink)
        {
            return told(Protocol::Stp, way, connection, segment_bytes, ecn);
        }
        if !self.speaks_tcp {
            return None;
        }
        let sink = &mut Shifted { by: TCP_IDS, sink };
        let Transmit { way, connection, segment_bytes, ecn } =
            self.tcp.poll_transmit(now, buffer, max_segments, sink)?;
        told(Protocol::Tcp, SocketAddr::new(way.remote, 0), connection + TCP_IDS, segment_bytes, ecn)
    }

    fn deadline(&self) -> Option<Instant> {
        let stp = self.stp.deadline();
        if !self.speaks_tcp {
            return stp;
        }
        match (stp, self.tcp.deadline()) {
            (Some(stp), Some(tcp)) => Some(stp.min(tcp)),
            (stp, tcp) => stp.or(tcp),
        }
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        self.stp.handle_timeout(now, sink);
        if self.speaks_tcp {
            self.tcp.handle_timeout(now, &mut Shifted { by: TCP_IDS, sink });
        }
    }
}

/// Shifts the sources of events, so that those of several engines differ.
pub(crate) struct Shifted<'a> {
    pub(crate) by: u64,
    pub(crate) sink: &'a mut dyn EventSink,
}

impl EventSink for Shifted<'_> {
    fn wants(&self) -> bool {
        self.sink.wants()
    }

    fn emit(&mut self, now: Instant, source: u64, event: Event) {
        self.sink.emit(now, self.by + source, event);
    }
}
