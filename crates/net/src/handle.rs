//! Handles of an endpoint, whatever its protocol.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::Protocol;
use crate::shared::{Shared, notify};
use crate::state::State;

/// How long [`Handle::close`] tries to tell the peers.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// Held by everything that users of an endpoint have in hand. When the last is gone the endpoint
/// ends with its last connection.
pub(crate) struct Handle<P: Protocol>(pub(crate) Arc<Shared<P>>);

impl<P: Protocol> Handle<P> {
    /// Waits until no connection has anything left to do, but no longer than `patience`.
    pub(crate) async fn wait_idle(&self, patience: Duration) -> bool {
        self.wait_for(&self.0.idle, patience).await
    }

    /// Waits until every connection has ended at both ends, but no longer than `patience`.
    pub(crate) async fn wait_ended(&self, patience: Duration) -> bool {
        self.wait_for(&self.0.parted, patience).await
    }

    /// Only the driver knows when the last word has been sent: it is asked to look, and tells.
    async fn wait_for(&self, news: &Notify, patience: Duration) -> bool {
        let told = news.notified();
        !self.ask(|_| {}) || tokio::time::timeout(patience, told).await.is_ok()
    }

    /// Aborts every connection, tells the peers, and ends the driver.
    pub(crate) async fn close(&self) {
        let ended = self.0.ended.notified();
        if self.ask(State::close) {
            let _ = tokio::time::timeout(CLOSE_PATIENCE, ended).await;
        }
    }

    /// Changes the state and has the driver look at it. False if there is no driver any more.
    fn ask(&self, change: impl FnOnce(&mut State<P>)) -> bool {
        let mut state = self.0.lock();
        if !state.has_driver() {
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
        state.abandon();
        notify(state);
    }
}
