//! Engine of a simulated host whose STP travels sealed.

use std::any::Any;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use skyhaul_association::{
    AssociationId, Associations, Config as SealConfig, Event as SealEvent, Identity, PeerId, PeerSettings,
    SealedEngine, Secret, Token,
};
use skyhaul_core::endpoint::Hosted;
use skyhaul_core::envelope::Mode;
use skyhaul_core::{
    ConnectError, ConnectionId, Engine, Event, EventSink, Instant, NetworkFields, Stream, Transmit,
};
use skyhaul_scenario::{Carrier, EndConfig, HostEngine, HostSetup};
use skyhaul_stp::{Config, Endpoint};

use super::is_sealed;
use crate::protocols::stp::endpoint_config;

type SealedEndpoint = SealedEngine<Endpoint<AssociationId>>;

/// Type bits of a datagram of the associations' own, which is no segment.
pub(super) const OWN_TYPES: u8 = 0;

/// Endpoint of a host, its associations, and the hosts that it has dealt with. Keys follow from addresses and
/// the run's seed, so that every host knows those of all others: there is nobody to keep out.
#[derive(Debug)]
pub(super) struct SealedHost {
    engine: SealedEndpoint,
    /// At most [`skyhaul_association::MAX_PEERS`]; further hosts get no connection.
    peers: BTreeMap<IpAddr, PeerId>,
}

/// Identity of the host at this address.
fn identity(address: IpAddr) -> Identity {
    let octets = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    };
    Identity::new(Secret::new(blake3::derive_key("skyhaul simulated host", &octets)))
}

/// Secret of a host that nothing else is drawn from.
fn seed(mut stream: Stream) -> Secret {
    let mut octets = [0; 32];
    for eight in octets.chunks_exact_mut(8) {
        eight.copy_from_slice(&stream.next_u64().to_be_bytes());
    }
    Secret::new(octets)
}

impl SealedHost {
    /// Engine of a host of a scenario.
    pub(super) fn new(setup: &HostSetup<'_>) -> Self {
        let room = (SealedEndpoint::HEAD_BYTES, SealedEndpoint::TAIL_BYTES);
        let config = endpoint_config(setup, Carrier::Udp, room);
        let associations =
            Associations::new(SealConfig::default(), identity(setup.address), seed(setup.stream("/seal")));
        let endpoint = Endpoint::new(config, setup.stream("/sealed-stp"));
        Self { engine: SealedEngine::new(endpoint, associations), peers: BTreeMap::new() }
    }

    /// Peer at an address. Its memory of tokens and counters is that of the run.
    fn peer(&mut self, address: IpAddr) -> Option<PeerId> {
        if let Some(&peer) = self.peers.get(&address) {
            return Some(peer);
        }
        let (key, psk) = (identity(address).public(), Secret::new([0; 32]));
        let settings = PeerSettings { key, psk, mode: Mode::Encrypted, token: Token::NONE, reserved: 0 };
        let peer = self.engine.associations_mut().add_peer(settings).ok()?;
        self.peers.insert(address, peer);
        self.reserve();
        Some(peer)
    }

    /// Owner's part: the counters that are asked for are nobody else's.
    fn reserve(&mut self) {
        let associations = self.engine.associations_mut();
        while let Some(event) = associations.poll_event() {
            if let SealEvent::Reserve { peer, up_to } = event {
                associations.reserved(peer, up_to.saturating_sub(skyhaul_association::RESERVATION)..up_to);
            }
        }
    }

    /// Association for a further connection: that of the connections that there are, or a new one.
    fn association(&mut self, now: Instant, remote: SocketAddr) -> Option<AssociationId> {
        let peer = self.peer(remote.ip())?;
        if let Some(id) = self.engine.associations().find(peer, remote) {
            if self.engine.inner_mut().has_connection_to(id) {
                return Some(id);
            }
            self.engine.associations_mut().close(id);
        }
        self.engine.associations_mut().open(now, peer, remote)
    }
}

/// [`skyhaul_core::Connections`] comes with it.
impl Hosted for SealedHost {
    type Family = <Endpoint<AssociationId> as Hosted>::Family;

    fn endpoint(&self) -> &skyhaul_core::endpoint::Endpoint<Self::Family> {
        self.engine.inner().endpoint()
    }

    fn endpoint_mut(&mut self) -> &mut skyhaul_core::endpoint::Endpoint<Self::Family> {
        self.engine.inner_mut().endpoint_mut()
    }
}

impl HostEngine for SealedHost {
    fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        fields: NetworkFields,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    ) {
        self.peer(from.ip());
        self.engine.handle(now, from, fields, bytes, sink);
        self.reserve();
    }

    fn claims(&self, _: SocketAddr, _: NetworkFields, bytes: &[u8]) -> bool {
        is_sealed(bytes)
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_segments: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<SocketAddr>> {
        let (was_sealed, mut told) =
            (self.engine.has_sealed(), Told { wants: sink.wants(), ..Told::default() });
        let transmit = self.engine.poll_transmit(now, buffer, max_segments, &mut told)?;
        let is_in_front = self.engine.has_sealed();
        if sink.wants() && (is_in_front || !was_sealed && told.segments == 0) {
            let wire_bytes = Carrier::Udp.header_bytes() + buffer.len() as u32;
            let (types, number) = (OWN_TYPES, 0);
            sink.emit(now, 0, Event::Sent { types, number, payload_bytes: 0, wire_bytes, repeat: None });
        }
        let datagrams = buffer.len().div_ceil(transmit.segment_bytes.max(1));
        // What an unproven address may not have is not sealed, and does not leave.
        let mut unsealed = if is_in_front { 0 } else { told.segments.saturating_sub(datagrams) };
        while unsealed > 0
            && let Some((.., event)) = told.events.pop()
        {
            unsealed -= usize::from(is_sent(&event));
        }
        for (at, id, event) in told.events {
            sink.emit(at, id, event);
        }
        Some(transmit)
    }

    fn deadline(&self) -> Option<Instant> {
        self.engine.deadline()
    }

    fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        self.engine.handle_timeout(now, sink);
        self.reserve();
    }

    fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        port: u16,
        config: &EndConfig,
    ) -> Result<ConnectionId, ConnectError> {
        let config = config.get().cloned().unwrap_or_else(Config::standard);
        let association = self.association(now, remote).ok_or(ConnectError::TooManyConnections)?;
        self.engine.inner_mut().connect(now, association, port, config, true)
    }

    /// None: numbers of a key are used once.
    fn copied(&self) -> Option<Box<dyn HostEngine>> {
        None
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn is_sent(event: &Event) -> bool {
    matches!(event, Event::Sent { .. })
}

/// Events of one call, held back: what leaves first is told first.
#[derive(Debug, Default)]
struct Told {
    wants: bool,
    events: Vec<(Instant, ConnectionId, Event)>,
    /// Segments that they tell of.
    segments: usize,
}

impl EventSink for Told {
    fn wants(&self) -> bool {
        self.wants
    }

    fn emit(&mut self, now: Instant, connection: ConnectionId, event: Event) {
        self.segments += usize::from(is_sent(&event));
        self.events.push((now, connection, event));
    }
}
