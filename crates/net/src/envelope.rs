//! The octet in front of every datagram over UDP, and the seam for protection. The bits are in
//! `docs/spec/envelope.md`.

use std::ops::Range;

use thiserror::Error;

/// Version of the envelope, in the three highest bits.
pub const VERSION: u8 = 1;

const VERSION_SHIFT: u8 = 5;
const MODE_SHIFT: u8 = 2;
const MODE_MASK: u8 = 0b111;
const PATH_HEADER: u8 = 0b10;
const RESERVED: u8 = 0b01;

/// Mode that leaves the body as it is.
const MODE_PLAIN: u8 = 0;

/// Protection of datagrams. Both ends must be set to the same mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// Not at all: bodies travel as they are.
    #[default]
    Plain,
}

/// Reason why a datagram was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    /// A datagram without a single octet.
    #[error("the datagram is empty")]
    Empty,
    /// Not this version (or not skyhaul at all).
    #[error("envelope version {0} is not known")]
    Version(u8),
    /// Another protection mode than this end's.
    #[error("protection mode {0} is not this endpoint's")]
    Mode(u8),
    /// A path header, which this version does not have.
    #[error("path headers are not known")]
    PathHeader,
    /// The reserved bit is set.
    #[error("the reserved bit is set")]
    Reserved,
}

impl Protection {
    /// Bytes in front of the body.
    pub const fn head_bytes(self) -> u32 {
        1
    }

    /// Bytes behind the body.
    pub const fn tail_bytes(self) -> u32 {
        0
    }

    /// Fills in what surrounds the body: `datagram` has [`Self::head_bytes`] of room in front and
    /// [`Self::tail_bytes`] behind.
    pub fn seal(self, datagram: &mut [u8]) {
        if let Some(first) = datagram.first_mut() {
            *first = VERSION << VERSION_SHIFT | self.mode() << MODE_SHIFT;
        }
    }

    /// Checks what surrounds the body and says where in `datagram` it is.
    pub fn open(self, datagram: &mut [u8]) -> Result<Range<usize>, EnvelopeError> {
        let &first = datagram.first().ok_or(EnvelopeError::Empty)?;
        self.check(first)?;
        Ok(self.head_bytes() as usize..datagram.len())
    }

    fn mode(self) -> u8 {
        match self {
            Self::Plain => MODE_PLAIN,
        }
    }

    fn check(self, first: u8) -> Result<(), EnvelopeError> {
        let (version, mode) = (first >> VERSION_SHIFT, first >> MODE_SHIFT & MODE_MASK);
        if version != VERSION {
            return Err(EnvelopeError::Version(version));
        }
        if mode != self.mode() {
            return Err(EnvelopeError::Mode(mode));
        }
        if first & PATH_HEADER != 0 {
            return Err(EnvelopeError::PathHeader);
        }
        if first & RESERVED != 0 { Err(EnvelopeError::Reserved) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_datagram_is_one_known_octet_and_the_body() {
        let mut datagram = *b"?STP";
        Protection::Plain.seal(&mut datagram);
        assert_eq!(datagram, [0x20, b'S', b'T', b'P'], "the golden bytes of docs/spec/envelope.md");
        assert_eq!(Protection::Plain.open(&mut datagram), Ok(1..4));
    }

    #[test]
    fn an_empty_body_is_a_body() {
        assert_eq!(Protection::Plain.open(&mut [0x20]), Ok(1..1));
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        let open = |first: u8| Protection::Plain.open(&mut [first, 1, 2]).unwrap_err();
        assert_eq!(open(0x00), EnvelopeError::Version(0));
        assert_eq!(open(0x40), EnvelopeError::Version(2));
        assert_eq!(open(0xE0), EnvelopeError::Version(7));
        assert_eq!(open(0x24), EnvelopeError::Mode(1));
        assert_eq!(open(0x3C), EnvelopeError::Mode(7));
        assert_eq!(open(0x22), EnvelopeError::PathHeader);
        assert_eq!(open(0x21), EnvelopeError::Reserved);
        assert_eq!(Protection::Plain.open(&mut []), Err(EnvelopeError::Empty));
    }

    #[test]
    fn one_octet_of_256_opens() {
        let opens = (0..=255u8).filter(|&first| Protection::Plain.open(&mut [first]).is_ok());
        assert_eq!(opens.collect::<Vec<_>>(), [0x20]);
    }
}
