//! Sealed end of a transfer.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use skyhaul_association::{PeerId, PublicKey};
use skyhaul_net::{Clock, EndpointOptions, SealedEndpoint, SealedStp};
use skyhaul_store::Entered;

use super::Keys;
use super::bookkeeper::Bookkeeper;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::transport::TransportEnd;

/// Sealed endpoint with its bookkeeper.
#[derive(Clone, Debug)]
pub(crate) struct SealedEnd {
    pub(crate) endpoint: SealedEndpoint,
    /// Goes last: it writes down what there is.
    _bookkeeper: Arc<Bookkeeper>,
}

impl SealedEnd {
    /// End that calls a peer, which is at `address`.
    pub(crate) fn calling(
        keys: &Keys,
        peer: PublicKey,
        address: SocketAddr,
        options: EndpointOptions,
    ) -> Result<Self, Failure> {
        let Entered { associations, keys: names, .. } = keys.calling(peer)?;
        let endpoint = SealedEndpoint::client_sealed(address, options, associations);
        Self::with_books(keys, endpoint, names).map_err(|error| crate::send::cannot_send(address, error))
    }

    /// End at which the peers with leave are waited for, and how many these are; `explain` says why the
    /// address cannot be used.
    pub(crate) fn waiting(
        keys: &Keys,
        address: SocketAddr,
        options: EndpointOptions,
        explain: impl FnOnce(&io::Error) -> Failure,
    ) -> Result<(Self, usize), Failure> {
        let (Entered { associations, keys: names, .. }, count) = keys.waiting()?;
        let endpoint = SealedEndpoint::bind_sealed(address, options, associations);
        let end = Self::with_books(keys, endpoint, names).map_err(|error| explain(&error))?;
        Ok((end, count))
    }

    fn with_books(
        keys: &Keys,
        endpoint: io::Result<SealedEndpoint>,
        names: BTreeMap<PeerId, PublicKey>,
    ) -> io::Result<Self> {
        let endpoint = endpoint?;
        let bookkeeper = Bookkeeper::start(endpoint.clone(), keys.store.counters(), names)?;
        Ok(Self { endpoint, _bookkeeper: Arc::new(bookkeeper) })
    }
}

impl TransportEnd for SealedEnd {
    type Protocol = SealedStp;
    const TRANSPORT: &'static str = "stp";
    const IS_SEALED: bool = true;
    const LOST: &'static str = "the socket failed";
    const LOST_CODE: ErrorCode = ErrorCode::SocketFailed;

    fn clock(&self) -> Clock {
        self.endpoint.clock()
    }

    fn socket_drops(&self) -> Option<u64> {
        Some(self.endpoint.counters().socket_drops)
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
