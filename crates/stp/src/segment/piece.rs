//! A piece of a packet: `docs/spec/stp.md`, section 3.4. A packet keeps its number and its size for good;
//! where the path takes less by now, and no fragments of IP, it crosses in pieces.

use alloc::vec::Vec;

use super::Payload;

/// Bytes of a PIECE's body beside the data.
pub const PIECE_BYTES: usize = 4;
/// Least octets of a piece that is not the last one of its packet, so that tiny pieces cannot fill memory
/// with bookkeeping.
pub const MIN_PIECE_BYTES: usize = 128;

/// Body of PIECE. The segment's number is that of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Position of the piece in its packet.
    pub offset: u16,
    /// Octets of the whole packet.
    pub total: u16,
    /// Octets of the piece.
    pub data: Payload<'a>,
}

impl Piece<'_> {
    /// Octets of the piece.
    pub fn bytes(&self) -> usize {
        self.data.0.len() + self.data.1.len()
    }

    /// True if it lies in its packet, is not all of it, and is no tiny one in the middle of it.
    pub(super) fn is_valid(&self) -> bool {
        let (bytes, total) = (self.bytes(), usize::from(self.total));
        let end = usize::from(self.offset) + bytes;
        let is_part = (1..total).contains(&bytes) && end <= total;
        is_part && (end == total || bytes >= MIN_PIECE_BYTES)
    }
}

pub(super) fn put_piece(piece: &Piece<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&piece.offset.to_be_bytes());
    out.extend_from_slice(&piece.total.to_be_bytes());
    out.extend_from_slice(piece.data.0);
    out.extend_from_slice(piece.data.1);
}

/// Reads a piece, to the end of `bytes`; `None` if it is cut off, or contradicts itself.
pub(super) fn take_piece<'a>(bytes: &mut &'a [u8]) -> Option<Piece<'a>> {
    let (&[a, b, c, d], data) = bytes.split_first_chunk::<PIECE_BYTES>()?;
    *bytes = &[];
    let (offset, total) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Some(Piece { offset, total, data: (data, &[]) }).filter(Piece::is_valid)
}
