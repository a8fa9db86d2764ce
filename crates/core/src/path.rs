//! What belongs to the way to a peer, shared by the connections that use it.

use alloc::boxed::Box;
use core::net::IpAddr;

use crate::{Pacer, RateControl, Shares};

/// IP header bytes in front of every packet to `peer`, without options.
pub const fn ip_bytes(peer: IpAddr) -> u32 {
    match peer {
        IpAddr::V4(_) => 20,
        IpAddr::V6(_) => 40,
    }
}

/// IP and UDP header bytes in front of every datagram to `peer`.
pub const fn ip_udp_bytes(peer: IpAddr) -> u32 {
    ip_bytes(peer) + 8
}

/// A path: sizes, overheads and the rate budget of everything that is sent to one peer. Its
/// connections borrow it while they work (owners: endpoint > path > connection).
#[derive(Clone, Debug)]
pub struct Path {
    /// Largest IP packet, in bytes.
    pub mtu_bytes: u32,
    /// Bytes that carriers put around a segment outside of the datagram's body (IP, UDP).
    pub carrier_bytes: u32,
    /// Bytes kept free in front of each segment for the envelope.
    pub head_bytes: u32,
    /// Bytes kept free behind each segment for a seal.
    pub tail_bytes: u32,
    /// Declared rate, or the measured one: every IP byte is charged to it. `None`: the controllers decide alone.
    pub budget: Option<Pacer>,
    /// What measures the rate, where none is declared and the connections ask for it.
    pub control: Option<Box<dyn RateControl>>,
    /// Segment bytes sent over it by those who go by a measured rate.
    pub sent_octets: u64,
    /// Whose turn it is.
    pub shares: Shares,
}

impl Path {
    /// Largest segment (transport header included) that fits, in bytes.
    pub fn max_segment_bytes(&self) -> usize {
        (self.mtu_bytes - self.carrier_bytes - self.head_bytes - self.tail_bytes) as usize
    }

    /// Size on the wire of a segment of `segment_bytes`.
    pub fn wire_bytes(&self, segment_bytes: usize) -> u32 {
        segment_bytes as u32 + self.carrier_bytes + self.head_bytes + self.tail_bytes
    }
}
