//! A packet as it crosses a link: whole, or as IP fragments.

use crate::MIN_MTU_BYTES;

/// Header of each fragment, IPv4 without options.
const HEADER_BYTES: u32 = 20;

/// Pieces that a packet is serialised in, one after the other: all as large as the first but the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// At least 1.
    pub(crate) count: u32,
    /// Bytes on the wire of each but the last.
    pub(crate) piece_bytes: u32,
    /// Bytes on the wire of the last one, not more.
    pub(crate) last_bytes: u32,
    /// Bytes on the wire of all of them; a packet has less than 4 GB.
    pub(crate) total_bytes: u32,
}

impl Pieces {
    /// The packet itself.
    pub(crate) fn whole(wire_bytes: u32) -> Self {
        Self { count: 1, piece_bytes: wire_bytes, last_bytes: wire_bytes, total_bytes: wire_bytes }
    }

    /// Fragments of at most `mtu_bytes` bytes (at least [`MIN_MTU_BYTES`]) of a packet that is larger. The
    /// payload of each but the last is a multiple of 8 bytes [RFC 791 3.2].
    pub(crate) fn fragments(wire_bytes: u32, mtu_bytes: u32) -> Self {
        let room = (mtu_bytes.max(MIN_MTU_BYTES) - HEADER_BYTES) / 8 * 8;
        let payload = wire_bytes.saturating_sub(HEADER_BYTES);
        let count = payload.div_ceil(room).max(1);
        let last = payload - (count - 1) * room;
        let (piece_bytes, last_bytes) = (HEADER_BYTES + room, HEADER_BYTES + last);
        let all = u64::from(piece_bytes) * u64::from(count - 1) + u64::from(last_bytes);
        Self { count, piece_bytes, last_bytes, total_bytes: u32::try_from(all).unwrap_or(u32::MAX) }
    }

    /// Bytes on the wire of each piece.
    pub(crate) fn each(self) -> impl Iterator<Item = u32> {
        let first = (1..self.count).map(move |_| self.piece_bytes);
        first.chain(core::iter::once(self.last_bytes))
    }
}
