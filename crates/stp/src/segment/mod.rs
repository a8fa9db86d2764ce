//! Segments on the wire: `docs/spec/stp.md`, section 3.

mod block;
mod decode;
mod encode;
mod gap_list;
pub mod layout;
#[cfg(test)]
mod layout_tests;
mod piece;
#[cfg(test)]
mod segment_tests;
#[cfg(test)]
mod vectors;

use alloc::vec::Vec;

use skyhaul_core::ResetReason;

pub use block::{Block, MAX_BLOCK_BYTES, MAX_BLOCK_PACKETS, block_len};
pub use decode::{Malformed, decode, decode_with};
pub use encode::{encode, encode_with, encoded_len, report_len, stat_len};
pub use gap_list::{GapList, ListBounds, MAX_RUNS};
pub use piece::{MIN_PIECE_BYTES, PIECE_BYTES, Piece};

/// Bytes of the common header [STP 5.1.1].
pub const HEADER_BYTES: usize = layout::HEADER.octets();
/// Bytes of an opening (BGN or BGNAK) without options.
pub const OPENING_BYTES: usize = layout::OPENING.octets();
/// Bytes of a POLL's body without [`Poll::settled`].
pub const POLL_BYTES: usize = layout::POLL.octets();
/// Bytes that [`Poll::settled`] adds to it.
pub const SETTLED_BYTES: usize = 4;
/// Bytes of an END's body.
pub const END_BYTES: usize = layout::END.octets();
/// Version of the wire format, carried in BGN and BGNAK.
pub const WIRE_VERSION: u8 = 1;
/// Every SD takes at least this much of a window, so that tiny packets cannot fill memory with
/// bookkeeping.
pub const MIN_CHARGE_BYTES: u64 = 256;

/// Bytes that an SD of `payload_bytes` takes of the peer's window.
pub fn charge_bytes(payload_bytes: usize) -> u64 {
    (payload_bytes as u64).max(MIN_CHARGE_BYTES)
}

/// Type bits; a segment's type is their OR [STP 5.1.1].
pub mod types {
    /// Sequenced data.
    pub const SD: u8 = 0x01;
    /// Asks for a STAT.
    pub const POLL: u8 = 0x02;
    /// Full state of the receiver, answer to a POLL.
    pub const STAT: u8 = 0x04;
    /// Unsolicited report of a gap, or of a window that opened.
    pub const USTAT: u8 = 0x08;
    /// Opens a connection.
    pub const BGN: u8 = 0x10;
    /// Accepts it.
    pub const BGNAK: u8 = 0x20;
    /// Ends the sender's direction.
    pub const END: u8 = 0x40;
    /// Confirms an END.
    pub const ENDAK: u8 = 0x80;
    /// Ends everything at once; never combined. (BGN and BGNAK never share a segment, so their
    /// combination with END and ENDAK is free.)
    pub const RST: u8 = BGN | BGNAK | END | ENDAK;
    /// Says which packets repair symbols are made of; never combined. (BGN and STAT never share a segment.)
    pub const BLOCK: u8 = BGN | STAT;
    /// A repair symbol; never combined. (BGN and USTAT never share a segment.)
    pub const REPAIR: u8 = BGN | USTAT;
    /// A piece of a packet; never combined. (BGN and STAT never share a segment.)
    pub const PIECE: u8 = BGN | STAT | USTAT;
}

/// Options of an opening: what its sender wants or can do beyond the papers. A peer that knows nothing of one
/// skips it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The sender goes by the receiver's clock and count: please put [`Timing`] into STATs.
    pub timing: bool,
    /// The sender takes BLOCK and REPAIR, and may send them.
    pub repairs: bool,
    /// The sender takes POLLs with [`Poll::settled`], and may send them.
    pub increments: bool,
    /// The sender takes PIECE.
    pub pieces: bool,
    /// The sender takes path headers, and puts [`Feedback`] into its STATs.
    pub feedback: bool,
    /// Octets of padding; 0: none. Not read.
    pub padding: u8,
}

/// Kind of the option [`Options::timing`]; its value is empty.
const OPTION_TIMING: u8 = 1;
/// Kind of the option [`Options::repairs`]; its value is empty.
const OPTION_REPAIRS: u8 = 2;
/// Kind of the option [`Options::increments`]; its value is empty.
const OPTION_INCREMENTS: u8 = 3;
/// Kind of the option [`Options::padding`]; its value is that many zeros.
const OPTION_PADDING: u8 = 4;
/// Kind of the option [`Options::pieces`]; its value is empty.
const OPTION_PIECES: u8 = 5;
/// Kind of the option [`Options::feedback`]; its value is empty.
const OPTION_FEEDBACK: u8 = 6;

impl Options {
    /// Bytes on the wire of all of them without padding.
    pub const MAX_BYTES: usize = 10;

    /// Bytes on the wire.
    pub fn bytes(self) -> usize {
        let padding = if self.padding > 0 { 2 + usize::from(self.padding) } else { 0 };
        let empty = [self.timing, self.repairs, self.increments, self.pieces, self.feedback];
        2 * empty.into_iter().filter(|&is| is).count() + padding
    }

    /// Most octets of padding: all options together have a length of one octet.
    pub fn max_padding(self) -> u8 {
        u8::MAX - 2 - Self { padding: 0, ..self }.bytes() as u8 // of which there are few
    }
}

/// Body of BGN and BGNAK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Largest SD payload that this side takes, in bytes.
    pub max_payload_bytes: u16,
    /// Number of this side's first SD (24 bits).
    pub initial: u32,
    /// Bytes that this side accepts from its next expected packet on.
    pub window_bytes: u32,
    /// Chosen by the opener, echoed by the acceptor: names the connection for good.
    pub nonce: u64,
    /// Options that the papers have not.
    pub options: Options,
}

/// Body of POLL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// Name of the POLL: strictly increasing, by random steps.
    pub timestamp: u32,
    /// Number of the next new SD (24 bits): everything before it was sent.
    pub next: u32,
    /// Number (24 bits) below which whatever was told to be missing was sent again before: the answer need
    /// not repeat what was told of later ones. Only towards a peer with [`Options::increments`].
    pub settled: Option<u32>,
    /// No gap need be reported by USTAT: a loss costs its repeat and nothing else.
    pub spares_ustats: bool,
    /// The data of this segment is padding: the segment is a probe of the path's MTU.
    pub pads: bool,
}

/// Octet behind a POLL's next number.
mod poll_flags {
    /// [`super::Poll::settled`] follows.
    pub(super) const SETTLED: u8 = 1;
    /// [`super::Poll::spares_ustats`].
    pub(super) const SPARES_USTATS: u8 = 2;
    /// [`super::Poll::pads`].
    pub(super) const PADS: u8 = 4;
}

/// Body that STAT and USTAT have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Next number expected in sequence (24 bits).
    pub next: u32,
    /// Bytes accepted from `next` on.
    pub window_bytes: u32,
    /// More segments with the same echo follow.
    pub more: bool,
    /// Packets that nothing is said of, as (distance from `next` to the first one, how many): they were told
    /// of before.
    pub silent: Option<(u32, u32)>,
    /// Distance from `next` to the first run, the silent packets not counted.
    pub start: u32,
    /// Without the silent packets: lengths of alternating runs: missing, received, missing, ... Empty: no
    /// gap.
    pub runs: Vec<u32>,
}

/// When the POLL came, and what had come by then: a rate that no way back can blur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The receiver's clock when the POLL came, in units of 2^10 ns, modulo 2^32.
    pub clock: u32,
    /// Octets of this connection's segments received until then, that of the POLL included, modulo 2^32.
    pub octets: u32,
}

/// Feedback of routers on the path as it arrived with data, up to the moment when a STAT leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Sum of all changes since the begin, in octets a second, modulo 2^32: what a lost STAT would have told
    /// is in the next one.
    pub sum_bytes_per_s: u32,
    /// Routers that the last packet with a header had passed.
    pub routers: u8,
}

/// Bytes of [`Feedback`] in a STAT.
pub(crate) const FEEDBACK_BYTES: usize = 5;
/// A unit of [`Timing::clock`] is 2^10 ns.
pub const CLOCK_SHIFT: u32 = 10;
/// Bytes of [`Timing`] in a STAT.
const TIMING_BYTES: usize = 8;

/// Body of STAT.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Timestamp of the POLL that this answers.
    pub echo: u32,
    /// State of the receiver.
    pub report: Report,
    /// In the first part, if the peer's opening asked for it.
    pub timing: Option<Timing>,
    /// In the first part, once packets with path headers arrived, if the peer's opening asked for it.
    pub feedback: Option<Feedback>,
    /// While a block is incomplete: its name, and how many repair symbols are wanted to decode it.
    pub wanting: Option<(u8, u32)>,
}

/// What a STAT has between window and list beside its report.
#[derive(Clone, Copy, Debug, Default)]
struct Extras {
    timing: Option<Timing>,
    feedback: Option<Feedback>,
    wanting: Option<(u8, u32)>,
}

impl Stat {
    fn extras(&self) -> Extras {
        let Self { timing, feedback, wanting, .. } = *self;
        Extras { timing, feedback, wanting }
    }
}

/// Code of a reason on the wire.
pub fn reset_code(reason: ResetReason) -> u8 {
    match reason {
        ResetReason::Refused => 1,
        ResetReason::UnknownConnection => 2,
        ResetReason::Aborted => 3,
        ResetReason::Protocol => 4,
        ResetReason::Busy => 5,
        ResetReason::Other(code) => code,
    }
}

/// Reason of a code on the wire.
pub fn reset_reason(code: u8) -> ResetReason {
    match code {
        1 => ResetReason::Refused,
        2 => ResetReason::UnknownConnection,
        3 => ResetReason::Aborted,
        4 => ResetReason::Protocol,
        5 => ResetReason::Busy,
        other => ResetReason::Other(other),
    }
}

/// True if `a` is a later timestamp of a POLL than `b`, by serial-number comparison.
pub(crate) fn is_newer(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 31
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
    /// Packet number field (24 bits): the SD's number, or the sender's next new number.
    pub number: u32,
    /// Tells connections between the same ports apart.
    pub instance: u16,
    /// BGN.
    pub bgn: Option<Opening>,
    /// BGNAK.
    pub bgnak: Option<Opening>,
    /// POLL.
    pub poll: Option<Poll>,
    /// STAT.
    pub stat: Option<Stat>,
    /// USTAT.
    pub ustat: Option<Report>,
    /// END with one past the last number (24 bits).
    pub end: Option<u32>,
    /// ENDAK.
    pub endak: bool,
    /// RST.
    pub rst: Option<ResetReason>,
    /// SD.
    pub data: Option<Payload<'a>>,
    /// BLOCK; `number` is that of its first packet.
    pub block: Option<Block>,
    /// REPAIR; `number` says of which block and which symbol ([`repair_number`]).
    pub repair: Option<&'a [u8]>,
    /// PIECE; `number` is that of the packet.
    pub piece: Option<Piece<'a>>,
}

/// Packet number field of a REPAIR.
pub fn repair_number(block: u8, symbol: u16) -> u32 {
    u32::from(block) << 16 | u32::from(symbol)
}

/// Block and symbol of a REPAIR's packet number field.
pub fn repair_of(number: u32) -> (u8, u16) {
    ((number >> 16) as u8, number as u16)
}

impl Segment<'_> {
    /// The type field.
    pub fn type_bits(&self) -> u8 {
        if self.rst.is_some() {
            return types::RST;
        }
        if self.block.is_some() {
            return types::BLOCK;
        }
        if self.repair.is_some() {
            return types::REPAIR;
        }
        if self.piece.is_some() {
            return types::PIECE;
        }
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        bit(self.data.is_some(), types::SD)
            | bit(self.poll.is_some(), types::POLL)
            | bit(self.stat.is_some(), types::STAT)
            | bit(self.ustat.is_some(), types::USTAT)
            | bit(self.bgn.is_some(), types::BGN)
            | bit(self.bgnak.is_some(), types::BGNAK)
            | bit(self.end.is_some(), types::END)
            | bit(self.endak, types::ENDAK)
    }

    /// Data of the SD, unless it is the padding of a probe.
    pub fn packet(&self) -> Option<Payload<'_>> {
        self.data.filter(|_| !self.poll.is_some_and(|poll| poll.pads))
    }

    /// Numbers (24 bits) that the segment says were given out: of its packet, and those that its POLL and END
    /// tell.
    pub fn told_numbers(&self) -> impl Iterator<Item = u32> {
        let has_packet = self.piece.is_some() || self.packet().is_some();
        let of_packet = has_packet.then_some(self.number);
        [of_packet, self.poll.map(|poll| poll.next), self.end].into_iter().flatten()
    }

    /// Block that a BLOCK or a REPAIR is of.
    pub fn coded_block(&self) -> Option<u8> {
        let of_symbol = self.repair.map(|_| repair_of(self.number).0);
        self.block.as_ref().map(|block| block.id).or(of_symbol)
    }

    /// Bytes of application data.
    pub fn payload_bytes(&self) -> usize {
        let data = self.piece.map(|piece| piece.data).or(self.data);
        data.map_or(0, |(a, b)| a.len() + b.len())
    }
}
