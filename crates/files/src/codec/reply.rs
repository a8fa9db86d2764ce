//! Records of the receiver.

use super::fields::Fields;
use super::head::{Head, RecordKind, frame};
use super::record::{decode_reason, encode_reason};
use crate::digest::Digest;
use crate::errors::Violation;
use crate::limits::MAX_DAMAGED_CHUNKS;
use crate::reason::Reason;

/// Some neighbouring chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRange {
    /// The first chunk's number.
    pub first: u32,
    /// How many, at least one.
    pub count: u16,
}

impl ChunkRange {
    /// The number after the last one, if all of them exist.
    fn end(self) -> Option<u32> {
        self.first.checked_add(u32::from(self.count))
    }

    /// The chunk numbers.
    pub fn numbers(self) -> impl DoubleEndedIterator<Item = u32> {
        self.first..self.first.saturating_add(u32::from(self.count))
    }

    /// Ascending chunk numbers as ranges.
    pub fn collect(numbers: impl IntoIterator<Item = u32>) -> Vec<Self> {
        let mut ranges: Vec<Self> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some(last) if last.end() == Some(number) && last.count < u16::MAX => last.count += 1,
                _ => ranges.push(Self { first: number, count: 1 }),
            }
        }
        ranges
    }
}

/// Record of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `count` files, beginning with the record's, are verified and stored.
    Delivered {
        /// How many files.
        count: u32,
        /// The [`receipt`] over their digests.
        receipt: [u8; 16],
    },
    /// The receiver refuses the file or failed to store it.
    Failed {
        /// Why.
        reason: Reason,
    },
    /// Chunks came damaged and are wanted again: ascending, not touching, none empty.
    Again {
        /// Which ones.
        ranges: Vec<ChunkRange>,
    },
    /// The receiver gives the session up.
    Stop {
        /// Why.
        reason: Reason,
    },
}

/// Proof that a receiver has these files: the first 16 octets of the BLAKE3 hash of their digests.
pub fn receipt<'a>(digests: impl IntoIterator<Item = &'a Digest>) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    digests.into_iter().for_each(|digest| {
        hasher.update(&digest.0);
    });
    let mut receipt = [0; 16];
    receipt.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    receipt
}

impl Reply {
    /// Encodes the reply about `file`.
    pub fn encode(&self, file: u32) -> Vec<u8> {
        match self {
            Self::Delivered { count, receipt } => {
                frame(RecordKind::Delivered, 0, file, &[&count.to_be_bytes(), &receipt[..]].concat())
            }
            Self::Failed { reason } => frame(RecordKind::Failed, 0, file, &encode_reason(reason)),
            Self::Again { ranges } => frame(RecordKind::Again, 0, file, &encode_ranges(ranges)),
            Self::Stop { reason } => frame(RecordKind::Stop, 0, file, &encode_reason(reason)),
        }
    }

    /// Decodes a body whose check was verified.
    pub fn decode(head: &Head, body: &[u8]) -> Result<Self, Violation> {
        let mut fields = Fields(body);
        match head.kind {
            RecordKind::Delivered => Ok(Self::Delivered { count: fields.u32()?, receipt: fields.array()? }),
            RecordKind::Failed => Ok(Self::Failed { reason: decode_reason(fields)? }),
            RecordKind::Again => Ok(Self::Again { ranges: decode_ranges(fields)? }),
            RecordKind::Stop => Ok(Self::Stop { reason: decode_reason(fields)? }),
            other => Err(Violation::RecordKind(other.octet())),
        }
    }
}

fn encode_ranges(ranges: &[ChunkRange]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(6 * ranges.len());
    for range in ranges {
        octets.extend_from_slice(&range.first.to_be_bytes());
        octets.extend_from_slice(&range.count.to_be_bytes());
    }
    octets
}

fn decode_ranges(mut fields: Fields<'_>) -> Result<Vec<ChunkRange>, Violation> {
    let wrong = Violation::Field("a list of chunks");
    let mut ranges = Vec::with_capacity(fields.0.len() / 6);
    let (mut chunks, mut free_from) = (0, 0);
    while !fields.0.is_empty() {
        let range = ChunkRange { first: fields.u32()?, count: fields.u16()? };
        chunks += usize::from(range.count);
        if range.count == 0 || range.first < free_from || chunks > MAX_DAMAGED_CHUNKS {
            return Err(wrong);
        }
        // The next range begins after a gap, or the two would be one.
        free_from = range.end().and_then(|end| end.checked_add(1)).ok_or(wrong)?;
        ranges.push(range);
    }
    Ok(ranges)
}
