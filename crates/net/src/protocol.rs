//! The protocols whose connections are streams here.

use std::fmt::Debug;
use std::net::SocketAddr;

use skyhaul_core::endpoint::Stage;
use skyhaul_core::{ConnectionId, Engine};

use crate::Counters;

/// Endpoint in real time, as far as the contract of an [`Engine`] does not say it. Implemented for the
/// endpoints of STP (over UDP) and TCP (over IP, [`crate::tun`]).
pub trait Protocol: Engine + Send + 'static {
    /// States of a connection.
    type State: Copy + Debug + Send;
    /// Counters below the connections.
    type Counters: Copy + Debug + Default + Send;
    /// State of a connection that the engine has forgotten.
    const CLOSED: Self::State;
    /// True if a connection that has ended at both ends is still at work: its peer may not know.
    const WORKS_WHEN_ENDED: bool;

    /// State of a connection.
    fn state(&self, id: ConnectionId) -> Option<Self::State>;

    /// Stage of a connection's life.
    fn stage(&self, id: ConnectionId) -> Option<Stage>;

    /// Address of the other end.
    fn address(&self, id: ConnectionId) -> Option<SocketAddr>;

    /// Ends all connections to `peer`: the carrier reports that nobody receives there, and its driver
    /// believes it.
    fn unreachable(&mut self, peer: Self::Peer);
}

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

    fn unreachable(&mut self, peer: SocketAddr) {
        self.unreachable(peer);
    }
}

impl Protocol for skyhaul_tcp::Endpoint {
    type State = skyhaul_tcp::State;
    type Counters = crate::tun::TunCounters;
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
    fn unreachable(&mut self, _: Self::Peer) {}
}
