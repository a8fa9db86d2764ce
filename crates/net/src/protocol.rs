//! Contract of a protocol whose connections are streams here.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use skyhaul_core::endpoint::Stage;
use skyhaul_core::{ConnectionId, Engine, Instant};

/// Endpoint in real time, as far as the contract of an [`Engine`] does not say it. Implemented for the
/// endpoints of STP (over UDP, plain and sealed) and TCP (over IP, [`crate::tun`]).
pub trait Protocol: Engine + Send + 'static {
    /// States of a connection.
    type State: Copy + Debug + Send;
    /// Counters below the connections.
    type Counters: Copy + Debug + Default + Send;
    /// State of a connection that the engine has forgotten.
    const CLOSED: Self::State;
    /// True if a connection that has ended at both ends is still at work: its peer may not know.
    const WORKS_WHEN_ENDED: bool;
    /// True if peers are known by their keys, which tell what is beyond doubt ([`Self::is_confirmed`]).
    const IS_SEALED: bool = false;

    /// State of a connection.
    fn state(&self, id: ConnectionId) -> Option<Self::State>;

    /// Stage of a connection's life.
    fn stage(&self, id: ConnectionId) -> Option<Stage>;

    /// Address of the other end.
    fn address(&self, id: ConnectionId) -> Option<SocketAddr>;

    /// True if what the peer of a connection sent is known to be its own, and of now.
    fn is_confirmed(&self, id: ConnectionId) -> bool {
        self.is_proven(id)
    }

    /// True if something waits for whoever looks after the endpoint.
    fn has_news(&self) -> bool {
        false
    }

    /// Takes note that wall time has jumped: this process may be a copy of another that runs, too. An error:
    /// what must not repeat would repeat, and the endpoint must end.
    fn wall_time_jumped(&mut self, _: Instant) -> io::Result<()> {
        Ok(())
    }

    /// Takes the carrier's report that nobody receives at `peer`. All connections to it end if its driver
    /// believes that; else those that wait for nothing but the peer's last words.
    fn unreachable(&mut self, peer: Self::Peer, is_believed: bool);
}
