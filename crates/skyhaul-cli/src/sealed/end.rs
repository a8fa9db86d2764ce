//! Sealed end of a transfer.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use skyhaul_association::{Name, PeerId};
use skyhaul_core::envelope::Mode;
use skyhaul_net::{Clock, EndpointOptions, Monitor, SealedEndpoint, SealedStp};
use skyhaul_store::{Entered, KnownPeer, Roster};
use tokio::sync::watch;

use super::Keys;
use super::bookkeeper::Bookkeeper;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::places::Party;
use crate::protection::Protection;
use crate::transport::TransportEnd;

/// Sealed endpoint with its bookkeeper.
#[derive(Clone, Debug)]
pub(crate) struct SealedEnd {
    pub(crate) endpoint: SealedEndpoint,
    /// Peers that are heard.
    names: watch::Receiver<BTreeMap<PeerId, Name>>,
    /// Mode and name of the peer that is called, if one is.
    called: Option<(Mode, Name)>,
    /// Goes last: it writes down what there is.
    _bookkeeper: Arc<Bookkeeper>,
}

impl SealedEnd {
    /// End that calls a peer, which is at `address`.
    pub(crate) fn calling(
        keys: &Keys,
        peer: &KnownPeer,
        address: SocketAddr,
        options: EndpointOptions,
    ) -> Result<Self, Failure> {
        let Entered { associations, roster, .. } = keys.calling(peer.key)?;
        let endpoint = SealedEndpoint::client_sealed(address, options, associations);
        let end = endpoint.and_then(|endpoint| Self::with_books(keys, endpoint, roster));
        let called = Some((peer.mode, peer.name.clone()));
        end.map(|end| Self { called, ..end }).map_err(|error| crate::send::cannot_send(address, error))
    }

    /// End at which the peers with leave are waited for, and how many these are; `explain` says why the
    /// address cannot be used.
    pub(crate) fn waiting(
        keys: &Keys,
        address: SocketAddr,
        options: EndpointOptions,
        explain: impl FnOnce(&io::Error) -> Failure,
    ) -> Result<(Self, usize), Failure> {
        let Entered { associations, roster, .. } = keys.waiting()?;
        let count = roster.names().len();
        let endpoint = SealedEndpoint::bind_sealed(address, options, associations);
        let end = endpoint.and_then(|endpoint| Self::with_books(keys, endpoint, roster));
        Ok((end.map_err(|error| explain(&error))?, count))
    }

    fn with_books(keys: &Keys, endpoint: SealedEndpoint, roster: Roster) -> io::Result<Self> {
        let (bookkeeper, names) = Bookkeeper::start(endpoint.clone(), keys.store.counters(), roster)?;
        Ok(Self { endpoint, names, called: None, _bookkeeper: Arc::new(bookkeeper) })
    }
}

impl TransportEnd for SealedEnd {
    type Protocol = SealedStp;
    type PeerName = PeerId;
    const IS_SEALED: bool = true;
    const LOST: &'static str = "the socket failed";
    const LOST_CODE: ErrorCode = ErrorCode::SocketFailed;

    fn transport(&self) -> &'static str {
        "stp"
    }

    fn clock(&self) -> Clock {
        self.endpoint.clock()
    }

    fn socket_drops(&self) -> Option<u64> {
        Some(self.endpoint.counters().socket_drops)
    }

    fn protection(&self, monitor: &Monitor<SealedStp>) -> (Protection, Option<PeerId>) {
        let seal = monitor.id().and_then(|id| self.endpoint.seal_of(id));
        match (seal, &self.called) {
            (Some(seal), _) => {
                (Protection::sealed(seal, self.names.borrow().get(&seal.peer)), Some(seal.peer))
            }
            (None, Some((mode, name))) => (Protection::wanted(*mode, Some(name)), None),
            // Of a connection that is gone, at an end that hears peers alone.
            (None, None) => (Protection::wanted(Mode::Encrypted, None), None),
        }
    }

    fn party(&self, monitor: &Monitor<SealedStp>, address: SocketAddr) -> Party {
        let seal = monitor.id().and_then(|id| self.endpoint.seal_of(id));
        seal.map_or_else(|| Party::at(address.ip()), |seal| Party::Peer(seal.peer))
    }

    async fn dismissed(&self, peer: Option<PeerId>) {
        let mut names = self.names.clone();
        let is_out = |names: &BTreeMap<PeerId, Name>| peer.is_some_and(|peer| !names.contains_key(&peer));
        if names.wait_for(is_out).await.is_err() {
            std::future::pending::<()>().await; // nobody looks any more
        }
    }

    async fn close(&self) {
        self.endpoint.close().await;
    }

    async fn wait_idle(&self, patience: Duration) -> bool {
        self.endpoint.wait_idle(patience).await
    }

    async fn wait_ended(&self, patience: Duration) -> bool {
        self.endpoint.wait_ended(patience).await
    }
}
