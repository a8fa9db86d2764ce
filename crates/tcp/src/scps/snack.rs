//! Option 21: selective negative acknowledgement [SCPS-TP 3.3.2].

use super::SNACK;
use crate::segment::ExtraOptions;

/// Octets of a value without a vector.
const FIXED_BYTES: usize = 4;

/// A hole, and what follows it, in blocks of a size that both ends know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnackOption<'a> {
    /// Blocks from the acknowledgement number to the hole.
    pub offset: u16,
    /// Blocks of the hole.
    pub size: u16,
    /// Blocks behind the hole, one a bit, the first one in the highest bit of the first octet. 1: all of it
    /// is there. 0: something is missing; zeros behind the last 1 say nothing.
    pub vector: &'a [u8],
}

impl<'a> SnackOption<'a> {
    /// Bytes of an option with a vector of so many octets.
    pub(super) const fn encoded_len(vector_octets: usize) -> usize {
        2 + FIXED_BYTES + vector_octets
    }

    /// Decodes the value of an option; `None`: it is too short.
    pub fn decode(value: &'a [u8]) -> Option<Self> {
        let (&[a, b, c, d], vector) = value.split_first_chunk::<FIXED_BYTES>()?;
        Some(Self { offset: u16::from_be_bytes([a, b]), size: u16::from_be_bytes([c, d]), vector })
    }

    /// Adds the option; false if there is no room.
    pub fn push(self, options: &mut ExtraOptions) -> bool {
        let ([a, b], [c, d]) = (self.offset.to_be_bytes(), self.size.to_be_bytes());
        options.push_parts(SNACK, &[a, b, c, d], self.vector)
    }

    /// Blocks of the vector up to the last one that is there: true where a block is.
    pub fn blocks(&self) -> impl Iterator<Item = bool> + 'a {
        let vector = self.vector;
        let bit = move |n: usize| vector[n / 8] << (n % 8) & 0x80 != 0;
        let told = (0..8 * vector.len()).rev().find(|&n| bit(n)).map_or(0, |last| last + 1);
        (0..told).map(bit)
    }
}
