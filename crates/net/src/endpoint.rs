//! A UDP endpoint: one socket, one driver task, many connections.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use skyhaul_stp::Config;

use crate::address::as_peer;
use crate::driver::{Outlook, start};
use crate::handle::Handle;
use crate::shared::Shared;
use crate::udp::{OverUdp, Place, Udp};
use crate::{Clock, Counters, EndpointError, EndpointOptions, Listener, Stream, udp};

/// One UDP socket with all connections over it. Clones refer to the same endpoint. Its work is done
/// by a task of the tokio runtime in which it was made, of either flavour, with I/O enabled.
///
/// The endpoint lives until the last clone, [`Listener`] and [`Stream`] is dropped and its last
/// connection has come to an end, or until [`Self::close`].
pub struct Endpoint<P: OverUdp = skyhaul_stp::Endpoint> {
    pub(crate) handle: Arc<Handle<P>>,
    pub(crate) place: Place,
}

impl<P: OverUdp> Clone for Endpoint<P> {
    fn clone(&self) -> Self {
        Self { handle: Arc::clone(&self.handle), place: self.place }
    }
}

/// Endpoint without protection.
impl Endpoint {
    /// An endpoint that peers can reach at `address` (both IPv6 and IPv4 if that is `[::]`). Must be
    /// called within a tokio runtime.
    pub fn bind(address: SocketAddr, options: EndpointOptions) -> io::Result<Self> {
        Self::start_stp(Place::bound(address)?, options, None)
    }

    /// An endpoint on a free port for connections to `peer` only. The system tells it when nobody
    /// receives there. Must be called within a tokio runtime.
    pub fn client(peer: SocketAddr, options: EndpointOptions) -> io::Result<Self> {
        let (socket, place) = Place::connected(peer)?;
        let route_bytes = route_bytes(&socket, as_peer(peer));
        Self::start_stp((socket, place), options, route_bytes)
    }

    fn start_stp(
        at: (UdpSocket, Place),
        options: EndpointOptions,
        route_bytes: Option<u32>,
    ) -> io::Result<Self> {
        let limit_bytes = options.accept.receive_limit_bytes;
        Self::start(at, options, limit_bytes, |options| options.engine(route_bytes))
    }

    /// A stream to `port` at `peer`, at once: the opening goes with the first data written (or with
    /// the first read, or the end), so that no round trip is spent on a handshake. Refusals show in
    /// the stream's operations.
    pub fn open(&self, peer: SocketAddr, port: u16, config: Config) -> io::Result<Stream> {
        self.begin(peer, port, config, true)
    }

    /// A stream to `port` at `peer`, when the peer has accepted it.
    pub async fn connect(&self, peer: SocketAddr, port: u16, config: Config) -> io::Result<Stream> {
        let stream = self.begin(peer, port, config, false)?;
        stream.connected().await?;
        Ok(stream)
    }

    fn begin(&self, peer: SocketAddr, port: u16, config: Config, held: bool) -> io::Result<Stream> {
        let peer = self.check_peer(peer)?;
        let limit_bytes = config.receive_limit_bytes;
        Stream::begin(&self.handle, peer, limit_bytes, |engine, now| {
            engine.connect(now, peer, port, config, held)
        })
    }
}

impl<P: OverUdp> Endpoint<P> {
    /// Endpoint at a socket, of the engine that its options make. An accepted connection keeps so many octets
    /// for its reader, at most.
    pub(crate) fn start<C>(
        (socket, place): (UdpSocket, Place),
        options: EndpointOptions<C>,
        accept_limit_bytes: u64,
        engine: impl FnOnce(EndpointOptions<C>) -> io::Result<P>,
    ) -> io::Result<Self> {
        let (watch, capture) = (options.watch.clone(), options.capture.clone());
        let outlook = Outlook { watch, capture, accept_limit_bytes, tells_all: P::TELLS_ALL };
        let shared = start(engine(options)?, || Udp::new(socket, place), outlook)?;
        Ok(Self { handle: Arc::new(Handle(shared)), place })
    }

    /// `peer` as this endpoint knows it, if it talks to that.
    pub(crate) fn check_peer(&self, peer: SocketAddr) -> Result<SocketAddr, EndpointError> {
        let peer = as_peer(peer);
        if self.place.peer.is_some_and(|only| only != peer) {
            Err(EndpointError::OtherPeer)
        } else {
            Ok(peer)
        }
    }

    /// Accepts connections to `port` (of the protocol, not of UDP) from now on, until the
    /// listener is dropped.
    pub fn listen(&self, port: u16) -> io::Result<Listener<P>> {
        Listener::begin(&self.handle, port, usize::MAX)
    }

    /// Waits until no connection has anything left to do - all data confirmed, late repeats of the peers
    /// answered - but no longer than `patience`. False if that was not enough. Connections that a
    /// [`Stream`] holds open count. Needs the runtime's timer.
    pub async fn wait_idle(&self, patience: Duration) -> bool {
        self.handle.wait_idle(patience).await
    }

    /// Waits until every connection has ended at both ends and said its last words, but no longer than
    /// `patience`; false if that was not enough. Late repeats of a peer whose own last words are not
    /// confirmed stay without an answer if the program ends now: for one to which nothing of the peer's
    /// depends on that. Needs the runtime's timer.
    pub async fn wait_ended(&self, patience: Duration) -> bool {
        self.handle.wait_ended(patience).await
    }

    /// Aborts every connection, tells the peers, and closes the socket. Streams fail from now on.
    /// Needs the runtime's timer.
    pub async fn close(&self) {
        self.handle.close().await;
    }

    /// Address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.place.local
    }

    /// The clock by which this endpoint's connections tell time, as in
    /// [`Stats::last_heard`](skyhaul_core::Stats::last_heard).
    pub fn clock(&self) -> Clock {
        self.shared().clock
    }

    /// Counters below the connections.
    pub fn counters(&self) -> Counters {
        self.shared().lock().counters
    }

    /// Counters of the engine for segments that belong to no connection.
    pub fn stats(&self) -> P::Stats {
        self.shared().lock().engine.endpoint_stats()
    }

    /// Connections held, closed ones that a stream still holds included.
    pub fn connection_count(&self) -> usize {
        self.shared().lock().engine.connection_count()
    }

    pub(crate) fn shared(&self) -> &Shared<P> {
        &self.handle.0
    }
}

/// Largest packet that the route of a socket to its peer takes, as far as the system knows. What stands
/// behind an address of this machine is a relay or an emulated link, more often than not.
pub(crate) fn route_bytes(connected: &UdpSocket, peer: SocketAddr) -> Option<u32> {
    let is_elsewhere = !peer.ip().to_canonical().is_loopback();
    if is_elsewhere { udp::route_mtu_bytes(connected) } else { None }
}

impl<P: OverUdp> std::fmt::Debug for Endpoint<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("local", &self.local_addr()).finish_non_exhaustive()
    }
}
