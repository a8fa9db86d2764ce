//! Contract of a protocol whose segments travel in datagrams of UDP, plain or sealed.

use std::net::SocketAddr;

use skyhaul_core::envelope::EnvelopeError;
use skyhaul_core::{EventSink, Instant, NetworkFields};
use skyhaul_stp::EndpointStats;

use crate::{Counters, Protocol};

/// Protocol in datagrams of UDP, as far as [`Protocol`] does not say it. Implemented for STP, plain and
/// sealed.
pub trait OverUdp: Protocol<Peer = SocketAddr, Counters = Counters> {
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

    /// Completes a datagram that leaves, in the room that the engine kept.
    fn complete(datagram: &mut [u8]);

    /// Takes the system's word that a packet of `bytes` to `peer` is larger than what the first link takes,
    /// which is `told_bytes` if the system says that.
    fn packet_refused(&mut self, now: Instant, peer: SocketAddr, bytes: u32, told_bytes: Option<u32>);

    /// Takes a router's report that it forwards no larger packets to `peer` than of `bytes`. It may be
    /// forged.
    fn packet_too_big(&mut self, now: Instant, peer: SocketAddr, bytes: u32);

    /// Counters of what belongs to no connection.
    fn endpoint_stats(&self) -> EndpointStats;
}
