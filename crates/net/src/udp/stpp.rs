//! STPP as a protocol of endpoints over UDP. Its PDUs have the size that their connection says: one that the
//! first link does not take is lost, and counted ([`crate::Counters::too_large`]).

use skyhaul_core::ConnectionId;
use skyhaul_core::endpoint::{Peer, Stage};
use skyhaul_petra::stpp::{Endpoint, EndpointStats, State};

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
}
