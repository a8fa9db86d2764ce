//! Segments on the wire [RFC 9293 3.1].

mod decode;
mod encode;
mod extra;
#[cfg(test)]
mod kernel_vectors;
mod options;
#[cfg(test)]
mod segment_tests;
#[cfg(test)]
mod vectors;

use core::cmp::Ordering;
use core::fmt;
use core::net::IpAddr;

use skyhaul_core::{Description, Octets};

pub use decode::{decode, decode_packet};
pub use encode::{checksum, encode};
pub use extra::ExtraOptions;
pub use options::{MAX_SACK_BLOCKS, Options, SackBlocks, Timestamps};

/// Bytes of the header without options.
pub const HEADER_BYTES: usize = 20;
/// Bytes of the longest options.
pub const MAX_OPTIONS_BYTES: usize = 40;

/// Control bits.
pub mod flags {
    /// The sender has no more data.
    pub const FIN: u8 = 0x01;
    /// Synchronises the sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Ends everything at once.
    pub const RST: u8 = 0x04;
    /// The data is to be handed on.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement field means something.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer means something.
    pub const URG: u8 = 0x20;
    /// ECN echo [RFC 3168].
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced [RFC 3168].
    pub const CWR: u8 = 0x80;
}

/// Addresses between which segments travel: what the checksum covers beside the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// This end.
    pub local: IpAddr,
    /// The peer.
    pub remote: IpAddr,
}

/// By the local address, then by the remote one. Every packet is looked up by it: two addresses of IPv4 are
/// compared as one number.
impl Ord for Way {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.number(), other.number()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => (self.local, self.remote).cmp(&(other.local, other.remote)),
        }
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Way {
    /// Both addresses as one number, if they are of IPv4.
    #[inline]
    fn number(&self) -> Option<u64> {
        let (IpAddr::V4(local), IpAddr::V4(remote)) = (self.local, self.remote) else { return None };
        Some(u64::from(local.to_bits()) << 32 | u64::from(remote.to_bits()))
    }

    /// Addresses as the peer sees them.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { local: self.remote, remote: self.local }
    }
}

/// Payload as it lies in a ring buffer: two parts, the second often empty.
pub type Payload<'a> = (&'a [u8], &'a [u8]);

/// A segment, decoded or to be encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Sender's port.
    pub source_port: u16,
    /// Receiver's port.
    pub destination_port: u16,
    /// Number of the first byte, or of SYN.
    pub sequence: u32,
    /// Next number expected; meaningful with ACK.
    pub acknowledgement: u32,
    /// Control bits, see [`flags`].
    pub flags: u8,
    /// Window as on the wire: scaled, except with SYN.
    pub window: u16,
    /// Urgent pointer. Not used: urgent data is data.
    pub urgent: u16,
    /// Options.
    pub options: Options,
    /// Data; none if it is described.
    pub payload: Payload<'a>,
    /// Data by description, between engines of one process.
    pub described: Option<Description>,
    /// Facts of the header, if the segment came compressed; `None`: it came plain, or is to leave.
    pub compression: Option<Compression>,
}

/// Facts of a compressed header that a plain one does not have [SCPS-TP 3.3.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Number that stands for the ports, as the sender announced it.
    pub connection_id: u8,
    /// True if the segment's number stands in it.
    pub has_sequence: bool,
}

impl Segment<'_> {
    /// True if all of these control bits are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Bytes of data.
    pub fn payload_bytes(&self) -> usize {
        match self.described {
            None => self.payload.0.len() + self.payload.1.len(),
            Some(description) => description.length as usize,
        }
    }

    /// Data of a segment that was received, which is in one piece.
    pub(crate) fn octets(&self) -> Octets<'_> {
        self.described.map_or(Octets::Here(self.payload.0), Octets::Described)
    }

    /// SEG.LEN: what it takes of the sequence space.
    pub fn sequence_len(&self) -> u64 {
        self.payload_bytes() as u64 + u64::from(self.has(flags::SYN)) + u64::from(self.has(flags::FIN))
    }
}

/// Reason why bytes are not a segment. The receiver drops them and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than a header, or than its header says.
    Truncated,
    /// The data offset lies within the header.
    Offset,
    /// The checksum does not match.
    Checksum,
    /// An option with a length that it cannot have.
    Options,
    /// SYN with FIN or RST, or none of SYN, RST and ACK.
    Flags,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "shorter than its header says",
            Self::Offset => "the data offset lies within the header",
            Self::Checksum => "the checksum does not match",
            Self::Options => "an option with a length that it cannot have",
            Self::Flags => "control bits without meaning",
        })
    }
}

impl core::error::Error for Malformed {}
