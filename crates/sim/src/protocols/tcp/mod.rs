//! TCP: `protocol = "tcp"`.

pub(super) mod ack_policy;
mod keepalive;
pub(super) mod keys;
pub(super) mod label;
mod racers;
pub(super) mod routes;
#[cfg(test)]
mod tests;
mod transport;

use std::any::Any;
use std::net::{IpAddr, SocketAddr};

use skyhaul_core::endpoint::{self, Hosted};
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{ConnectError, ConnectionId, Engine, EventSink, Instant, NetworkFields, Transmit};
use skyhaul_scenario::{
    Carrier, EndConfig, HostEngine, HostSetup, MTU_BYTES, Page, Protocol, RacerEntry, ScenarioError,
    SegmentLabel, SentSegment, TransportTable,
};
use skyhaul_tcp::icmp::{Family, Quoted, report};
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{Config, Endpoint, EndpointConfig, ExplicitConfig, SignalNumbers};

/// TCP, as scenarios and simulated hosts know it.
#[derive(Clone, Copy, Debug)]
pub struct Tcp;

/// The one value of [`Tcp`].
pub static TCP: Tcp = Tcp;

impl Tcp {
    /// Parameters of an end.
    pub fn end(self, config: Config) -> EndConfig {
        EndConfig::new(&TCP, config)
    }
}

impl Protocol for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn key_names(&self) -> Vec<&'static str> {
        transport::transport_keys().iter().map(|key| key.name).collect()
    }

    fn read(&self, table: &TransportTable<'_>) -> Result<[EndConfig; 2], ScenarioError> {
        transport::read(table).map(|ends| ends.map(|end| self.end(end)))
    }

    fn describe(&self, page: &mut Page) {
        transport::describe(page);
    }

    fn engine(&self, setup: &HostSetup<'_>) -> Box<dyn HostEngine> {
        let accept = setup.accept().cloned().unwrap_or_else(Config::standard);
        Box::new(engine(setup, accept, "/tcp"))
    }

    fn carrier(&self, _: Carrier) -> Carrier {
        Carrier::Ip
    }

    fn number(&self, _: Carrier) -> u8 {
        ip_protocol::TCP
    }

    fn further_number(&self) -> Option<u8> {
        Some(ip_protocol::COMPRESSED_TCP)
    }

    fn takes_descriptions(&self) -> bool {
        true
    }

    fn header_bytes(&self) -> u32 {
        skyhaul_tcp::segment::HEADER_BYTES as u32
    }

    fn receiving(&self, config: &EndConfig) -> EndConfig {
        config.get().map_or_else(|| config.clone(), |config| self.end(receiving(config)))
    }

    fn max_payload_bytes(&self, config: &EndConfig) -> u64 {
        config.get::<Config>().map_or(0, |config| u64::from(config.mss_bytes))
    }

    fn declared_rate_bps(&self, config: &EndConfig) -> Option<u64> {
        config.get::<Config>().and_then(|config| config.rate_bps)
    }

    fn label(&self, segment: SentSegment, first: u64) -> SegmentLabel {
        label::label(segment, first)
    }

    fn racers(&self) -> &'static [RacerEntry] {
        &racers::RACERS
    }
}

/// Parameters without what counts at a sender alone.
pub(super) fn receiving(config: &Config) -> Config {
    let standard = Config::standard();
    Config {
        controller: standard.controller,
        initial_window_packets: standard.initial_window_packets,
        counting: standard.counting,
        rate_reduction: standard.rate_reduction,
        limited_transmit: standard.limited_transmit,
        idle_restart: standard.idle_restart,
        pacing_percent: standard.pacing_percent,
        explicit: ExplicitConfig { asks: standard.explicit.asks, ..config.explicit },
        hystart: standard.hystart,
        send_limit_bytes: standard.send_limit_bytes,
        nagle: standard.nagle,
        black_hole_timeouts: standard.black_hole_timeouts,
        discover_mtu: standard.discover_mtu,
        loss_judge: standard.loss_judge,
        ..config.clone()
    }
}

/// Engine of a host that accepts connections with these parameters; `suffix` tells its random stream apart.
pub(super) fn engine(setup: &HostSetup<'_>, accept: Config, suffix: &str) -> TcpEngine {
    let config = EndpointConfig {
        accept,
        mtu_bytes: MTU_BYTES,
        max_connections: usize::MAX,
        max_unproven: usize::MAX,
        max_early: usize::MAX,
    };
    let engine = TcpEngine::new(setup.address, Endpoint::new(config, setup.stream(suffix)));
    TcpEngine { signals: setup.signals, ..engine }
}

/// TCP's endpoint as the engine of the host at an address, which its checksum covers.
#[derive(Clone, Debug)]
pub struct TcpEngine {
    address: IpAddr,
    /// Numbers of the signals that it hears.
    signals: SignalNumbers,
    /// Endpoint.
    pub endpoint: Endpoint,
}

impl TcpEngine {
    /// Engine of the host at `address`.
    pub fn new(address: IpAddr, endpoint: Endpoint) -> Self {
        Self { address, signals: SignalNumbers::default(), endpoint }
    }

    fn way(&self, remote: SocketAddr) -> Way {
        Way { local: self.address, remote: remote.ip() }
    }
}

/// [`skyhaul_core::Connections`] comes with it.
impl Hosted for TcpEngine {
    type Family = <Endpoint as Hosted>::Family;

    fn endpoint(&self) -> &endpoint::Endpoint<Self::Family> {
        self.endpoint.endpoint()
    }

    fn endpoint_mut(&mut self) -> &mut endpoint::Endpoint<Self::Family> {
        self.endpoint.endpoint_mut()
    }
}

impl HostEngine for TcpEngine {
    fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    ) {
        self.endpoint.handle(now, self.way(from), fields, bytes, sink);
    }

    fn hear(&mut self, now: Instant, message: &[u8], sink: &mut dyn EventSink) {
        let family = Family::of(self.address);
        let Some(quoted) = report(family, message, &self.signals) else { return };
        let Quoted { way, message, protocol, segment } = quoted;
        self.endpoint.handle_icmp(now, way, message, (protocol, segment), sink);
    }

    fn claims(&self, from: SocketAddr, fields: NetworkFields, bytes: &[u8]) -> bool {
        self.endpoint.claims(self.way(from), fields, bytes)
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
        let Transmit { peer, connection, segment_bytes, fields } =
            self.endpoint.poll_transmit(now, buffer, max_segments, sink)?;
        Some(Transmit { peer: SocketAddr::new(peer.remote, 0), connection, segment_bytes, fields })
    }

    fn deadline(&self) -> Option<Instant> {
        self.endpoint.deadline()
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        self.endpoint.handle_timeout(now, sink);
    }

    fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: &EndConfig,
    ) -> Result<ConnectionId, ConnectError> {
        let config = config.get().cloned().unwrap_or_else(Config::standard);
        self.endpoint.connect(now, self.way(remote), port, None, config)
    }

    fn copied(&self) -> Option<Box<dyn HostEngine>> {
        Some(Box::new(self.clone()))
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
