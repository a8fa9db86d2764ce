//! A look at a connection from outside.

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;

use skyhaul_core::{ConnectionId, Stats};

use crate::Protocol;
use crate::connection::Connection;
use crate::entry::Proof;

/// Reads what a connection counts while its stream is in use elsewhere: for progress bars and
/// metrics. Costs one short lock a look. Keeps nothing alive: once the stream is dropped there is
/// nothing to see.
#[derive(Debug)]
pub struct Monitor<P: Protocol = skyhaul_stp::Endpoint>(Weak<Connection<P>>);

impl<P: Protocol> Clone for Monitor<P> {
    fn clone(&self) -> Self {
        Self(Weak::clone(&self.0))
    }
}

impl<P: Protocol> Monitor<P> {
    pub(crate) fn new(connection: &Arc<Connection<P>>) -> Self {
        Self(Arc::downgrade(connection))
    }

    /// Name of the connection at its endpoint.
    pub fn id(&self) -> Option<ConnectionId> {
        self.0.upgrade().map(|connection| connection.id)
    }

    /// Counters of the connection.
    pub fn stats(&self) -> Option<Stats> {
        self.0.upgrade().map(|connection| connection.stats())
    }

    /// Waits until the peer has shown that it receives at its address. False if the connection is gone
    /// before. Whoever opened a connection chose the peer's address; of one that a peer opened, all that was
    /// read before may come from somebody who names an address of others. One task may wait at a time.
    pub async fn proven(&self) -> bool {
        self.wait_for(Proof::Address).await
    }

    /// Waits until what the peer sent is known to be its own, and of now: as
    /// [`Stream::confirmed`](crate::Stream::confirmed). One task may wait at a time.
    pub async fn confirmed(&self) -> bool {
        self.wait_for(Proof::Origin).await
    }

    async fn wait_for(&self, proof: Proof) -> bool {
        poll_fn(|cx| match self.0.upgrade() {
            Some(connection) => connection.poll_proven(proof, cx),
            None => Poll::Ready(false),
        })
        .await
    }

    /// Breaks the connection off; the peer is told that there is no room for it (where its protocol has a
    /// word for that). Nothing happens to one that is over.
    pub fn refuse(&self) {
        if let Some(connection) = self.0.upgrade() {
            connection.refuse();
        }
    }

    /// State of the connection.
    pub fn state(&self) -> Option<P::State> {
        self.0.upgrade().map(|connection| connection.state())
    }
}
