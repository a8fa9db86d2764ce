//! SCPS-TP, on the engine of TCP: `protocol = "scps-tp"`.

mod keys;
mod racers;
#[cfg(test)]
mod tests;
mod transport;

use skyhaul_core::packet::ip_protocol;
use skyhaul_scenario::{
    Carrier, EndConfig, HostEngine, HostSetup, Page, Protocol, RacerEntry, ScenarioError, SegmentLabel,
    SentSegment, TransportTable,
};
use skyhaul_tcp::Config;
use skyhaul_tcp::scps::Scps;

use super::tcp::{engine, label, receiving};

/// SCPS-TP, as scenarios and simulated hosts know it.
#[derive(Clone, Copy, Debug)]
pub struct ScpsTp;

/// The one value of [`ScpsTp`].
pub static SCPS_TP: ScpsTp = ScpsTp;

impl ScpsTp {
    /// Parameters of an end.
    pub fn end(self, config: Config) -> EndConfig {
        EndConfig::new(&SCPS_TP, config)
    }
}

impl Protocol for ScpsTp {
    fn name(&self) -> &'static str {
        "scps-tp"
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
        let accept = setup.accept().cloned().unwrap_or_else(Config::scps_tp);
        Box::new(engine(setup, accept, "/scps-tp"))
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
        let Some(config) = config.get::<Config>() else { return config.clone() };
        let Scps { controller, loss_cause, .. } = Scps::standard();
        let scps = config.scps.clone().map(|scps| Scps { controller, loss_cause, ..scps });
        self.end(Config { scps, ..receiving(config) })
    }

    fn max_payload_bytes(&self, config: &EndConfig) -> u64 {
        config.get::<Config>().map_or(0, |config| u64::from(config.mss_bytes))
    }

    fn declared_rate_bps(&self, config: &EndConfig) -> Option<u64> {
        config.get::<Config>().and_then(|config| config.rate_bps)
    }

    fn leaves_gaps(&self, config: &EndConfig) -> bool {
        config.get::<Config>().is_some_and(Config::leaves_gaps)
    }

    fn label(&self, segment: SentSegment, first: u64) -> SegmentLabel {
        label::label(segment, first)
    }

    fn racers(&self) -> &'static [RacerEntry] {
        &racers::RACERS
    }
}
