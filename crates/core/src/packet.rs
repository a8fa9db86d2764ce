//! Packets, one type that links, queues, routers and capture files see.

use bytes::Bytes;

use crate::{Description, Instant, PathHeader};

/// Numbers of the protocol field of the IP header.
pub mod ip_protocol {
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// TCP with compressed headers, of SCPS-TP.
    pub const COMPRESSED_TCP: u8 = 105;
    /// For experiments [RFC 3692 2.1]: what has no number of its own.
    pub const EXPERIMENT: u8 = 253;
}

/// Explicit congestion notification field of the IP header [RFC 3168 5].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not use ECN.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 0.
    Ect0,
    /// ECN-capable, codepoint 1.
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// Priority class for queues that have several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Ordinary traffic.
    #[default]
    Normal,
    /// Dropped first (extra low-priority segments).
    Low,
}

/// Fields that the network reads or writes of a packet beside its bytes. They go into and out of an engine as
/// one value; all packets of a batch have equal ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkFields {
    /// Protocol field of the IP header ([`ip_protocol`]). The carrier knows it; engines leave it at 0, but
    /// for packets of a further protocol of theirs.
    pub protocol: u8,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Priority class.
    pub class: Class,
    /// True if a packet that is too large for a link may cross it as fragments [RFC 791 3.2]; it is dropped
    /// there otherwise. IPv4 says so by the flag DF being 0.
    pub may_fragment: bool,
    /// How its size differs from the octets that are there.
    pub sizing: Sizing,
    /// What sender and routers of explicit rate control tell each other.
    pub path_header: Option<PathHeader>,
}

impl NetworkFields {
    /// Fields of a packet whose protocol is this one, unless its engine says otherwise.
    #[must_use]
    pub fn of_protocol(self, number: u8) -> Self {
        Self { protocol: if self.protocol == 0 { number } else { self.protocol }, ..self }
    }

    /// True if they are not equal. Apart: what is compared field by field where it lies is moved so, too,
    /// with every packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn differ_from(&self, other: &Self) -> bool {
        self != other
    }

    /// Size of a segment of so many octets, with a path header.
    pub fn whole_bytes(self, bytes: usize) -> usize {
        self.sizing.whole_bytes(bytes + self.path_header.map_or(0, |header| usize::from(header.wire_bytes)))
    }
}

/// How the size of a packet differs from the octets that are there. Between engines of one process only: no
/// carrier sends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizing(i32);

impl Sizing {
    /// The last [`Description::BYTES`] stand for so many octets of payload; 0: they are there.
    pub fn described(bytes: u16) -> Self {
        Self(bytes.into())
    }

    /// So many octets do not count, as the scenario tells the size.
    pub fn without(bytes: u8) -> Self {
        Self(-i32::from(bytes))
    }

    /// Octets of payload that a description stands for; 0: there is none.
    pub fn described_bytes(self) -> u16 {
        self.0.max(0) as u16 // made of one
    }

    fn whole_bytes(self, bytes: usize) -> usize {
        match self.0 {
            0 => bytes,
            described @ 1.. => bytes.saturating_sub(Description::BYTES) + described as usize,
            uncounted => bytes.saturating_sub(uncounted.unsigned_abs() as usize),
        }
    }
}

impl From<Ecn> for NetworkFields {
    fn from(ecn: Ecn) -> Self {
        Self { ecn, ..Self::default() }
    }
}

/// Facts of a packet that the path may know without reading its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketMeta {
    /// Size on the wire in bytes, IP header included. May exceed `bytes.len()`: headers that a
    /// carrier adds are counted, not stored.
    pub wire_bytes: u32,
    /// Fields that the network reads and writes.
    pub fields: NetworkFields,
    /// Size that the fragments were cut to that this packet crosses the network as, their IP headers
    /// included; 0: it is whole. A packet in fragments remains one packet here, and `wire_bytes` is its size
    /// as a whole.
    pub fragment_bytes: u32,
    /// Flow that the packet belongs to, for fair queues and statistics.
    pub flow: u32,
    /// Number of the node that it comes from: its source address.
    pub from: u32,
    /// Number of the node that it goes to: its destination address.
    pub to: u32,
    /// Number that its sender gave it, unique in a run, for statistics.
    pub id: u64,
    /// Time at which it was sent, for statistics.
    pub sent_at: Instant,
}

/// Packet under way: bytes that are cheap to clone, and meta data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Contents; possibly sealed, so nobody on the path parses them.
    pub bytes: Bytes,
    /// Everything else.
    pub meta: PacketMeta,
}
