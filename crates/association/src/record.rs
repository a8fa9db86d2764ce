//! Record: a sealed datagram, and its head (`docs/spec/protection.md`, section 2). Decoding is total.

use core::fmt;
use core::ops::Range;

use skyhaul_core::envelope::{EnvelopeError, Mode};

use crate::aead::TAG_BYTES;

/// Octets in front of a record's text: envelope, receiver's index, number.
pub const HEAD_BYTES: usize = 8;

/// Octets that a record is longer than its text.
pub const OVERHEAD_BYTES: usize = HEAD_BYTES + TAG_BYTES;

/// Bit of the index that marks a record of early data.
const EARLY: u32 = 1 << 23;

/// Greatest index of an association or a handshake.
pub const MAX_INDEX: u32 = EARLY - 1;

/// Modulus of datagram numbers as records carry them.
pub(crate) const NUMBER_MODULUS: u64 = 1 << 32;

/// Name that the receiver of records gave to an association, or the opener to its handshake: never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Index(u32);

impl Index {
    /// Index with this number; `None` for 0 and above [`MAX_INDEX`].
    pub const fn new(number: u32) -> Option<Self> {
        if number == 0 || number > MAX_INDEX { None } else { Some(Self(number)) }
    }

    /// Number of this index.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Octets of this index in messages.
    pub(crate) const fn octets(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }

    /// Index of these octets; `None` if they are none.
    pub(crate) const fn from_octets([a, b, c]: [u8; 3]) -> Option<Self> {
        Self::new(u32::from_be_bytes([0, a, b, c]))
    }
}

/// Whose keys a record is sealed under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// Association by the index that its receiver gave it.
    Association(Index),
    /// Handshake that is not answered yet, by the index that its opener gave it.
    Early(Index),
}

/// Head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Mode of the record: never [`Mode::Plain`].
    pub mode: Mode,
    /// Keys that it is sealed under.
    pub addressee: Addressee,
    /// Lowest 32 bits of the datagram's number.
    pub truncated_number: u32,
}

impl Head {
    /// Octets of the head.
    pub fn encode(self) -> [u8; HEAD_BYTES] {
        let index = match self.addressee {
            Addressee::Association(index) => index.0,
            Addressee::Early(index) => index.0 | EARLY,
        };
        let mut octets = [0; HEAD_BYTES];
        octets[..4].copy_from_slice(&index.to_be_bytes());
        octets[0] = self.mode.octet();
        octets[4..].copy_from_slice(&self.truncated_number.to_be_bytes());
        octets
    }

    /// Head of a datagram that is a record.
    pub fn decode(datagram: &[u8]) -> Result<Self, RecordError> {
        let &first = datagram.first().ok_or(EnvelopeError::Empty)?;
        let mode = protected_mode(first)?;
        let head = datagram.first_chunk::<HEAD_BYTES>().ok_or(RecordError::Short)?;
        if datagram.len() < OVERHEAD_BYTES {
            return Err(RecordError::Short);
        }
        let [_, a, b, c, number @ ..] = *head;
        let index = u32::from_be_bytes([0, a, b, c]);
        let named = Index::new(index & MAX_INDEX).ok_or(RecordError::NoIndex)?;
        let addressee =
            if index & EARLY == 0 { Addressee::Association(named) } else { Addressee::Early(named) };
        Ok(Self { mode, addressee, truncated_number: u32::from_be_bytes(number) })
    }
}

/// Mode of a protected datagram, by its first octet.
pub fn protected_mode(first: u8) -> Result<Mode, EnvelopeError> {
    let mode = match Mode::named_by(first) {
        Some(mode) if mode != Mode::Plain => mode,
        // Version and mode are refused in this order; the mode asked for is none that passes.
        _ => Mode::Encrypted,
    };
    mode.check(first)?;
    Ok(mode)
}

/// Text of a record of `length` octets.
pub(crate) const fn text_range(length: usize) -> Range<usize> {
    HEAD_BYTES..length.saturating_sub(TAG_BYTES)
}

/// Reason why a record was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The first octet is none of a protected datagram.
    Envelope(EnvelopeError),
    /// It has no room for head and tag.
    Short,
    /// The index is 0, which is nobody's.
    NoIndex,
    /// Nobody here has this index.
    UnknownIndex,
    /// The number was taken before.
    Replayed,
    /// The number is too far behind, or its key is wiped.
    Old,
    /// The number is too far ahead for a sender that was heard of at all.
    Ahead,
    /// The tag is not that of keys, head and text.
    Forged,
    /// Too many records were forged: these keys open nothing any more.
    Exhausted,
}

impl From<EnvelopeError> for RecordError {
    fn from(error: EnvelopeError) -> Self {
        Self::Envelope(error)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Envelope(error) => return error.fmt(f),
            Self::Short => "the record is too short",
            Self::NoIndex => "the record has no index",
            Self::UnknownIndex => "nobody here has the record's index",
            Self::Replayed => "the record was taken before",
            Self::Old => "the record is too old",
            Self::Ahead => "the record's number is too far ahead",
            Self::Forged => "the record is forged or damaged",
            Self::Exhausted => "too many records were forged: the keys are given up",
        })
    }
}

impl core::error::Error for RecordError {}
