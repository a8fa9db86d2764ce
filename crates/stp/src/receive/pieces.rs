//! Pieces of packets at the receiver, until a packet is whole (`docs/spec/stp.md`, section 6.1).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;

use skyhaul_core::RangeSet;

use crate::segment::{Piece, charge_bytes};

/// Most octets of charge of packets that are not whole yet: four of the largest.
const MAX_HELD_BYTES: u64 = 256 << 10;

/// A packet of which some pieces are here.
#[derive(Clone, Debug)]
struct Partial {
    number: u64,
    /// As large as the packet.
    data: Box<[u8]>,
    /// Octets of it that are here.
    have: RangeSet,
}

impl Partial {
    fn charge_bytes(&self) -> u64 {
        charge_bytes(self.data.len())
    }

    fn is_whole(&self) -> bool {
        self.have.run_from(0) == Some(self.data.len() as u64)
    }

    /// Takes a piece: it ends within the packet.
    fn put(&mut self, piece: &Piece<'_>) {
        let (first, second) = piece.data;
        let from = usize::from(piece.offset);
        self.data[from..from + first.len()].copy_from_slice(first);
        self.data[from + first.len()..from + piece.bytes()].copy_from_slice(second);
        self.have.insert_range(from as u64, (from + piece.bytes()) as u64);
    }
}

/// Packets that are not whole yet, oldest first: at most [`MAX_HELD_BYTES`]. Without any it holds no memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    partials: VecDeque<Partial>,
    held_bytes: u64,
}

impl Pieces {
    /// Takes a piece of packet `number`. Where it names another size of the packet than pieces before it,
    /// what these brought is forgotten. Result: the packet, if that makes it whole.
    pub(super) fn put(&mut self, number: u64, piece: &Piece<'_>) -> Option<Box<[u8]>> {
        let total = usize::from(piece.total);
        let mut partial = self
            .take(number)
            .filter(|partial| partial.data.len() == total)
            .unwrap_or_else(|| Partial { number, data: vec![0; total].into(), have: RangeSet::new() });
        partial.put(piece);
        if partial.is_whole() {
            return Some(partial.data);
        }
        self.keep(partial);
        None
    }

    /// Packet `number` is there: its pieces are of no use.
    pub(super) fn forget(&mut self, number: u64) {
        self.take(number);
    }

    fn take(&mut self, number: u64) -> Option<Partial> {
        // The newest is the likeliest.
        let place = self.partials.iter().rposition(|partial| partial.number == number)?;
        let partial = self.partials.remove(place)?;
        self.held_bytes -= partial.charge_bytes();
        if self.partials.is_empty() {
            self.partials = VecDeque::new();
        }
        Some(partial)
    }

    /// Keeps a packet. Where there is no room, the oldest makes it: all its pieces will come again.
    fn keep(&mut self, partial: Partial) {
        self.held_bytes += partial.charge_bytes();
        self.partials.push_back(partial);
        while self.held_bytes > MAX_HELD_BYTES
            && let Some(oldest) = self.partials.pop_front()
        {
            self.held_bytes -= oldest.charge_bytes();
        }
    }

    /// Bytes held.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Checks the books against a recount.
    pub(super) fn check_invariants(&self) {
        let held: u64 = self.partials.iter().map(Partial::charge_bytes).sum();
        debug_assert_eq!(self.held_bytes, held);
        debug_assert!(held <= MAX_HELD_BYTES);
    }
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
