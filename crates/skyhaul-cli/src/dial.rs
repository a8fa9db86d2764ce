//! Ways to begin a transfer at an address: plain, or sealed to a peer.

use std::io;
use std::net::SocketAddr;

use skyhaul_net::{Endpoint, EndpointOptions, Stream};
use skyhaul_store::KnownPeer;
use skyhaul_stp::Config;

use crate::failure::Failure;
use crate::sealed::{Keys, SealedEnd};
use crate::send::cannot_send;
use crate::transport::TransportEnd;

/// Way to begin a transfer over UDP.
pub(crate) trait Dial {
    /// This end.
    type End: TransportEnd + Clone;

    /// End for one address of the receiver.
    fn end(&self, peer: SocketAddr, options: EndpointOptions) -> Result<Self::End, Failure>;

    /// Address of an end.
    fn local_addr(end: &Self::End) -> SocketAddr;

    /// Stream to a port of the receiver.
    fn open(
        &self,
        end: &Self::End,
        peer: SocketAddr,
        port: u16,
        config: Config,
    ) -> Result<Stream<<Self::End as TransportEnd>::Protocol>, Failure>;

    /// Waits until a port of the receiver has answered, or fails with the reason why it has not.
    async fn connect(&self, end: &Self::End, peer: SocketAddr, port: u16, config: Config) -> io::Result<()>;
}

/// Without protection.
pub(crate) struct Plain;

impl Dial for Plain {
    type End = Endpoint;

    fn end(&self, peer: SocketAddr, options: EndpointOptions) -> Result<Endpoint, Failure> {
        Endpoint::client(peer, options).map_err(|error| cannot_send(peer, error))
    }

    fn local_addr(end: &Endpoint) -> SocketAddr {
        end.local_addr()
    }

    fn open(&self, end: &Endpoint, peer: SocketAddr, port: u16, config: Config) -> Result<Stream, Failure> {
        end.open(peer, port, config).map_err(|error| cannot_send(peer, error))
    }

    async fn connect(&self, end: &Endpoint, peer: SocketAddr, port: u16, config: Config) -> io::Result<()> {
        Endpoint::connect(end, peer, port, config).await.map(drop)
    }
}

/// Sealed to this peer.
pub(crate) struct Sealed {
    pub(crate) keys: Keys,
    pub(crate) peer: KnownPeer,
}

impl Dial for Sealed {
    type End = SealedEnd;

    fn end(&self, peer: SocketAddr, options: EndpointOptions) -> Result<SealedEnd, Failure> {
        SealedEnd::calling(&self.keys, &self.peer, peer, options)
    }

    fn local_addr(end: &SealedEnd) -> SocketAddr {
        end.endpoint.local_addr()
    }

    fn open(
        &self,
        end: &SealedEnd,
        peer: SocketAddr,
        port: u16,
        config: Config,
    ) -> Result<Stream<skyhaul_net::SealedStp>, Failure> {
        end.endpoint.open_to(self.peer.key, peer, port, config).map_err(|error| cannot_send(peer, error))
    }

    async fn connect(&self, end: &SealedEnd, peer: SocketAddr, port: u16, config: Config) -> io::Result<()> {
        end.endpoint.connect_to(self.peer.key, peer, port, config).await.map(drop)
    }
}
