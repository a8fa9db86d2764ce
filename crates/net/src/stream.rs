//! A connection as a byte stream for tokio.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use skyhaul_core::{CloseReason, ConnectError, ConnectionId, Instant, Stats, Weight};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::Connection;
use crate::entry::Entry;
use crate::handle::Handle;
use crate::shared::notify;
use crate::{Monitor, OwnedReadHalf, OwnedWriteHalf, Protocol, errors};

/// A connection as a byte stream.
///
/// `shutdown` ends our direction and resolves when the peer has *confirmed* all data and the end;
/// the other direction stays open. Dropping the stream before a shutdown was begun breaks the
/// connection off and tells the peer, so that a writer that fails never looks like one that has
/// finished. Dropped after that, the connection finishes in the background.
///
/// Errors carry a [`CloseReason`] that can be downcast to. The two directions may be used by two
/// tasks: by [`Self::into_split`] or [`tokio::io::split`].
#[derive(Debug)]
pub struct Stream<P: Protocol = skyhaul_stp::Endpoint> {
    connection: Arc<Connection<P>>,
}

impl<P: Protocol> Stream<P> {
    pub(crate) fn new(handle: Arc<Handle<P>>, id: ConnectionId, peer: SocketAddr) -> Self {
        Self { connection: Arc::new(Connection::new(handle, id, peer)) }
    }

    /// A stream to `peer` over the connection that `connect` opens, whose reader is given so many bytes at
    /// most.
    pub(crate) fn begin(
        handle: &Arc<Handle<P>>,
        peer: SocketAddr,
        limit_bytes: u64,
        connect: impl FnOnce(&mut P, Instant) -> Result<ConnectionId, ConnectError>,
    ) -> io::Result<Self> {
        let mut state = handle.0.lock();
        state.check()?;
        let id = connect(&mut state.engine, handle.0.now()).map_err(errors::connect)?;
        state.entries.insert(id, Entry::new(false, limit_bytes));
        notify(state);
        Ok(Self::new(Arc::clone(handle), id, peer))
    }

    /// Connection of the stream.
    pub(crate) fn connection(&self) -> &Connection<P> {
        &self.connection
    }

    /// Waits for the peer to accept.
    pub(crate) async fn connected(&self) -> io::Result<()> {
        poll_fn(|cx| self.connection.poll_connected(cx)).await
    }

    /// Waits until what the peer sent is known to be its own, and of now; false if the connection is gone
    /// before. What came before that of a connection which a peer opened has no forward secrecy under a seal,
    /// and may be forged by who stole this end's key; without a seal it may be a copy that somebody else
    /// sends again. Who overwrites, deletes or forwards waits for this: a round trip at most. Of a connection
    /// that this end opened it is so as soon as the peer has answered.
    pub async fn confirmed(&self) -> bool {
        self.monitor().confirmed().await
    }

    /// Counters of the connection.
    pub fn stats(&self) -> Stats {
        self.connection.stats()
    }

    /// From now on what is written here gets so much of the path's rate beside other connections of the same
    /// endpoint to the same peer. Every connection begins with a weight of 1.
    pub fn set_weight(&self, weight: Weight) {
        self.connection.set_weight(weight);
    }

    /// Reads the counters while the stream is in use elsewhere.
    pub fn monitor(&self) -> Monitor<P> {
        Monitor::new(&self.connection)
    }

    /// State of the connection.
    pub fn state(&self) -> P::State {
        self.connection.state()
    }

    /// The other end.
    pub fn peer_addr(&self) -> SocketAddr {
        self.connection.peer
    }

    /// Why the connection is gone, if it is, and not by both sides finishing.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.connection.close_reason()
    }

    /// The two directions, for two tasks. The connection is let go when both are dropped, by the
    /// rules of [`Stream`].
    pub fn into_split(self) -> (OwnedReadHalf<P>, OwnedWriteHalf<P>) {
        (OwnedReadHalf::new(Arc::clone(&self.connection)), OwnedWriteHalf::new(self.connection))
    }
}

impl<P: Protocol> AsyncRead for Stream<P> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_read(cx, out)
    }
}

impl<P: Protocol> AsyncWrite for Stream<P> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.connection.poll_write(cx, data)
    }

    /// Does nothing: what was written leaves as soon as the protocol lets it.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_shutdown(cx)
    }
}
