//! Endpoints whose datagrams are all sealed: `docs/spec/protection.md`.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use skyhaul_association::aead::AeadName;
use skyhaul_association::{
    AssociationId, Associations, Config as AssociationConfig, Counters as SealCounters, Event, Offer, PeerId,
    PublicKey, SealedEngine,
};
use skyhaul_core::envelope::Mode;
use skyhaul_core::{ConnectError, ConnectionId, Instant};
use skyhaul_stp::Config;

use crate::address::as_peer;
use crate::endpoint::route_bytes;
use crate::options::Names;
use crate::shared::notify;
use crate::udp::{Datagrams, Place};
use crate::{Endpoint, EndpointError, EndpointOptions, SealedStp, Stream};

/// Endpoint whose datagrams are all sealed. It talks to peers that it knows, and nobody else gets an answer.
/// Either end may get another address meanwhile.
pub type SealedEndpoint = Endpoint<SealedStp>;

/// Seal of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Who is at the other end, by its name at this endpoint.
    pub peer: PeerId,
    /// Its public key.
    pub key: PublicKey,
    /// What it protects from.
    pub mode: Mode,
    /// AEAD of the keys in use; `None` before the peer has answered.
    pub aead: Option<AeadName>,
}

/// Decisions for associations of this machine: AES is offered where the processor has it.
pub fn machine_config() -> AssociationConfig {
    AssociationConfig { offer: Offer { aes: has_aes() }, ..AssociationConfig::default() }
}

/// True if the processor has AES and the multiplication that GCM needs.
fn has_aes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}

impl SealedEndpoint {
    /// Sealed endpoint that the peers of `associations` can reach at `address`, as [`Endpoint::bind`].
    pub fn bind_sealed(
        address: SocketAddr,
        options: EndpointOptions,
        associations: Associations,
    ) -> io::Result<Self> {
        Self::begin(Place::bound(address)?, options, associations, None)
    }

    /// Sealed endpoint on a free port for connections to who is at `address` now. The system tells it when
    /// nobody receives there; that ends what is being opened, and nothing that is protected.
    pub fn client_sealed(
        address: SocketAddr,
        options: EndpointOptions,
        associations: Associations,
    ) -> io::Result<Self> {
        let (at, route) = Place::reporting(address)?;
        Self::begin(at, options, associations, route_bytes(&route, as_peer(address)))
    }

    fn begin(
        at: (UdpSocket, Place),
        options: EndpointOptions,
        associations: Associations,
        route_bytes: Option<u32>,
    ) -> io::Result<Self> {
        let limit_bytes = options.accept.receive_limit_bytes;
        Self::start(at, options, limit_bytes, |options| {
            Ok(SealedEngine::new(
                options.engine_of(route_bytes, Names::associations(), sealed_room())?,
                associations,
            ))
        })
    }

    /// Stream to `port` of the peer with this key, which is at `address`, at once: as [`Endpoint::open`].
    pub fn open_to(
        &self,
        peer: PublicKey,
        address: SocketAddr,
        port: u16,
        config: Config,
    ) -> io::Result<Stream<SealedStp>> {
        self.begin_to(peer, address, port, config, true)
    }

    /// Stream to `port` of the peer with this key, which is at `address`, when it has accepted: as
    /// [`Endpoint::connect`].
    pub async fn connect_to(
        &self,
        peer: PublicKey,
        address: SocketAddr,
        port: u16,
        config: Config,
    ) -> io::Result<Stream<SealedStp>> {
        let stream = self.begin_to(peer, address, port, config, false)?;
        stream.connected().await?;
        Ok(stream)
    }

    fn begin_to(
        &self,
        peer: PublicKey,
        address: SocketAddr,
        port: u16,
        config: Config,
        held: bool,
    ) -> io::Result<Stream<SealedStp>> {
        let limit_bytes = config.receive_limit_bytes;
        self.begin_with(peer, address, limit_bytes, |engine, id, now| {
            engine.connect(now, id, port, config, held)
        })
    }
}

/// Room that a seal needs in front of a segment, and behind.
pub(crate) fn sealed_room() -> (u32, u32) {
    (SealedEngine::<()>::HEAD_BYTES, SealedEngine::<()>::TAIL_BYTES)
}

/// Parts that no protocol under the seal makes a difference to.
impl<E: Datagrams<Peer = AssociationId>> Endpoint<SealedEngine<E>> {
    /// Stream over the connection that `connect` opens to the peer with this key, which is at `address`. Its
    /// reader is given so many octets at most.
    pub(crate) fn begin_with(
        &self,
        key: PublicKey,
        address: SocketAddr,
        limit_bytes: u64,
        connect: impl FnOnce(&mut E, AssociationId, Instant) -> Result<ConnectionId, ConnectError>,
    ) -> io::Result<Stream<SealedEngine<E>>> {
        let address = self.check_peer(address)?;
        let id = self.association(key, address)?;
        Stream::begin(&self.handle, address, limit_bytes, |engine, now| connect(engine.inner_mut(), id, now))
    }

    /// Association with a peer at an address: that which there is, or a new one.
    fn association(&self, key: PublicKey, address: SocketAddr) -> io::Result<AssociationId> {
        let mut state = self.shared().lock();
        state.check()?;
        let associations = state.engine.associations_mut();
        let peer = associations.peer_of(key).ok_or(EndpointError::UnknownPeer)?;
        let found = associations.find(peer, address);
        let id = found.or_else(|| associations.open(self.shared().now(), peer, address));
        Ok(id.ok_or(EndpointError::TooManyAssociations)?)
    }

    /// Seal of a connection; `None` once it is gone.
    pub fn seal_of(&self, id: ConnectionId) -> Option<Seal> {
        let state = self.shared().lock();
        let associations = state.engine.associations();
        let id = state.engine.inner().remote(id)?;
        let peer = associations.peer(id)?;
        let (key, mode) = (associations.key_of(peer)?, associations.mode(peer)?);
        Some(Seal { peer, key, mode, aead: associations.aead(id) })
    }

    /// Next event that waits, for whoever writes tokens and counters down.
    pub fn take_event(&self) -> Option<Event> {
        self.shared().lock().engine.associations_mut().poll_event()
    }

    /// Next event; `None` when there will be none, as the endpoint is closed.
    pub async fn next_event(&self) -> Option<Event> {
        loop {
            let told = self.shared().news.notified();
            if let Some(event) = self.take_event() {
                return Some(event);
            }
            if !self.shared().lock().has_driver() {
                return None;
            }
            told.await;
        }
    }

    /// Gives who looks after the endpoint its associations, for a change: of peers, or of their counters.
    pub fn change_associations<T>(&self, change: impl FnOnce(&mut Associations) -> T) -> T {
        let mut state = self.shared().lock();
        let changed = change(state.engine.associations_mut());
        notify(state);
        changed
    }

    /// Counters of what was refused under the seal, and why.
    pub fn seal_counters(&self) -> SealCounters {
        self.shared().lock().engine.associations().counters()
    }
}
