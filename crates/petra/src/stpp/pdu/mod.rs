//! Layout of PDUs (`docs/spec/petra.md`, 5): a header of 20 octets, which is what the paper says that a PDU
//! has beside its payload, and a body.

mod crc32;
mod decode;
mod encode;
mod mask;
#[cfg(test)]
mod pdu_tests;

pub use crc32::crc32;
pub use decode::{Malformed, decode, decode_with};
pub use encode::{encode, encode_with};
pub use mask::{Mask, MaskCoding};
pub(super) use mask::{rice_bytes, shortest_bytes};

/// Octets of the header, its CRC included.
pub const HEADER_BYTES: usize = 20;
/// Largest payload of a PDU, so that it fits into an IP packet of 65 535 octets, whatever is around it.
pub const MAX_PAYLOAD_BYTES: u16 = 65_000;
/// Largest window: a bitmap over all of it has 2 kB.
pub const MAX_WINDOW_PDUS: u16 = 16_384;
/// Longest header of an SDU.
pub const MAX_SDU_HEADER_BYTES: u16 = 1024;

/// Version of the layout, in openings.
pub const WIRE_VERSION: u8 = 1;
/// Shortest header of an SDU: length and flags.
pub const MIN_SDU_HEADER_BYTES: u16 = 4;
/// Flag in the header of an SDU: it is the last of its stream.
pub const SDU_ENDS: u8 = 1;
/// Modulus of numbers as PDUs carry them.
pub const MODULUS: u64 = 1 << 32;
/// PDUs that a mask speaks of at most: the largest window.
pub const MAX_MASK_PDUS: u32 = MAX_WINDOW_PDUS as u32;

/// Octets of a mask that have their place in the header of a status.
pub(super) const SPARE_MASK_BYTES: usize = 2;
/// Place of the CRC in the header.
const CRC: core::ops::Range<usize> = 16..20;
/// Octets of an opening's body.
const OPENING_BYTES: usize = 12;

/// Kinds, in octet 4.
mod kinds {
    pub(super) const OPEN: u8 = 1;
    pub(super) const OPEN_ACK: u8 = 2;
    pub(super) const DATA: u8 = 3;
    pub(super) const POLL: u8 = 4;
    pub(super) const STATUS: u8 = 5;
    pub(super) const RESET: u8 = 6;
}

/// Flags, in octet 5.
mod flags {
    /// DATA: the receiver is to send a status at once.
    pub(super) const POLL: u8 = 1;
    /// STATUS: it answers a POLL.
    pub(super) const SOLICITED: u8 = 2;
    /// STATUS: the peer is to send no new data (STOP_TX); without it, it may (RESUME_TX).
    pub(super) const STOPPED: u8 = 4;
    /// STATUS: the mask is a bitmap; without it, a list.
    pub(super) const BITMAP: u8 = 8;
    /// STATUS: the mask is Rice-coded; not beside BITMAP.
    pub(super) const RICE: u8 = 32;
    /// RESET: the tag is that of the PDU which it answers.
    pub(super) const REFLECTED: u8 = 16;
}

/// Bits of the types of a PDU, for events.
pub mod types {
    /// OPEN.
    pub const OPEN: u8 = 1;
    /// OPEN_ACK.
    pub const OPEN_ACK: u8 = 2;
    /// DATA.
    pub const DATA: u8 = 4;
    /// A POLL, in DATA or alone.
    pub const POLL: u8 = 8;
    /// A status, solicited or not.
    pub const STATUS: u8 = 16;
    /// It answers a POLL.
    pub const SOLICITED: u8 = 32;
    /// It says STOP_TX.
    pub const STOPPED: u8 = 64;
    /// RESET.
    pub const RESET: u8 = 128;
}

/// PDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdu<'a> {
    /// Port at its sender.
    pub source_port: u16,
    /// Port at its receiver.
    pub destination_port: u16,
    /// Tag that its receiver chose for the connection; 0 in OPEN.
    pub tag: u16,
    /// The rest.
    pub body: Body<'a>,
}

/// Body of a PDU, with the fields of the header that mean something in it. Numbers are the lowest 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Opens a connection.
    Open(Opening),
    /// Accepts it.
    OpenAck(Opening),
    /// Part of the stream of SDUs.
    Data {
        /// Number; the first one is 1.
        number: u32,
        /// Clock of the sender, µs, if the receiver is to answer at once: the POLL bit.
        poll: Option<u32>,
        /// At least one octet.
        payload: &'a [u8],
    },
    /// POLL without data, where none may leave.
    Poll {
        /// Clock of the sender, µs.
        clock: u32,
    },
    /// USTAT or SSTAT.
    Status(Status),
    /// Ends a connection at once.
    Reset {
        /// Why.
        reason: u8,
        /// True if `tag` is the one that the reset PDU carried, since its sender knows no other.
        is_reflected: bool,
    },
}

/// What an end says of itself as a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Tag that PDUs to this end carry; not 0.
    pub tag: u16,
    /// Largest payload that it takes.
    pub payload_bytes: u16,
    /// PDUs beyond LAST_IO that it takes.
    pub window_pdus: u16,
    /// Header of the SDUs that it sends.
    pub sdu_header_bytes: u16,
}

/// State of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// LAST_IO: everything up to this number has arrived.
    pub last_io: u32,
    /// LAST_SEQ_NO: the status speaks of numbers up to this one; LAST_IO if nothing is missing.
    pub last_seq_no: u32,
    /// Clock of the POLL that it answers: SSTAT; `None`: USTAT.
    pub echo: Option<u32>,
    /// STOP_TX; false: RESUME_TX.
    pub is_stopped: bool,
    /// Numbers beyond LAST_IO, up to LAST_SEQ_NO, that are missing.
    pub mask: Mask,
}

/// Words of RESET.
pub mod reset {
    use skyhaul_core::ResetReason;

    /// Octet of a reason.
    pub fn octet(reason: ResetReason) -> u8 {
        match reason {
            ResetReason::Refused => 1,
            ResetReason::UnknownConnection => 2,
            ResetReason::Aborted => 3,
            ResetReason::Protocol => 4,
            ResetReason::Busy => 5,
            ResetReason::Other(octet) => octet,
        }
    }

    /// Reason of an octet.
    pub fn reason(octet: u8) -> ResetReason {
        match octet {
            1 => ResetReason::Refused,
            2 => ResetReason::UnknownConnection,
            3 => ResetReason::Aborted,
            4 => ResetReason::Protocol,
            5 => ResetReason::Busy,
            other => ResetReason::Other(other),
        }
    }
}

impl Pdu<'_> {
    /// Bits of its types, for events.
    pub fn types(&self) -> u8 {
        match &self.body {
            Body::Open(_) => types::OPEN,
            Body::OpenAck(_) => types::OPEN_ACK,
            Body::Data { poll, .. } => types::DATA | if poll.is_some() { types::POLL } else { 0 },
            Body::Poll { .. } => types::POLL,
            Body::Status(status) => {
                let bit = |is_set: bool, bit| if is_set { bit } else { 0 };
                let solicited = bit(status.echo.is_some(), types::SOLICITED);
                types::STATUS | solicited | bit(status.is_stopped, types::STOPPED)
            }
            Body::Reset { .. } => types::RESET,
        }
    }

    /// Number field of the header.
    pub fn number(&self) -> u32 {
        match &self.body {
            Body::Data { number, .. } => *number,
            Body::Status(status) => status.last_io,
            Body::Reset { reason, .. } => u32::from(*reason),
            Body::Open(_) | Body::OpenAck(_) | Body::Poll { .. } => 0,
        }
    }

    /// Octets of the stream of SDUs in it.
    pub fn payload_bytes(&self) -> usize {
        match &self.body {
            Body::Data { payload, .. } => payload.len(),
            _ => 0,
        }
    }
}
