//! Endpoints of STPP, the transport of a satellite hop (`docs/spec/petra.md`, 5 to 7), plain and sealed.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use skyhaul_association::{Associations, PublicKey, SealedEngine};
use skyhaul_petra::stpp;

use crate::options::{Names, StppOptions, plain_room};
use crate::sealed::sealed_room;
use crate::udp::Place;
use crate::{Endpoint, SealedStpp, Stream};

/// Endpoint of STPP.
pub type StppEndpoint = Endpoint<stpp::Endpoint>;
/// Endpoint of STPP whose datagrams are all sealed: as [`SealedEndpoint`](crate::SealedEndpoint).
pub type SealedStppEndpoint = Endpoint<SealedStpp>;

impl StppEndpoint {
    /// Endpoint of STPP that peers can reach at `address`, as [`Endpoint::bind`].
    pub fn bind_stpp(address: SocketAddr, options: StppOptions) -> io::Result<Self> {
        Self::begin_plain(Place::bound(address)?, options)
    }

    /// Endpoint of STPP on a free port for connections to `peer` only, as [`Endpoint::client`].
    pub fn client_stpp(peer: SocketAddr, options: StppOptions) -> io::Result<Self> {
        Self::begin_plain(Place::connected(peer)?, options)
    }

    fn begin_plain(at: (UdpSocket, Place), options: StppOptions) -> io::Result<Self> {
        let limit_bytes = options.accept.receive_limit_bytes;
        Self::start(at, options, limit_bytes, |options| options.stpp_engine(Names::addresses(), plain_room()))
    }

    /// Stream to `port` at `peer`, at once: what is written leaves when the peer has answered. Refusals show
    /// in the stream's operations.
    pub fn open_stpp(
        &self,
        peer: SocketAddr,
        port: u16,
        config: stpp::Config,
    ) -> io::Result<Stream<stpp::Endpoint>> {
        let (peer, limit_bytes) = (self.check_peer(peer)?, config.receive_limit_bytes);
        Stream::begin(&self.handle, peer, limit_bytes, |engine, now| engine.connect(now, peer, port, config))
    }
}

impl SealedStppEndpoint {
    /// Sealed endpoint of STPP that the peers of `associations` can reach at `address`.
    pub fn bind_sealed_stpp(
        address: SocketAddr,
        options: StppOptions,
        associations: Associations,
    ) -> io::Result<Self> {
        Self::begin_sealed(Place::bound(address)?, options, associations)
    }

    /// Sealed endpoint of STPP on a free port for connections to who is at `address` now, as
    /// [`SealedEndpoint::client_sealed`](crate::SealedEndpoint::client_sealed).
    pub fn client_sealed_stpp(
        address: SocketAddr,
        options: StppOptions,
        associations: Associations,
    ) -> io::Result<Self> {
        let (at, _) = Place::reporting(address)?;
        Self::begin_sealed(at, options, associations)
    }

    fn begin_sealed(
        at: (UdpSocket, Place),
        options: StppOptions,
        associations: Associations,
    ) -> io::Result<Self> {
        let limit_bytes = options.accept.receive_limit_bytes;
        Self::start(at, options, limit_bytes, |options| {
            let inner = options.stpp_engine(Names::associations(), sealed_room())?;
            Ok(SealedEngine::new(inner, associations))
        })
    }

    /// Stream to `port` of the peer with this key, which is at `address`, at once: as
    /// [`StppEndpoint::open_stpp`].
    pub fn open_stpp_to(
        &self,
        peer: PublicKey,
        address: SocketAddr,
        port: u16,
        config: stpp::Config,
    ) -> io::Result<Stream<SealedStpp>> {
        let limit_bytes = config.receive_limit_bytes;
        self.begin_with(peer, address, limit_bytes, |engine, id, now| engine.connect(now, id, port, config))
    }
}
