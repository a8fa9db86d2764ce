//! STP under a seal, as real endpoints have it: `protocol = "sealed-stp"`.

mod host;

use skyhaul_association::{OVERHEAD_BYTES, protected_mode};
use skyhaul_core::packet::ip_protocol;
use skyhaul_scenario::{
    Carrier, EndConfig, HostEngine, HostSetup, Page, Protocol, Purpose, ScenarioError, SegmentLabel,
    SentSegment, TransportTable,
};
use skyhaul_stp::Config;

use super::stp::STP;
use host::SealedHost;

/// STP whose segments travel sealed (`docs/spec/protection.md`). Its parameters are STP's. Hosts of a
/// scenario are paired with each other: each knows the key of every other one, and a token from the second
/// handshake on.
#[derive(Clone, Copy, Debug)]
pub struct SealedStp;

/// The one value of [`SealedStp`].
pub static SEALED_STP: SealedStp = SealedStp;

impl SealedStp {
    /// Parameters of an end.
    pub fn end(self, config: Config) -> EndConfig {
        EndConfig::new(&SEALED_STP, config)
    }

    /// Parameters of an end that speaks STP, under a seal.
    fn of_stp(self, config: &EndConfig) -> EndConfig {
        self.end(config.get().cloned().unwrap_or_else(Config::standard))
    }
}

impl Protocol for SealedStp {
    fn name(&self) -> &'static str {
        "sealed-stp"
    }

    fn key_names(&self) -> Vec<&'static str> {
        STP.key_names()
    }

    fn read(&self, table: &TransportTable<'_>) -> Result<[EndConfig; 2], ScenarioError> {
        STP.read(table).map(|ends| ends.map(|end| self.of_stp(&end)))
    }

    fn describe(&self, page: &mut Page) {
        page.prose(
            "[transports.NAME], protocol = \"sealed-stp\"",
            "STP with every datagram sealed, as `skyhaul send` does it to a paired peer; always over UDP. The keys are \
             those of `protocol = \"stp\"`. All hosts are paired. A connection to a host with which none is \
             open begins with a handshake; the first one has no token, later ones have.",
        );
    }

    fn engine(&self, setup: &HostSetup<'_>) -> Box<dyn HostEngine> {
        Box::new(SealedHost::new(setup))
    }

    /// UDP, as of real endpoints.
    fn carrier(&self, _: Carrier) -> Carrier {
        Carrier::Udp
    }

    /// None: the head of each record begins with the octet of the envelope.
    fn envelope_bytes(&self, _: Carrier) -> u32 {
        0
    }

    fn number(&self, _: Carrier) -> u8 {
        ip_protocol::UDP
    }

    fn header_bytes(&self) -> u32 {
        STP.header_bytes() + OVERHEAD_BYTES as u32
    }

    fn receiving(&self, config: &EndConfig) -> EndConfig {
        self.of_stp(&STP.receiving(config))
    }

    fn max_payload_bytes(&self, config: &EndConfig) -> u64 {
        STP.max_payload_bytes(config)
    }

    fn declared_rate_bps(&self, config: &EndConfig) -> Option<u64> {
        STP.declared_rate_bps(config)
    }

    fn judges_losses(&self) -> bool {
        STP.judges_losses()
    }

    fn purpose(&self, types: u8) -> Purpose {
        STP.purpose(types)
    }

    fn label(&self, segment: SentSegment, first: u64) -> SegmentLabel {
        match segment.types {
            host::OWN_TYPES => ("handshake".into(), "other"),
            _ => STP.label(segment, first),
        }
    }
}

/// True if a datagram is a message or a record under a seal.
fn is_sealed(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|&first| protected_mode(first).is_ok())
}
