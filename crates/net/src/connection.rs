//! Connection of a stream, or of its two halves: reads, writes and waits under the endpoint's lock.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use skyhaul_core::{CloseReason, ConnectionId, Connections, Instant, Stats, StreamError, Weight};
use tokio::io::ReadBuf;

use crate::entry::{End, Proof};
use crate::handle::Handle;
use crate::shared::notify;
use crate::{Protocol, errors};

/// Bytes copied at most while the lock is held: other connections want it, too.
const MAX_COPY_BYTES: usize = 256 << 10;

/// Handle of a connection, in a stream or its two halves.
pub(crate) struct Connection<P: Protocol> {
    handle: Arc<Handle<P>>,
    pub(crate) id: ConnectionId,
    pub(crate) peer: SocketAddr,
    is_finishing: AtomicBool,
}

impl<P: Protocol> Connection<P> {
    pub(crate) fn new(handle: Arc<Handle<P>>, id: ConnectionId, peer: SocketAddr) -> Self {
        Self { handle, id, peer, is_finishing: AtomicBool::new(false) }
    }

    pub(crate) fn poll_connected(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
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

    /// Has `work` move what it can, true if it did, and wakes the task of `cx` at whatever happens next. Both
    /// directions belong to that task. An error: the connection has failed.
    pub(crate) fn work(
        &self,
        cx: &Context<'_>,
        work: impl FnOnce(Instant, &mut dyn Connections, ConnectionId) -> bool,
    ) -> io::Result<bool> {
        let mut state = self.handle.0.lock();
        state.check_engine()?;
        if let Some(End::Broken(reason)) = state.entries.get(&self.id).and_then(|entry| entry.end) {
            return Err(errors::closed(reason));
        }
        let has_moved = work(self.handle.0.now(), &mut state.engine, self.id);
        state.wait_for_anything(self.id, cx);
        if has_moved {
            notify(state);
        }
        Ok(has_moved)
    }

    /// Time by the endpoint's clock.
    pub(crate) fn now(&self) -> Instant {
        self.handle.0.now()
    }

    /// From now on the connection may end in the background: its streams were passed on to their ends.
    pub(crate) fn part(&self) {
        self.is_finishing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn poll_proven(&self, proof: Proof, cx: &Context<'_>) -> Poll<bool> {
        self.handle.0.lock().poll_proven(self.id, proof, cx)
    }

    /// Breaks the connection off; the peer is told that there is no room for it.
    pub(crate) fn refuse(&self) {
        let mut state = self.handle.0.lock();
        if state.check_engine().is_ok() {
            state.engine.refuse(self.id);
        }
        notify(state);
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
