//! STP: `protocol = "stp"`.

mod keys;
mod label;
mod racers;
mod remembered;
#[cfg(test)]
mod tests;
mod transport;

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{BASE_MTU_BYTES, MAX_MTU_BYTES, MIN_IPV4_MTU_BYTES};
use skyhaul_scenario::{
    Addressed, Carrier, EndConfig, HostEngine, HostSetup, MTU_BYTES, Page, Protocol, Purpose, RacerEntry,
    ScenarioError, SegmentLabel, SentSegment, TransportTable,
};
use skyhaul_stp::segment::types::{BLOCK, POLL, SD, STAT};
use skyhaul_stp::{Config, Endpoint, EndpointConfig, MtuSearch};

/// The Satellite Transport Protocol, as scenarios and simulated hosts know it.
#[derive(Clone, Copy, Debug)]
pub struct Stp;

/// The one value of [`Stp`].
pub static STP: Stp = Stp;

impl Stp {
    /// Parameters of an end.
    pub fn end(self, config: Config) -> EndConfig {
        EndConfig::new(&STP, config)
    }
}

impl Protocol for Stp {
    fn name(&self) -> &'static str {
        "stp"
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
        let room = (setup.carrier.envelope_bytes(), 0);
        Box::new(self.host(Endpoint::new(endpoint_config(setup, setup.carrier, room), setup.stream(""))))
    }

    fn carrier(&self, of_scenario: Carrier) -> Carrier {
        of_scenario
    }

    fn number(&self, of_scenario: Carrier) -> u8 {
        match of_scenario {
            Carrier::Udp => ip_protocol::UDP,
            Carrier::Ip | Carrier::Bare => ip_protocol::EXPERIMENT,
        }
    }

    fn header_bytes(&self) -> u32 {
        skyhaul_stp::segment::HEADER_BYTES as u32
    }

    fn receiving(&self, config: &EndConfig) -> EndConfig {
        let Some(config) = config.get::<Config>() else { return config.clone() };
        let standard = Config::standard();
        self.end(Config {
            controller: standard.controller,
            min_rate_bps: standard.min_rate_bps,
            max_rate_bps: standard.max_rate_bps,
            remembered: standard.remembered,
            initial_window_packets: standard.initial_window_packets,
            idle_restart_ns: standard.idle_restart_ns,
            spread: standard.spread,
            few_packets: standard.few_packets,
            burst_packets: standard.burst_packets,
            send_limit_bytes: standard.send_limit_bytes,
            send_limit_bdps: standard.send_limit_bdps,
            probing: standard.probing,
            nagle: standard.nagle,
            coded_tail: standard.coded_tail,
            idle_repeat: standard.idle_repeat,
            ..config.clone()
        })
    }

    fn max_payload_bytes(&self, config: &EndConfig) -> u64 {
        config.get::<Config>().map_or(0, |config| config.max_payload_bytes as u64)
    }

    fn judges_losses(&self) -> bool {
        true
    }

    fn purpose(&self, types: u8) -> Purpose {
        Purpose {
            is_judged_data: types & SD != 0,
            is_question_or_report: types & (POLL | STAT) != 0 && types != BLOCK,
            is_question: types & POLL != 0,
        }
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

/// Parameters of an endpoint of a simulated host, whose segments have `(head, tail)` bytes of room around
/// them in packets of this carrier. It knows no strangers: no bound keeps anybody out.
pub(super) fn endpoint_config<P>(
    setup: &HostSetup<'_>,
    carrier: Carrier,
    (head_bytes, tail_bytes): (u32, u32),
) -> EndpointConfig<P> {
    EndpointConfig {
        accept: setup.accept().cloned().unwrap_or_else(Config::standard),
        mtu_bytes: MTU_BYTES,
        mtu_search: MtuSearch {
            base_bytes: BASE_MTU_BYTES,
            min_bytes: |_| MIN_IPV4_MTU_BYTES,
            taken_bytes: MAX_MTU_BYTES,
            link_bytes: MTU_BYTES,
        },
        carrier_bytes: match carrier {
            Carrier::Udp => |_| Carrier::Udp.header_bytes(),
            Carrier::Ip => |_| Carrier::Ip.header_bytes(),
            Carrier::Bare => |_| Carrier::Bare.header_bytes(),
        },
        head_bytes,
        tail_bytes,
        max_connections: usize::MAX,
        max_unproven: usize::MAX,
        max_early: usize::MAX,
        host_of: None,
        receive_budget_bytes: u64::MAX,
    }
}

/// STP's endpoint as the engine of a simulated host.
pub type StpEngine = Addressed<Endpoint>;

impl Stp {
    /// Engine of this endpoint. The first segment of a connection waits for the first word of the
    /// application.
    pub fn host(self, endpoint: Endpoint) -> StpEngine {
        Addressed::new(endpoint, |endpoint, now, remote, port, config| {
            let config = config.get().cloned().unwrap_or_else(Config::standard);
            endpoint.connect(now, remote, port, config, true)
        })
    }
}
