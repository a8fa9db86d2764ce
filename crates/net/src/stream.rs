//! A connection as a byte stream for tokio.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use skyhaul_core::{CloseReason, ConnectionId, Stats, StreamError, Weight};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::entry::End;
use crate::errors;
use crate::handle::Handle;
use crate::shared::notify;
use crate::{Monitor, OwnedReadHalf, OwnedWriteHalf, Protocol};

/// Bytes copied at most while the lock is held: other connections want it, too.
const MAX_COPY_BYTES: usize = 256 << 10;

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
        let connection = Connection { handle, id, peer, is_finishing: AtomicBool::new(false) };
        Self { connection: Arc::new(connection) }
    }

    /// Waits for the peer to accept.
    pub(crate) async fn connected(&self) -> io::Result<()> {
        poll_fn(|cx| self.connection.poll_connected(cx)).await
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

/// Handle of a connection, in a stream or its two halves.
pub(crate) struct Connection<P: Protocol> {
    handle: Arc<Handle<P>>,
    id: ConnectionId,
    pub(crate) peer: SocketAddr,
    is_finishing: AtomicBool,
}

impl<P: Protocol> Connection<P> {
    fn poll_connected(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.handle.0.lock();
        state.check()?;
        let Some(entry) = state.entries.get_mut(&self.id) else { return gone() };
        match entry.end {
            Some(End::Broken(reason)) => Poll::Ready(Err(errors::closed(reason))),
            _ if entry.is_connected => Poll::Ready(Ok(())),
            _ => {
                entry.wait_to_write(cx);
                Poll::Pending
            }
        }
    }

    pub(crate) fn poll_read(&self, cx: &Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.handle.0.lock();
        state.check_engine()?;
        let room = out.remaining().min(MAX_COPY_BYTES);
        let read = state.engine.read(self.id, out.initialize_unfilled_to(room)).map_err(errors::stream)?;
        let Some(entry) = state.entries.get_mut(&self.id) else { return gone() };
        let worth_telling = entry.has_read(read.unwrap_or(0));
        match read {
            Some(bytes) => out.advance(bytes),
            None => entry.wait_to_read(cx),
        }
        if worth_telling {
            notify(state);
        }
        read.map_or(Poll::Pending, |_| Poll::Ready(Ok(())))
    }

    pub(crate) fn poll_write(&self, cx: &Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.handle.0.lock();
        state.check_engine()?;
        let offered = &data[..data.len().min(MAX_COPY_BYTES)];
        let taken = state.engine.write(self.id, offered).map_err(errors::stream)?;
        if taken > 0 || data.is_empty() {
            notify(state);
            return Poll::Ready(Ok(taken));
        }
        let Some(entry) = state.entries.get_mut(&self.id) else { return gone() };
        entry.wait_to_write(cx);
        Poll::Pending
    }

    pub(crate) fn poll_shutdown(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.handle.0.lock();
        let Some(entry) = state.entries.get_mut(&self.id) else { return gone() };
        match entry.end {
            _ if entry.is_finished => return Poll::Ready(Ok(())),
            Some(End::Broken(reason)) => return Poll::Ready(Err(errors::closed(reason))),
            Some(End::Clean) => return Poll::Ready(Ok(())),
            None => entry.wait_to_write(cx),
        }
        state.check_engine()?;
        if !self.is_finishing.swap(true, Ordering::Relaxed) {
            state.engine.finish(self.id);
            notify(state);
        }
        Poll::Pending
    }

    pub(crate) fn set_weight(&self, weight: Weight) {
        let mut state = self.handle.0.lock();
        if state.check_engine().is_ok() {
            state.engine.set_weight(self.id, weight);
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.handle.0.lock().engine.stats(self.id).unwrap_or_default()
    }

    pub(crate) fn state(&self) -> P::State {
        self.handle.0.lock().engine.state(self.id).unwrap_or(P::CLOSED)
    }

    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        match self.handle.0.lock().entries.get(&self.id)?.end? {
            End::Clean => None,
            End::Broken(reason) => Some(reason),
        }
    }
}

impl<P: Protocol> Drop for Connection<P> {
    fn drop(&mut self) {
        let mut state = self.handle.0.lock();
        if state.check_engine().is_ok() {
            state.let_go(self.handle.0.now(), self.id, !self.is_finishing.load(Ordering::Relaxed));
        }
        notify(state);
    }
}

impl<P: Protocol> std::fmt::Debug for Connection<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("id", &self.id).field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// The engine does not know the connection.
fn gone<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(errors::stream(StreamError::Unknown)))
}
