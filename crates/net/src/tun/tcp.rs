//! TCP as the protocol of hosts on a device.

use std::net::SocketAddr;

use skyhaul_core::ConnectionId;
use skyhaul_core::endpoint::Stage;

use super::TunCounters;
use crate::Protocol;

impl Protocol for skyhaul_tcp::Endpoint {
    type State = skyhaul_tcp::State;
    type Counters = TunCounters;
    const CLOSED: Self::State = skyhaul_tcp::State::Closed;
    /// In TIME-WAIT the peer has confirmed everything, and its own end arrived.
    const WORKS_WHEN_ENDED: bool = false;

    fn state(&self, id: ConnectionId) -> Option<Self::State> {
        self.state(id)
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.stage(id)
    }

    fn address(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.remote(id)
    }

    /// Routers say so by ICMP, which TCP judges itself.
    fn unreachable(&mut self, _: Self::Peer, _: bool) {}
}
