//! Records of a capture.

use bytes::Bytes;
use skyhaul_core::Event;
use skyhaul_core::packet::ip_protocol;

use crate::Heads;

/// Direction of a packet at its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It arrived.
    Inbound,
    /// It left.
    Outbound,
}

/// Packet as it was seen at an interface, with the events that belong to it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Time in ns, since 1970 or since a run began.
    pub at_ns: u64,
    /// Place of the interface in the list of those of the capture.
    pub interface: u32,
    /// Direction.
    pub direction: Direction,
    /// Headers that `bytes` lacks, to be made; `None`: it is an IP packet.
    pub heads: Option<Heads>,
    /// Octets of the packet behind its `heads`.
    pub bytes: Bytes,
    /// Events that become its comments.
    pub events: Vec<Event>,
}

impl Record {
    /// Octets that it holds while it waits.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(self.events.as_slice())
    }

    /// Bits of a packet's number on the wire: 32 of TCP, 24 of STP.
    pub(crate) fn number_bits(&self) -> u32 {
        let protocol = match (self.heads, self.bytes.first().map(|first| first >> 4)) {
            (Some(heads), _) => Some(heads.fields.protocol),
            (None, Some(4)) => self.bytes.get(9).copied(),
            (None, _) => self.bytes.get(6).copied(),
        };
        if protocol == Some(ip_protocol::TCP) { 32 } else { 24 }
    }
}
