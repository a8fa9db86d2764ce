//! A UDP endpoint: one socket, one driver task, many connections.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use skyhaul_core::{ConnectionId, Connections};
use skyhaul_stp::{Config, EndpointStats};
use tokio::runtime;

use crate::address::{as_peer, normalised};
use crate::driver::Driver;
use crate::entry::Entry;
use crate::shared::{Handle, Shared, notify};
use crate::state::{Life, State};
use crate::watch::Sink;
use crate::{Clock, Counters, EndpointError, EndpointOptions, Listener, Stream, errors, socket};

/// How long [`Endpoint::close`] tries to tell the peers.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// One UDP socket with all connections over it. Clones refer to the same endpoint. Its work is done
/// by a task of the tokio runtime in which it was made, of either flavour, with I/O enabled.
///
/// The endpoint lives until the last clone, [`Listener`] and [`Stream`] is dropped and its last
/// connection has come to an end, or until [`Self::close`].
#[derive(Clone)]
pub struct Endpoint {
    handle: Arc<Handle>,
}

impl Endpoint {
    /// An endpoint that peers can reach at `address` (both IPv6 and IPv4 if that is `[::]`). Must be
    /// called within a tokio runtime.
    pub fn bind(address: SocketAddr, options: EndpointOptions) -> io::Result<Self> {
        Self::start(socket::bound(normalised(address))?, None, options)
    }

    /// An endpoint on a free port for connections to `peer` only. The system tells it when nobody
    /// receives there. Must be called within a tokio runtime.
    pub fn client(peer: SocketAddr, options: EndpointOptions) -> io::Result<Self> {
        let peer = as_peer(peer);
        Self::start(socket::connected(peer)?, Some(peer), options)
    }

    fn start(socket: UdpSocket, peer: Option<SocketAddr>, options: EndpointOptions) -> io::Result<Self> {
        let runtime = runtime::Handle::try_current().map_err(io::Error::other)?;
        let (mtu_bytes, protection) = (options.mtu_bytes, options.protection);
        let sink = Sink(options.watch.clone());
        let state = State::new(options)?;
        let local = normalised(socket.local_addr()?);
        let shared = Arc::new(Shared::new(state, Clock::start(), local, peer));
        runtime.spawn(Driver::new(Arc::clone(&shared), socket, mtu_bytes, protection, sink)?);
        Ok(Self { handle: Arc::new(Handle(shared)) })
    }

    /// Accepts connections to `port` (a port of STP, not of UDP) from now on, until the listener is dropped.
    pub fn listen(&self, port: u16) -> io::Result<Listener> {
        self.shared().lock().listen(port)?;
        Ok(Listener::new(Arc::clone(&self.handle)))
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
        let peer = as_peer(peer);
        let shared = self.shared();
        if shared.peer.is_some_and(|only| only != peer) {
            return Err(EndpointError::OtherPeer.into());
        }
        let limit = config.receive_limit_bytes;
        let mut state = shared.lock();
        state.check()?;
        let connected = state.engine.connect(shared.now(), peer, port, config, held);
        let id: ConnectionId = connected.map_err(errors::connect)?;
        state.entries.insert(id, Entry::new(false, limit));
        notify(state);
        Ok(Stream::new(Arc::clone(&self.handle), id, peer))
    }

    /// Waits until no connection has anything left to do - all data confirmed, late repeats of the peers
    /// answered - but no longer than `patience`. False if that was not enough. Connections that a
    /// [`Stream`] holds open count. Needs the runtime's timer.
    pub async fn wait_idle(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.idle()).await.is_ok()
    }

    /// Only the driver knows when the last word has been sent: it is asked to look, and tells.
    async fn idle(&self) {
        let told = self.shared().idle.notified();
        if self.ask(|_| {}) {
            told.await;
        }
    }

    /// Aborts every connection, tells the peers, and closes the socket. Streams fail from now on.
    /// Needs the runtime's timer.
    pub async fn close(&self) {
        let ended = self.shared().ended.notified();
        let is_alive = self.ask(|state| {
            state.life = Life::Closing;
            state.abort_all();
        });
        if is_alive {
            let _ = tokio::time::timeout(CLOSE_PATIENCE, ended).await;
        }
    }

    /// Changes the state and has the driver look at it. False if there is no driver any more.
    fn ask(&self, change: impl FnOnce(&mut State)) -> bool {
        let mut state = self.shared().lock();
        if matches!(state.life, Life::Ended | Life::Failed) {
            return false;
        }
        change(&mut state);
        notify(state);
        true
    }

    /// Address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared().local
    }

    /// The clock by which this endpoint's connections tell time, as in
    /// [`Stats::last_heard`](skyhaul_stp::Stats::last_heard).
    pub fn clock(&self) -> Clock {
        self.shared().clock
    }

    /// What was counted below the connections.
    pub fn counters(&self) -> Counters {
        self.shared().lock().counters
    }

    /// What the engine counted of segments that belong to no connection.
    pub fn stats(&self) -> EndpointStats {
        self.shared().lock().engine.endpoint_stats()
    }

    /// Connections held, closed ones that a stream still holds included.
    pub fn connection_count(&self) -> usize {
        self.shared().lock().engine.connection_count()
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.handle.0
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("local", &self.local_addr()).finish_non_exhaustive()
    }
}
