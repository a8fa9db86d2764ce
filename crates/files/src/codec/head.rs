//! The head that all records share, and their checks.

use std::ops::RangeInclusive;

use super::fields::Fields;
use super::record::{MODIFIED, MODIFIED_BYTES};
use crate::errors::Violation;
use crate::limits::{MAX_DAMAGED_CHUNKS, MAX_NAME_BYTES, MAX_TEXT_BYTES};
use crate::report::Side;

/// Octets of a head, with its check.
pub const HEAD_BYTES: usize = 12;

/// Octets of a check.
pub const CHECK_BYTES: usize = 4;

/// Octets that follow a body: its check.
pub const BODY_CHECK_BYTES: usize = CHECK_BYTES;

/// The check of some octets: the first four of their BLAKE3 hash. It finds damage, not malice.
pub fn check(octets: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::hash(octets);
    let [a, b, c, d, ..] = *hash.as_bytes();
    [a, b, c, d]
}

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// A file begins.
    File = 0x01,
    /// A chunk of a file; its data follows the body.
    Chunk = 0x02,
    /// All chunks of a file, or all that were asked for again, have been sent.
    End = 0x03,
    /// The sender gives a file up.
    Abort = 0x04,
    /// Files are verified and stored.
    Delivered = 0x81,
    /// The receiver gives a file up.
    Failed = 0x82,
    /// The receiver asks for chunks again.
    Again = 0x83,
    /// The receiver gives the session up.
    Stop = 0x84,
}

const KINDS: [RecordKind; 8] = [
    RecordKind::File,
    RecordKind::Chunk,
    RecordKind::End,
    RecordKind::Abort,
    RecordKind::Delivered,
    RecordKind::Failed,
    RecordKind::Again,
    RecordKind::Stop,
];

impl RecordKind {
    /// The kind as it travels.
    pub fn octet(self) -> u8 {
        self as u8
    }

    /// The side that sends records of this kind.
    pub fn side(self) -> Side {
        if self.octet() < 0x80 { Side::Sender } else { Side::Receiver }
    }

    /// The lengths that a body can have, besides a time of modification.
    pub fn body_bytes(self) -> RangeInclusive<usize> {
        match self {
            Self::File => 9..=8 + MAX_NAME_BYTES,
            Self::Chunk => 40..=40,
            Self::End => 32..=32,
            Self::Abort | Self::Failed | Self::Stop => 1..=1 + MAX_TEXT_BYTES,
            Self::Delivered => 20..=20,
            Self::Again => 6..=6 * MAX_DAMAGED_CHUNKS,
        }
    }
}

/// A record's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Kind of the record.
    pub kind: RecordKind,
    /// Only [`RecordKind::File`] has flags; zero elsewhere.
    pub flags: u8,
    /// Octets in the body, without its check.
    pub body: u16,
    /// The file that the record speaks of, by its number in this transfer.
    pub file: u32,
}

impl Head {
    /// Encodes the head and its check.
    pub fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut octets = [0; HEAD_BYTES];
        octets[0] = self.kind.octet();
        octets[1] = self.flags;
        octets[2..4].copy_from_slice(&self.body.to_be_bytes());
        octets[4..8].copy_from_slice(&self.file.to_be_bytes());
        let check = check(&octets[..8]);
        octets[8..].copy_from_slice(&check);
        octets
    }

    /// Decodes a head that came from `side`.
    pub fn decode(octets: &[u8; HEAD_BYTES], side: Side) -> Result<Self, Violation> {
        let mut fields = Fields(octets);
        let (octet, flags) = (fields.u8()?, fields.u8()?);
        let (body, file) = (fields.u16()?, fields.u32()?);
        if fields.rest() != check(&octets[..8]) {
            return Err(Violation::Check("a record's head"));
        }
        let kind = kind(octet, side)?;
        if flags != 0 && kind != RecordKind::File {
            return Err(Violation::Field("the flags of a record"));
        }
        let time_bytes = if kind == RecordKind::File && flags & MODIFIED != 0 { MODIFIED_BYTES } else { 0 };
        let fits = |rest: usize| kind.body_bytes().contains(&rest);
        if !usize::from(body).checked_sub(time_bytes).is_some_and(fits) {
            return Err(Violation::Length { kind: octet, length: u32::from(body) });
        }
        Ok(Self { kind, flags, body, file })
    }

    /// Octets in the body and its check.
    pub fn sealed_body_bytes(&self) -> usize {
        usize::from(self.body) + BODY_CHECK_BYTES
    }
}

fn kind(octet: u8, side: Side) -> Result<RecordKind, Violation> {
    let known = KINDS.into_iter().find(|kind| kind.octet() == octet && kind.side() == side);
    known.ok_or(Violation::RecordKind(octet))
}

/// A record without data: head, body, and both checks. The body is trusted to fit its kind.
pub fn frame(kind: RecordKind, flags: u8, file: u32, body: &[u8]) -> Vec<u8> {
    let head = Head { kind, flags, body: body.len() as u16, file };
    let mut octets = Vec::with_capacity(HEAD_BYTES + body.len() + BODY_CHECK_BYTES);
    octets.extend_from_slice(&head.encode());
    octets.extend_from_slice(body);
    octets.extend_from_slice(&check(body));
    octets
}

/// Takes the check off a body, if it fits.
pub(crate) fn open_body(sealed: &[u8]) -> Result<&[u8], Violation> {
    let damaged = Violation::Check("a record's body");
    let (body, stated) = sealed.split_last_chunk::<BODY_CHECK_BYTES>().ok_or(damaged)?;
    if *stated == check(body) { Ok(body) } else { Err(damaged) }
}
