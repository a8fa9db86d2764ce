//! Engine without runtime, socket or clock: time and datagrams go in; datagrams, events and the next deadline
//! come out.
//!
//! For other runtimes, other carriers than UDP, and tests. [`Engine`] is all connections behind one socket;
//! whoever drives it does four things, in a loop:
//!
//! 1. what arrives goes into [`Engine::handle`];
//! 2. [`Engine::handle_timeout`] when [`Engine::deadline`] is reached;
//! 3. [`Engine::poll_transmit`] until it is `None`, and sends what comes out;
//! 4. [`Engine::poll_event`] until it is `None`, and reads and writes as the events say.
//!
//! After any call that changes something (a write, a read, an opening) begin again with 3. A wake-up too many
//! does no harm. Equal calls at equal times with equal seeds give equal bytes. Both ends must agree on what
//! surrounds the bytes: an [`Engine`] puts nothing in front of them, an [`Endpoint`](crate::Endpoint) puts an
//! envelope of one byte.
//!
//! [`crate::manual::sans_io`] shows a whole exchange.

use std::net::SocketAddr;

#[doc(inline)]
pub use skyhaul_core::endpoint::Peer;
use skyhaul_core::{BASE_MTU_BYTES, Connections as _, Engine as _, MIN_IPV6_MTU_BYTES, ip_udp_bytes};
#[doc(inline)]
pub use skyhaul_core::{
    Class, ConnectError, ConnectionId, Ecn, EventSink, Instant, MS, NetworkFields, NullSink, SECOND, Stats,
    StreamError, StreamEvent, Transmit, US, Weight,
};
#[doc(inline)]
pub use skyhaul_net::Limits;

use crate::Config;

/// Options of an engine whose carrier's name of a peer is `P`.
#[derive(Clone, Debug)]
pub struct EngineOptions<P = SocketAddr> {
    /// Largest IP packet on any path, in bytes; at least 296.
    pub mtu_bytes: u32,
    /// Bytes of the headers that the carrier puts around each datagram to a peer: part of that packet and of
    /// every rate.
    pub carrier_bytes: fn(P) -> u32,
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Bounds on the number of connections.
    pub limits: Limits,
}

impl<P> EngineOptions<P> {
    /// Options for a carrier with such headers: packets of 1500 bytes, [`Config::standard`],
    /// [`Limits::default`].
    pub fn new(carrier_bytes: fn(P) -> u32) -> Self {
        Self { mtu_bytes: 1500, carrier_bytes, accept: Config::standard(), limits: Limits::default() }
    }
}

/// [`EngineOptions::new`] for UDP.
impl Default for EngineOptions {
    fn default() -> Self {
        Self::new(|peer| ip_udp_bytes(peer.ip()))
    }
}

/// All connections behind one carrier, as a plain state machine.
///
/// Peers are told apart by what the carrier calls them, `P`: addresses, or any other value. Equal ones are
/// one peer with one path, whose rate its connections share.
#[derive(Clone, Debug)]
pub struct Engine<P: Peer = SocketAddr>(skyhaul_stp::Endpoint<P>);

impl<P: Peer> Engine<P> {
    /// Engine whose random values (initial numbers, nonces, ports) come from `seed`. Take one that nobody can
    /// guess where peers are not trusted.
    pub fn new(options: EngineOptions<P>, seed: u64) -> Self {
        let EngineOptions { mtu_bytes, carrier_bytes, accept, limits } = options;
        let config = skyhaul_stp::EndpointConfig {
            accept: accept.into(),
            mtu_bytes,
            // Not every carrier has IP that could cut packets.
            mtu_search: skyhaul_stp::MtuSearch {
                base_bytes: BASE_MTU_BYTES,
                min_bytes: |_| MIN_IPV6_MTU_BYTES,
                taken_bytes: mtu_bytes,
                link_bytes: 0,
            },
            carrier_bytes,
            head_bytes: 0,
            tail_bytes: 0,
            max_connections: limits.max_connections,
            max_unproven: limits.max_unproven,
            max_early: limits.max_early,
            receive_budget_bytes: limits.receive_budget_bytes,
            // A peer is whatever the carrier calls it: nobody knows which ones are of one host.
            host_of: None,
        };
        Self(skyhaul_stp::Endpoint::new(config, skyhaul_core::Stream::new(seed, "skyhaul/engine")))
    }

    /// Opens a connection to `port` at `peer`. The opening goes with the first data written, or with the
    /// first read or the end.
    ///
    /// # Errors
    /// The engine is full, or every port towards the peer is taken.
    pub fn open(
        &mut self,
        now: Instant,
        peer: P,
        port: u16,
        config: Config,
    ) -> Result<ConnectionId, ConnectError> {
        self.0.connect(now, peer, port, config.into(), true)
    }

    /// Accepts openings to this port from now on.
    pub fn listen(&mut self, port: u16) {
        self.0.listen(port);
    }

    /// Refuses further openings to this port.
    pub fn unlisten(&mut self, port: u16) {
        self.0.unlisten(port);
    }

    /// Connection that a peer opened, not yet handed out.
    pub fn accept(&mut self) -> Option<ConnectionId> {
        self.0.accept()
    }

    /// Takes a datagram that came from `peer`, and what the network wrote on it.
    pub fn handle(
        &mut self,
        now: Instant,
        peer: P,
        fields: NetworkFields,
        datagram: &[u8],
        sink: &mut dyn EventSink,
    ) {
        self.0.handle(now, peer, fields, datagram, sink);
    }

    /// Fills `buffer` (cleared first) with at most `max_datagrams` datagrams to one peer, all of
    /// [`Transmit::segment_bytes`] but the last, which may be smaller. `None`: nothing to send before
    /// [`Self::deadline`].
    pub fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
        max_datagrams: usize,
        sink: &mut dyn EventSink,
    ) -> Option<Transmit<P>> {
        self.0.poll_transmit(now, buffer, max_datagrams, sink)
    }

    /// Time at which [`Self::handle_timeout`] is to be called, provided that [`Self::poll_transmit`] was
    /// called until it was `None`; `None`: nothing is to happen by itself.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }

    /// Fires what is due. Call [`Self::poll_transmit`] next.
    pub fn handle_timeout(&mut self, now: Instant, sink: &mut dyn EventSink) {
        self.0.handle_timeout(now, sink);
    }

    /// Next event for the application.
    pub fn poll_event(&mut self) -> Option<(ConnectionId, StreamEvent)> {
        self.0.poll_event()
    }

    /// Takes as much of `data` as the send buffer has room for; 0 means: wait for [`StreamEvent::Writable`].
    ///
    /// # Errors
    /// The connection is gone, or was finished.
    pub fn write(&mut self, id: ConnectionId, data: &[u8]) -> Result<usize, StreamError> {
        self.0.write(id, data)
    }

    /// Reads: `Some(0)` at the end of the stream, `None` when nothing is there yet.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn read(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.0.read(id, out)
    }

    /// Ends our direction: nothing more will be written. [`StreamEvent::Finished`] tells that all is
    /// confirmed.
    pub fn finish(&mut self, id: ConnectionId) {
        self.0.finish(id);
    }

    /// Breaks a connection off; the peer is told.
    pub fn abort(&mut self, id: ConnectionId) {
        self.0.abort(id);
    }

    /// Lets go of a connection: what was written is delivered, and it is forgotten when it is over. Each
    /// connection, opened or accepted, must be released for its place to become free.
    pub fn release(&mut self, now: Instant, id: ConnectionId) {
        self.0.release(now, id);
    }

    /// Gives a connection so much of its path's rate beside others of this engine to the same peer.
    pub fn set_weight(&mut self, id: ConnectionId, weight: Weight) {
        self.0.set_weight(id, weight);
    }

    /// Counters of a connection; `None` once it is forgotten.
    pub fn stats(&self, id: ConnectionId) -> Option<Stats> {
        self.0.stats(id)
    }

    /// Peer of a connection.
    pub fn peer(&self, id: ConnectionId) -> Option<P> {
        self.0.remote(id)
    }

    /// Number of connections held, closed ones that were not released included.
    pub fn connection_count(&self) -> usize {
        self.0.connection_count()
    }
}
