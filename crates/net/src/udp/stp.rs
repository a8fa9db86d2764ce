//! STP as a protocol of endpoints over UDP.

use skyhaul_core::endpoint::{Peer, Stage};
use skyhaul_core::{ConnectionId, Instant};
use skyhaul_stp::{Endpoint, EndpointStats, State};

use super::Datagrams;

impl<P: Peer + Send + 'static> Datagrams for Endpoint<P> {
    type State = State;
    type Stats = EndpointStats;
    const CLOSED: State = State::Closed;

    fn state(&self, id: ConnectionId) -> Option<State> {
        self.state(id)
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.stage(id)
    }

    fn remote(&self, id: ConnectionId) -> Option<P> {
        self.remote(id)
    }

    fn has_connection_to(&mut self, peer: P) -> bool {
        self.has_connection_to(peer)
    }

    fn endpoint_stats(&self) -> EndpointStats {
        self.endpoint_stats()
    }

    fn unreachable(&mut self, peer: P, is_believed: bool) {
        self.unreachable(peer, is_believed);
    }

    fn packet_refused(&mut self, now: Instant, peer: P, bytes: u32, told_bytes: Option<u32>) {
        self.packet_refused(now, peer, bytes, told_bytes);
    }

    fn packet_too_big(&mut self, now: Instant, peer: P, bytes: u32) {
        self.packet_too_big(now, peer, bytes);
    }
}
