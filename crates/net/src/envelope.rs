//! What surrounds the body of a datagram over UDP, and the seam for protection: `docs/spec/envelope.md`.

use std::ops::Range;

use skyhaul_core::envelope::{EnvelopeError, Mode};

/// Protection of datagrams. Both ends must be set to the same mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// Not at all: bodies travel as they are.
    #[default]
    Plain,
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
            *first = self.mode().octet();
        }
    }

    /// Checks what surrounds the body and says where in `datagram` it is.
    pub fn open(self, datagram: &mut [u8]) -> Result<Range<usize>, EnvelopeError> {
        let &first = datagram.first().ok_or(EnvelopeError::Empty)?;
        self.mode().check(first)?;
        Ok(self.head_bytes() as usize..datagram.len())
    }

    fn mode(self) -> Mode {
        match self {
            Self::Plain => Mode::Plain,
        }
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
