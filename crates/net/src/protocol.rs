//! The protocols whose connections are streams here.

use std::fmt::Debug;
use std::net::SocketAddr;

use skyhaul_core::{ConnectionId, Engine};

use crate::Counters;

/// What an endpoint in real time needs of a protocol beside the contract of an [`Engine`]. Implemented for the
/// endpoints of STP (over UDP) and TCP (over IP, [`crate::tun`]).
pub trait Protocol: Engine + Send + 'static {
    /// States of a connection.
    type State: Copy + Debug + Send;
    /// What is counted below the connections.
    type Counters: Copy + Debug + Default + Send;
    /// State of a connection that the engine has forgotten.
    const CLOSED: Self::State;

    /// State of a connection.
    fn state(&self, id: ConnectionId) -> Option<Self::State>;

    /// Peer of a connection.
    fn peer(&self, id: ConnectionId) -> Option<SocketAddr>;

    /// Whether a connection is over at this end, but for answers to late repeats.
    fn is_over(&self, id: ConnectionId) -> bool;

    /// Whether nothing waits to be done or answered; `is_released`: the application has let go.
    fn is_idle(&self, id: ConnectionId, is_released: bool) -> bool;
}

impl Protocol for skyhaul_stp::Endpoint {
    type State = skyhaul_stp::State;
    type Counters = Counters;
    const CLOSED: Self::State = skyhaul_stp::State::Closed;

    fn state(&self, id: ConnectionId) -> Option<Self::State> {
        self.state(id)
    }

    fn peer(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.remote(id)
    }

    fn is_over(&self, id: ConnectionId) -> bool {
        use skyhaul_stp::State::{Closed, Linger};
        matches!(self.state(id), None | Some(Linger | Closed))
    }

    /// Closed ones that a stream still holds do not count.
    fn is_idle(&self, id: ConnectionId, is_released: bool) -> bool {
        self.state(id).is_none_or(|state| state == Self::CLOSED && !is_released)
    }
}

impl Protocol for skyhaul_tcp::Endpoint {
    type State = skyhaul_tcp::State;
    type Counters = crate::tun::TunCounters;
    const CLOSED: Self::State = skyhaul_tcp::State::Closed;

    fn state(&self, id: ConnectionId) -> Option<Self::State> {
        self.state(id)
    }

    fn peer(&self, id: ConnectionId) -> Option<SocketAddr> {
        self.remote(id)
    }

    fn is_over(&self, id: ConnectionId) -> bool {
        use skyhaul_tcp::State::{Closed, TimeWait};
        matches!(self.state(id), None | Some(TimeWait | Closed))
    }

    /// A connection in TIME-WAIT does not count: the peer has confirmed everything, and its own end arrived.
    fn is_idle(&self, id: ConnectionId, is_released: bool) -> bool {
        let state = self.state(id);
        state.is_none_or(|state| {
            state == skyhaul_tcp::State::TimeWait || state == Self::CLOSED && !is_released
        })
    }
}
