//! Segments on the wire [RFC 9293 3.1].

mod checksum;
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

use core::net::IpAddr;

pub use checksum::checksum;
pub use decode::{Malformed, decode};
pub use encode::encode;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// This end.
    pub local: IpAddr,
    /// The peer.
    pub remote: IpAddr,
}

impl Way {
    /// The same, seen by the peer.
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
    /// Data.
    pub payload: Payload<'a>,
}

impl Segment<'_> {
    /// Whether all of these control bits are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Bytes of data.
    pub fn payload_bytes(&self) -> usize {
        self.payload.0.len() + self.payload.1.len()
    }

    /// SEG.LEN: what it takes of the sequence space.
    pub fn sequence_len(&self) -> u64 {
        self.payload_bytes() as u64 + u64::from(self.has(flags::SYN)) + u64::from(self.has(flags::FIN))
    }
}
