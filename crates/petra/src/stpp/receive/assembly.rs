//! PDUs in order: what has arrived behind a missing one waits here.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::super::pdu::{Mask, MaskCoding, rice_bytes, shortest_bytes};

/// Octets of an entry in a list.
const ENTRY_BYTES: usize = 2;

/// Numbers that have arrived, as a status tells them.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) last_io: u64,
    pub(super) last_seq_no: u64,
    pub(super) mask: Mask,
}

/// Order of PDUs. Those that wait are at most a window, and their octets count against the receiver's room.
#[derive(Clone, Debug)]
pub(super) struct Assembly {
    /// Number of the next PDU in order.
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
    waiting_bytes: u64,
}

impl Assembly {
    pub(super) fn new() -> Self {
        Self { next: 1, waiting: BTreeMap::new(), waiting_bytes: 0 }
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Octets that wait behind a missing PDU.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    pub(super) fn has_gaps(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// True if a PDU has arrived before.
    pub(super) fn has(&self, number: u64) -> bool {
        number < self.next || self.waiting.contains_key(&number)
    }

    /// Keeps a PDU that is not the next one.
    pub(super) fn wait(&mut self, number: u64, payload: &[u8]) {
        debug_assert!(number > self.next && !self.has(number));
        self.waiting_bytes += payload.len() as u64;
        self.waiting.insert(number, payload.to_vec());
    }

    /// Takes in that the next PDU in order has come.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Next PDU in order, if it waits here.
    pub(super) fn take_next(&mut self) -> Option<Vec<u8>> {
        let payload = self.waiting.remove(&self.next)?;
        self.waiting_bytes -= payload.len() as u64;
        self.next += 1;
        Some(payload)
    }

    /// Numbers that have arrived, in a mask of at most `max_bytes`: where it would be longer, LAST_SEQ_NO is
    /// the last number that it has room for.
    pub(super) fn arrived(&self, coding: MaskCoding, max_bytes: usize) -> Arrived {
        let last_io = self.next - 1;
        let highest = self.waiting.last_key_value().map_or(last_io, |(&number, _)| number);
        let mut missing = self.missing();
        let bitmap_span = (max_bytes * 8) as u64;
        let span = (highest - last_io) as u32; // a window at most
        let whole_bytes = match coding {
            MaskCoding::Bitmap => 0, // cut below
            MaskCoding::List => missing.len() * ENTRY_BYTES,
            MaskCoding::Rice => rice_bytes(&missing),
            MaskCoding::Shorter => shortest_bytes(&missing, span),
        };
        let (coding, last_seq_no) = match coding {
            MaskCoding::Bitmap => (coding, highest.min(last_io + bitmap_span)),
            _ if whole_bytes <= max_bytes => (coding, highest),
            _ => {
                missing.truncate(max_bytes / ENTRY_BYTES);
                (MaskCoding::List, last_io + missing.last().map_or(0, |&last| u64::from(last)))
            }
        };
        let span = (last_seq_no - last_io) as u32; // a window at most
        missing.retain(|&distance| u32::from(distance) <= span);
        Arrived { last_io, last_seq_no, mask: Mask::new(missing, span, coding) }
    }

    /// Distances from LAST_IO of what is missing below the highest number that has arrived.
    fn missing(&self) -> Vec<u16> {
        let last_io = self.next - 1;
        let mut at = self.next;
        let mut missing = Vec::new();
        for &number in self.waiting.keys() {
            missing.extend((at..number).map(|lost| (lost - last_io) as u16)); // a window at most
            at = number + 1;
        }
        missing
    }
}
