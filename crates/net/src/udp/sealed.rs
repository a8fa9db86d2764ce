//! Protocols under a seal over UDP. To the inner engine an association is a peer, to the carrier an address.

use std::io;
use std::net::SocketAddr;

use skyhaul_association::{AssociationId, SealedEngine};
use skyhaul_core::endpoint::Stage;
use skyhaul_core::envelope::EnvelopeError;
use skyhaul_core::{ConnectionId, EventSink, Instant, NetworkFields};

use super::{Datagrams, OverUdp};
use crate::{Counters, Protocol};

/// STP whose segments travel sealed.
pub type SealedStp = SealedEngine<skyhaul_stp::Endpoint<AssociationId>>;
/// STPP whose PDUs travel sealed.
pub type SealedStpp = SealedEngine<skyhaul_petra::stpp::Endpoint<AssociationId>>;

impl<E: Datagrams<Peer = AssociationId>> Protocol for SealedEngine<E> {
    type State = E::State;
    type Counters = Counters;
    const CLOSED: Self::State = E::CLOSED;
    const WORKS_WHEN_ENDED: bool = true;
    const IS_SEALED: bool = true;

    fn state(&self, id: ConnectionId) -> Option<Self::State> {
        self.inner().state(id)
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.inner().stage(id)
    }

    fn address(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.associations().address(self.inner().remote(id)?)
    }

    /// Keys are proven, and no early data came since that waits for a proof.
    fn is_confirmed(&self, id: ConnectionId) -> bool {
        self.inner().remote(id).is_some_and(|id| self.associations().is_beyond_doubt(id))
    }

    /// Anybody can forge such a report. Where the peer has proven its keys it ends nothing but what waits for
    /// the peer's last words alone.
    fn unreachable(&mut self, peer: SocketAddr, is_believed: bool) {
        for id in at(self, peer) {
            let is_protected = self.associations().has_proven_keys(id);
            self.inner_mut().unreachable(id, is_believed && !is_protected);
        }
    }

    fn wall_time_jumped(&mut self, now: Instant) -> io::Result<()> {
        let random = skyhaul_store::random_secret()?;
        self.associations_mut().renew(now, &random);
        Ok(())
    }

    fn has_news(&self) -> bool {
        self.associations().has_events()
    }
}

impl<E: Datagrams<Peer = AssociationId>> OverUdp for SealedEngine<E> {
    type Stats = E::Stats;

    /// Handshakes and empty records are the associations' own.
    const TELLS_ALL: bool = false;

    fn arrive(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        fields: NetworkFields,
        datagram: &mut [u8],
        sink: &mut dyn EventSink,
    ) -> Result<(), EnvelopeError> {
        let &first = datagram.first().ok_or(EnvelopeError::Empty)?;
        skyhaul_association::protected_mode(first)?;
        self.handle_in_place(now, peer, fields, datagram, sink);
        Ok(())
    }

    fn has_connection_to(&mut self, peer: SocketAddr) -> bool {
        self.associations().at(peer).next().is_some()
    }

    /// Nothing: the engine has sealed it.
    fn complete(_: &mut [u8]) {}

    fn packet_refused(&mut self, now: Instant, peer: SocketAddr, bytes: u32, told_bytes: Option<u32>) {
        for id in at(self, peer) {
            self.inner_mut().packet_refused(now, id, bytes, told_bytes);
        }
    }

    fn packet_too_big(&mut self, now: Instant, peer: SocketAddr, bytes: u32) {
        for id in at(self, peer) {
            self.inner_mut().packet_too_big(now, id, bytes);
        }
    }

    fn endpoint_stats(&self) -> E::Stats {
        self.inner().endpoint_stats()
    }
}

/// Associations with whoever is at this address.
fn at<E>(engine: &SealedEngine<E>, peer: SocketAddr) -> Vec<AssociationId> {
    engine.associations().at(peer).collect()
}
