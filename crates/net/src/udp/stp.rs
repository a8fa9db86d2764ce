//! STP as the protocol of endpoints over UDP.

use std::net::SocketAddr;

use skyhaul_core::ConnectionId;
use skyhaul_core::endpoint::Stage;

use crate::{Counters, Protocol};

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
