//! Handles of an endpoint, whatever its protocol.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use skyhaul_core::{ConnectError, ConnectionId, Instant};

use crate::entry::Entry;
use crate::shared::{Shared, notify};
use crate::state::{Life, State};
use crate::{Listener, Protocol, Stream, errors};

/// How long [`Handle::close`] tries to tell the peers.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// Held by everything that users of an endpoint have in hand. When the last is gone the endpoint
/// ends with its last connection.
pub(crate) struct Handle<P: Protocol>(pub(crate) Arc<Shared<P>>);

impl<P: Protocol> Handle<P> {
    /// Accepts connections to `port`; so many may wait to be taken.
    pub(crate) fn listen(self: &Arc<Self>, port: u16, limit: usize) -> io::Result<Listener<P>> {
        self.0.lock().listen(port, limit)?;
        Ok(Listener::new(Arc::clone(self), port))
    }

    /// A stream to `peer` over the connection that `connect` opens, whose reader is given so many bytes at
    /// most.
    pub(crate) fn begin(
        self: &Arc<Self>,
        peer: SocketAddr,
        limit_bytes: u64,
        connect: impl FnOnce(&mut P, Instant) -> Result<ConnectionId, ConnectError>,
    ) -> io::Result<Stream<P>> {
        let mut state = self.0.lock();
        state.check()?;
        let id = connect(&mut state.engine, self.0.now()).map_err(errors::connect)?;
        state.entries.insert(id, Entry::new(false, limit_bytes));
        notify(state);
        Ok(Stream::new(Arc::clone(self), id, peer))
    }

    /// Waits until no connection has anything left to do, but no longer than `patience`.
    pub(crate) async fn wait_idle(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.idle()).await.is_ok()
    }

    /// Only the driver knows when the last word has been sent: it is asked to look, and tells.
    async fn idle(&self) {
        let told = self.0.idle.notified();
        if self.ask(|_| {}) {
            told.await;
        }
    }

    /// Aborts every connection, tells the peers, and ends the driver.
    pub(crate) async fn close(&self) {
        let ended = self.0.ended.notified();
        let is_alive = self.ask(|state| {
            state.life = Life::Closing;
            state.abort_all();
        });
        if is_alive {
            let _ = tokio::time::timeout(CLOSE_PATIENCE, ended).await;
        }
    }

    /// Changes the state and has the driver look at it. False if there is no driver any more.
    fn ask(&self, change: impl FnOnce(&mut State<P>)) -> bool {
        let mut state = self.0.lock();
        if matches!(state.life, Life::Ended | Life::Failed) {
            return false;
        }
        change(&mut state);
        notify(state);
        true
    }
}

impl<P: Protocol> Drop for Handle<P> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.life == Life::Open {
            state.life = Life::Abandoned;
        }
        notify(state);
    }
}
