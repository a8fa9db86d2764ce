//! Protocols of endpoints over UDP that protect nothing: a peer is an address.

use std::net::SocketAddr;

use skyhaul_core::endpoint::Stage;
use skyhaul_core::envelope::EnvelopeError;
use skyhaul_core::{ConnectionId, EventSink, Instant, NetworkFields};

use super::{Datagrams, OverUdp};
use crate::{Counters, Protection, Protocol};

impl<E: Datagrams<Peer = SocketAddr>> Protocol for E {
    type State = E::State;
    type Counters = Counters;
    const CLOSED: Self::State = E::CLOSED;
    const WORKS_WHEN_ENDED: bool = true;

    fn state(&self, id: ConnectionId) -> Option<Self::State> {
        Datagrams::state(self, id)
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        Datagrams::stage(self, id)
    }

    fn address(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.remote(id)
    }

    fn unreachable(&mut self, peer: SocketAddr, is_believed: bool) {
        Datagrams::unreachable(self, peer, is_believed);
    }
}

impl<E: Datagrams<Peer = SocketAddr>> OverUdp for E {
    type Stats = E::Stats;
    const TELLS_ALL: bool = true;

    fn arrive(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        fields: NetworkFields,
        datagram: &mut [u8],
        sink: &mut dyn EventSink,
    ) -> Result<(), EnvelopeError> {
        let body = Protection::Plain.open(datagram)?;
        self.handle(now, peer, fields, &datagram[body], sink);
        Ok(())
    }

    fn has_connection_to(&mut self, peer: SocketAddr) -> bool {
        Datagrams::has_connection_to(self, peer)
    }

    /// Puts the datagram into its envelope.
    fn complete(datagram: &mut [u8]) {
        Protection::Plain.seal(datagram);
    }

    fn packet_refused(&mut self, now: Instant, peer: SocketAddr, bytes: u32, told_bytes: Option<u32>) {
        Datagrams::packet_refused(self, now, peer, bytes, told_bytes);
    }

    fn packet_too_big(&mut self, now: Instant, peer: SocketAddr, bytes: u32) {
        Datagrams::packet_too_big(self, now, peer, bytes);
    }

    fn endpoint_stats(&self) -> E::Stats {
        Datagrams::endpoint_stats(self)
    }
}
