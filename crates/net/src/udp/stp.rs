//! STP as the protocol of endpoints over UDP that protect nothing.

use std::net::SocketAddr;

use skyhaul_core::endpoint::Stage;
use skyhaul_core::envelope::EnvelopeError;
use skyhaul_core::{ConnectionId, Engine as _, EventSink, Instant, NetworkFields};
use skyhaul_stp::EndpointStats;

use super::OverUdp;
use crate::{Counters, Protection, Protocol};

impl Protocol for skyhaul_stp::Endpoint {
    type State = skyhaul_stp::State;
    type Counters = Counters;
    const CLOSED: Self::State = skyhaul_stp::State::Closed;
    const WORKS_WHEN_ENDED: bool = true;

    fn state(&self, id: ConnectionId) -> Option<Self::State> {
        self.state(id)
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.stage(id)
    }

    fn address(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.remote(id)
    }

    fn unreachable(&mut self, peer: SocketAddr, is_believed: bool) {
        self.unreachable(peer, is_believed);
    }
}

impl OverUdp for skyhaul_stp::Endpoint {
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

    /// Puts the datagram into its envelope.
    fn complete(datagram: &mut [u8]) {
        Protection::Plain.seal(datagram);
    }

    fn packet_refused(&mut self, now: Instant, peer: SocketAddr, bytes: u32, told_bytes: Option<u32>) {
        self.packet_refused(now, peer, bytes, told_bytes);
    }

    fn packet_too_big(&mut self, now: Instant, peer: SocketAddr, bytes: u32) {
        self.packet_too_big(now, peer, bytes);
    }

    fn endpoint_stats(&self) -> EndpointStats {
        self.endpoint_stats()
    }
}
