//! Contracts of protocols whose segments travel in datagrams of UDP, plain or sealed.

use std::fmt::Debug;
use std::net::SocketAddr;

use skyhaul_core::endpoint::{self, Stage};
use skyhaul_core::envelope::EnvelopeError;
use skyhaul_core::{ConnectionId, Engine, EventSink, Instant, NetworkFields};

use crate::{Counters, Protocol};

/// Engine whose segments can travel in datagrams of UDP, whatever its carrier calls a peer. Who implements it
/// for every kind of name has a protocol of plain endpoints (names are addresses) and of sealed ones (names
/// are associations). Implemented for STP and STPP.
pub trait Datagrams: Engine<Peer: endpoint::Peer> + Send + 'static {
    /// States of a connection.
    type State: Copy + Debug + Send;
    /// Counters of what belongs to no connection.
    type Stats;
    /// State of a connection that the engine has forgotten.
    const CLOSED: Self::State;

    /// State of a connection.
    fn state(&self, id: ConnectionId) -> Option<Self::State>;

    /// Stage of a connection's life.
    fn stage(&self, id: ConnectionId) -> Option<Stage>;

    /// Peer of a connection.
    fn remote(&self, id: ConnectionId) -> Option<Self::Peer>;

    /// True if there is a connection with this peer, whoever opened it.
    fn has_connection_to(&mut self, peer: Self::Peer) -> bool;

    /// Counters of what belongs to no connection.
    fn endpoint_stats(&self) -> Self::Stats;

    /// Takes the carrier's report that nobody receives at `peer`: as [`Protocol::unreachable`].
    fn unreachable(&mut self, peer: Self::Peer, is_believed: bool);

    /// Takes the system's word that a packet of `bytes` to `peer` is larger than what the first link takes,
    /// which is `told_bytes` if the system says that. Nothing where packets have the size that they have.
    fn packet_refused(&mut self, _: Instant, _: Self::Peer, _: u32, _: Option<u32>) {}

    /// Takes a router's report that it forwards no larger packets to `peer` than of `bytes`. It may be
    /// forged. Nothing where packets have the size that they have.
    fn packet_too_big(&mut self, _: Instant, _: Self::Peer, _: u32) {}
}

/// Protocol in datagrams of UDP, as far as [`Protocol`] does not say it. Implemented for every engine that is
/// [`Datagrams`], plain and sealed.
pub trait OverUdp: Protocol<Peer = SocketAddr, Counters = Counters> {
    /// Counters of what belongs to no connection.
    type Stats;
    /// True if the engine tells of each datagram that it sends by an event.
    const TELLS_ALL: bool;

    /// Takes a datagram, whose octets may change. An error: its first octet is none of this protocol's.
    fn arrive(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        fields: NetworkFields,
        datagram: &mut [u8],
        sink: &mut dyn EventSink,
    ) -> Result<(), EnvelopeError>;

    /// True if there is a connection with whoever is at this address, or keys are agreed upon.
    fn has_connection_to(&mut self, peer: SocketAddr) -> bool;

    /// Completes a datagram that leaves, in the room that the engine kept.
    fn complete(datagram: &mut [u8]);

    /// Takes the system's word that a packet of `bytes` to `peer` is larger than what the first link takes,
    /// which is `told_bytes` if the system says that.
    fn packet_refused(&mut self, now: Instant, peer: SocketAddr, bytes: u32, told_bytes: Option<u32>);

    /// Takes a router's report that it forwards no larger packets to `peer` than of `bytes`. It may be
    /// forged.
    fn packet_too_big(&mut self, now: Instant, peer: SocketAddr, bytes: u32);

    /// Counters of what belongs to no connection.
    fn endpoint_stats(&self) -> Self::Stats;
}
