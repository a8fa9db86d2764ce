//! STPP, the transport of PETRA's satellite hop: `protocol = "stpp"`.

mod keys;
mod label;
#[cfg(test)]
mod tests;
mod transport;

use std::net::SocketAddr;

use skyhaul_core::MAX_MTU_BYTES;
use skyhaul_core::endpoint::Bounds;
use skyhaul_petra::stpp::pdu::HEADER_BYTES;
use skyhaul_petra::stpp::{Config, Endpoint, EndpointConfig};
use skyhaul_scenario::{
    Addressed, Carrier, EndConfig, HostEngine, HostSetup, Page, Protocol, ScenarioError, SegmentLabel,
    SentSegment, TransportTable,
};

/// PDUs have no IP header; this number, which IP has not assigned, tells them apart at a host.
const FRAME_NUMBER: u8 = 252;

/// STPP, as scenarios and simulated hosts know it.
#[derive(Clone, Copy, Debug)]
pub struct Stpp;

/// The one value of [`Stpp`].
pub static STPP: Stpp = Stpp;

impl Stpp {
    /// Parameters of an end.
    pub fn end(self, config: Config) -> EndConfig {
        EndConfig::new(&STPP, config)
    }

    /// Engine of this endpoint.
    pub fn host(self, endpoint: Endpoint) -> Addressed<Endpoint> {
        Addressed::new(endpoint, |endpoint, now, remote, port, config| {
            endpoint.connect(now, remote, port, config.get().cloned().unwrap_or_else(Config::standard))
        })
    }
}

/// Bytes around a PDU: none.
fn carrier_bytes(_: SocketAddr) -> u32 {
    Carrier::Bare.header_bytes()
}

impl Protocol for Stpp {
    fn name(&self) -> &'static str {
        "stpp"
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
        let config = EndpointConfig {
            accept: setup.accept().cloned().unwrap_or_else(Config::standard),
            // PDUs are frames of their link: what it takes is its own affair, and it drops what is larger.
            mtu_bytes: MAX_MTU_BYTES,
            carrier_bytes,
            head_bytes: 0,
            bounds: Bounds::NONE,
            receive_budget_bytes: u64::MAX,
        };
        Box::new(self.host(Endpoint::new(config, setup.stream("/stpp"))))
    }

    fn carrier(&self, _: Carrier) -> Carrier {
        Carrier::Bare
    }

    fn number(&self, _: Carrier) -> u8 {
        FRAME_NUMBER
    }

    fn header_bytes(&self) -> u32 {
        HEADER_BYTES as u32
    }

    fn receiving(&self, config: &EndConfig) -> EndConfig {
        let Some(config) = config.get::<Config>() else { return config.clone() };
        let standard = Config::standard();
        self.end(Config {
            sdu_bytes: standard.sdu_bytes,
            sdu_header_bytes: standard.sdu_header_bytes,
            poll_percent: standard.poll_percent,
            send_limit_bytes: standard.send_limit_bytes,
            ..config.clone()
        })
    }

    fn max_payload_bytes(&self, config: &EndConfig) -> u64 {
        config.get::<Config>().map_or(0, |config| u64::from(config.payload_bytes))
    }

    fn declared_rate_bps(&self, config: &EndConfig) -> Option<u64> {
        config.get::<Config>().and_then(|config| config.rate_bps)
    }

    fn label(&self, segment: SentSegment, _: u64) -> SegmentLabel {
        label::label(segment)
    }
}
