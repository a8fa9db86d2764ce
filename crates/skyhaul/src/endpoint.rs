//! Endpoints over UDP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

#[doc(inline)]
pub use skyhaul_net::{Counters, Limits};

use crate::events::Watch;
use crate::{Config, Stream};

/// Options of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointOptions {
    /// Largest IP packet, in bytes, that is sent to any peer or taken from it; at least 296. `None`: 1500, or
    /// more where the route to the only peer takes more; and whatever comes is taken. What a path takes is
    /// found out below that ([`Buffers::discover_mtu`](crate::config::Buffers::discover_mtu)).
    pub mtu_bytes: Option<u32>,
    /// Parameters of the connections that peers open.
    pub accept: Config,
    /// Bounds on the number of connections.
    pub limits: Limits,
    /// Seed of random values (initial numbers, nonces, ports), for tests that must repeat; `None`: the
    /// operating system's, which an attacker cannot guess.
    pub seed: Option<u64>,
    /// Place for the events that somebody wants to see, see [`crate::events`].
    pub watch: Option<Watch>,
}

/// No bound of packets, [`Config::standard`], 1024 connections of which 32 may be unproven, no watch.
impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            mtu_bytes: None,
            accept: Config::standard(),
            limits: Limits::default(),
            seed: None,
            watch: None,
        }
    }
}

impl From<EndpointOptions> for skyhaul_net::EndpointOptions {
    fn from(options: EndpointOptions) -> Self {
        let EndpointOptions { mtu_bytes, accept, limits, seed, watch } = options;
        Self { mtu_bytes, accept: accept.into(), limits, seed, watch, ..Self::default() }
    }
}

/// UDP socket with all connections over it. Clones refer to the same endpoint. A task of the tokio runtime in
/// which it was made does its work; the runtime, of either flavour, must have I/O and time enabled.
///
/// An endpoint lives until the last clone, [`Listener`] and [`Stream`] is dropped and its last connection has
/// come to an end, or until [`Self::close`].
///
/// The path to a peer belongs to the endpoint: all its connections to that peer share one rate.
#[derive(Clone, Debug)]
pub struct Endpoint(skyhaul_net::Endpoint);

impl Endpoint {
    /// Endpoint that peers can reach at `address`: both IPv6 and IPv4 if that is `[::]`. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be bound, or there is no runtime.
    pub fn bind(address: SocketAddr, options: EndpointOptions) -> io::Result<Self> {
        skyhaul_net::Endpoint::bind(address, options.into()).map(Self)
    }

    /// Endpoint on a free port for connections to `peer` alone. The system tells it when nobody receives
    /// there, so that a connection fails at once instead of after
    /// [`Opening::give_up`](crate::config::Opening::give_up). Must be called within a tokio runtime.
    ///
    /// # Errors
    /// There is no way to the peer, or no runtime.
    pub fn client(peer: SocketAddr, options: EndpointOptions) -> io::Result<Self> {
        skyhaul_net::Endpoint::client(peer, options.into()).map(Self)
    }

    /// Accepts connections to `port` from now on, until the listener is dropped. Ports are the protocol's
    /// own, within one endpoint: they have nothing to do with the port of UDP.
    ///
    /// # Errors
    /// There is a listener already; the endpoint is closed.
    pub fn listen(&self, port: u16) -> io::Result<Listener> {
        self.0.listen(port).map(Listener)
    }

    /// Stream to `port` at `peer`, at once: the opening goes with the first data written (or with the first
    /// read, or the end), so that no round trip is spent on a handshake. A refusal shows in the stream's
    /// operations.
    ///
    /// # Errors
    /// The endpoint is closed, full or for another peer; every port towards the peer is taken.
    pub fn open(&self, peer: SocketAddr, port: u16, config: Config) -> io::Result<Stream> {
        self.0.open(peer, port, config.into()).map(Stream)
    }

    /// Stream to `port` at `peer`, when the peer has accepted it: one round trip later than [`Self::open`].
    ///
    /// # Errors
    /// As [`Self::open`]; the peer refuses, or does not answer.
    pub async fn connect(&self, peer: SocketAddr, port: u16, config: Config) -> io::Result<Stream> {
        self.0.connect(peer, port, config.into()).await.map(Stream)
    }

    /// Waits until no connection has anything left to do - all data confirmed, late repeats of the peers
    /// answered - but no longer than `patience`. False if that was not enough. Connections that a [`Stream`]
    /// holds open count.
    pub async fn wait_idle(&self, patience: Duration) -> bool {
        self.0.wait_idle(patience).await
    }

    /// Aborts every connection, tells the peers, and closes the socket. Streams fail from now on.
    pub async fn close(&self) {
        self.0.close().await;
    }

    /// Address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// Counters below the connections.
    pub fn counters(&self) -> Counters {
        self.0.counters()
    }

    /// Number of connections held, closed ones that a stream still holds included.
    pub fn connection_count(&self) -> usize {
        self.0.connection_count()
    }
}

/// Taker of the connections that peers open to a port. When it is dropped, further openings, and connections
/// that nobody has taken yet, are refused.
#[derive(Debug)]
pub struct Listener(skyhaul_net::Listener);

impl Listener {
    /// Next connection; `None` when the endpoint is closed. Loses nothing if dropped before it is ready.
    pub async fn accept(&mut self) -> Option<Stream> {
        self.0.accept().await.map(Stream)
    }
}
