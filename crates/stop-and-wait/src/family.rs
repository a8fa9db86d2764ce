//! The family as scenarios and simulated hosts know it: `protocol = "stop-and-wait"`.

use std::sync::LazyLock;

use skyhaul_core::endpoint::{Bounds, Endpoint, HostConfig, USUAL_MIN_MTU_BYTES};
use skyhaul_scenario::keys::Key;
use skyhaul_scenario::kinds::{Bytes, Count, Time};
use skyhaul_scenario::{
    Addressed, Carrier, EndConfig, HostEngine, HostSetup, MTU_BYTES, Page, Protocol, RacerEntry,
    ScenarioError, SegmentLabel, SentSegment, TransportTable,
};

use crate::connection::{Config, HEADER_BYTES, StopAndWait as Family, connect};

/// For experiments [RFC 3692 2.1], beside STP's.
const IP_PROTOCOL: u8 = 254;

/// Stop and wait, for a register of families.
#[derive(Clone, Copy, Debug)]
pub struct StopAndWait;

/// The one value of [`StopAndWait`].
pub static STOP_AND_WAIT: StopAndWait = StopAndWait;

/// Largest payload of a segment.
const MAX_PAYLOAD_BYTES: u64 = 1400;

/// Racer in virtual time: there is no real endpoint.
static RACERS: [RacerEntry; 1] = [RacerEntry::new("stop-and-wait", |grounds| {
    let payload_bytes = u64::from(grounds.max_payload_bytes()).min(MAX_PAYLOAD_BYTES);
    ends(&Config { payload_bytes, send_limit_bytes: grounds.buffer_bytes.max(65_536), ..Config::default() })
})];

/// Both ends with these parameters.
fn ends(config: &Config) -> [EndConfig; 2] {
    [config, config].map(|config| EndConfig::new(&STOP_AND_WAIT, config.clone()))
}

/// Keys of a `[transports.NAME]`.
fn keys() -> &'static [Key<Config>] {
    static KEYS: LazyLock<Vec<Key<Config>>> = LazyLock::new(|| {
        vec![
            Key::new("payload", Bytes::at_most(MAX_PAYLOAD_BYTES), |c: &mut Config| &mut c.payload_bytes)
                .means("Largest payload of a packet."),
            Key::new("timeout", Time::POSITIVE, |c: &mut Config| &mut c.timeout_ns)
                .means("A packet that was not acknowledged is sent again after this time."),
            Key::new("send_limit", Bytes::BUFFER, |c: &mut Config| &mut c.send_limit_bytes)
                .means("Unsent bytes that an application may have written."),
            Key::new("max_repeats", Count::at_least(0), |c: &mut Config| &mut c.max_repeats)
                .means("Repeats of one packet before the connection fails."),
        ]
    });
    &KEYS
}

impl Protocol for StopAndWait {
    fn name(&self) -> &'static str {
        "stop-and-wait"
    }

    fn key_names(&self) -> Vec<&'static str> {
        keys().iter().map(|key| key.name).collect()
    }

    fn read(&self, table: &TransportTable<'_>) -> Result<[EndConfig; 2], ScenarioError> {
        let mut config = Config::default();
        table.read(keys(), &mut config)?;
        Ok(ends(&config))
    }

    fn describe(&self, page: &mut Page) {
        page.transport(self.name(), keys(), ["default"], &mut [Config::default()]);
    }

    fn engine(&self, setup: &HostSetup<'_>) -> Box<dyn HostEngine> {
        let family = Family { accept: setup.accept().cloned().unwrap_or_default(), ..Family::default() };
        let config = HostConfig {
            mtu_bytes: MTU_BYTES,
            min_mtu_bytes: USUAL_MIN_MTU_BYTES,
            carrier_bytes: |_| Carrier::Ip.header_bytes(),
            head_bytes: 0,
            tail_bytes: 0,
            bounds: Bounds::NONE,
            host_of: None,
            receive_budget_bytes: u64::MAX,
        };
        let endpoint = Endpoint::new(family, config, setup.stream("/stop-and-wait"));
        Box::new(Addressed::new(endpoint, |endpoint, now, remote, port, config| {
            connect(endpoint, now, remote, port, config.get().cloned().unwrap_or_default())
        }))
    }

    fn carrier(&self, _: Carrier) -> Carrier {
        Carrier::Ip
    }

    fn number(&self, _: Carrier) -> u8 {
        IP_PROTOCOL
    }

    fn header_bytes(&self) -> u32 {
        HEADER_BYTES as u32
    }

    fn max_payload_bytes(&self, config: &EndConfig) -> u64 {
        config.get::<Config>().map_or(0, |config| config.payload_bytes)
    }

    fn declared_rate_bps(&self, _: &EndConfig) -> Option<u64> {
        None
    }

    fn label(&self, segment: SentSegment, _: u64) -> SegmentLabel {
        let kind = if segment.payload_bytes > 0 { "data" } else { "other" };
        (format!("{}{}", segment.number, if segment.is_repeat { " again" } else { "" }), kind)
    }

    fn racers(&self) -> &'static [RacerEntry] {
        &RACERS
    }
}
