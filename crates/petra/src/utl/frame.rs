//! Frames of UTL in the stream of the hop below: a batch's header, or a confirmation.

/// Octets of a frame, without a batch's payload.
pub const FRAME_BYTES: usize = 12;

const BATCH: u8 = 1;
const CONFIRM: u8 = 2;
const ENDS: u8 = 1;

/// Frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// So many octets of a batch follow.
    Batch {
        /// Number; the first one is 1.
        number: u32,
        /// Octets.
        length: u32,
        /// True if it is the last one of its stream.
        ends: bool,
    },
    /// The application has read this batch, and all before it.
    Confirm {
        /// Its number.
        number: u32,
    },
}

impl Frame {
    /// Octets of the frame.
    pub fn encode(self) -> [u8; FRAME_BYTES] {
        let (kind, flags, number, length) = match self {
            Self::Batch { number, length, ends } => (BATCH, if ends { ENDS } else { 0 }, number, length),
            Self::Confirm { number } => (CONFIRM, 0, number, 0),
        };
        let mut octets = [0; FRAME_BYTES];
        octets[..2].copy_from_slice(&[kind, flags]);
        octets[4..8].copy_from_slice(&number.to_be_bytes());
        octets[8..].copy_from_slice(&length.to_be_bytes());
        octets
    }

    /// Frame of these octets; `None`: there is no such frame.
    pub fn decode(octets: [u8; FRAME_BYTES]) -> Option<Self> {
        let [kind, flags, 0, 0, rest @ ..] = octets else { return None };
        let [a, b, c, d, length @ ..] = rest;
        let (number, length) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes(length));
        match (kind, flags) {
            (BATCH, 0 | ENDS) => Some(Self::Batch { number, length, ends: flags == ENDS }),
            (CONFIRM, 0) if length == 0 => Some(Self::Confirm { number }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_and_others_are_none() {
        let batch = Frame::Batch { number: 0x0102_0304, length: 0x0A0B, ends: true };
        assert_eq!(batch.encode(), [1, 1, 0, 0, 1, 2, 3, 4, 0, 0, 10, 11]);
        let confirm = Frame::Confirm { number: 7 };
        assert_eq!(confirm.encode(), [2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0]);
        for frame in [batch, confirm] {
            assert_eq!(Frame::decode(frame.encode()), Some(frame));
        }
        for (place, octet) in [(0, 3), (0, 0), (1, 2), (2, 1), (3, 1)] {
            let mut octets = batch.encode();
            octets[place] = octet;
            assert_eq!(Frame::decode(octets), None, "{place} {octet}");
        }
        assert_eq!(Frame::decode([2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1]), None);
    }
}
