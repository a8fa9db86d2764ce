//! Bytes in sequence that wait to be read, and behind them packets that were read and are kept for a while:
//! repair symbols are made of packets that their sender does not know to have arrived
//! (`docs/spec/stp.md`, section 6.4).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Bytes kept after they were read: as many as a block has at most.
const MAX_KEPT_BYTES: usize = crate::segment::MAX_BLOCK_BYTES as usize;
/// Packets kept, read or not: those of two blocks.
const MAX_KEPT_PACKETS: usize = 2 * crate::segment::MAX_BLOCK_PACKETS as usize;
/// Memory of an empty buffer that is kept until the connection rests: on a fast path it empties and fills
/// many times a second, and the system clears all that is given back.
const KEPT_CAPACITY_BYTES: usize = 4 << 20;
/// STATs after which the peer knows what arrived before them: at three STATs a round trip that is two
/// round trips, so one of them may be lost.
const STATS_KEPT: usize = 6;

/// Bytes in sequence: those that wait to be read, and packets that are kept behind them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ready {
    bytes: VecDeque<u8>,
    /// Bytes at the front that were read.
    read_bytes: usize,
    /// Sizes of the last packets, while packets are kept.
    sizes: VecDeque<u16>,
    /// Bytes before those packets.
    unkept_bytes: usize,
    /// Number next in sequence at each of the last STATs.
    marks: VecDeque<u64>,
    keeps: bool,
}

impl Ready {
    pub(super) fn unread_bytes(&self) -> usize {
        self.bytes.len() - self.read_bytes
    }

    /// Bytes kept, read or not.
    pub(super) fn kept_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that the buffer has memory for (tests).
    #[cfg(test)]
    pub(super) fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// A packet is in sequence.
    pub(super) fn push(&mut self, data: &[u8]) {
        self.bytes.extend(data);
        if self.keeps {
            self.sizes.push_back(data.len() as u16);
            if self.sizes.len() > MAX_KEPT_PACKETS {
                self.let_go();
            }
        } else {
            self.unkept_bytes += data.len();
        }
    }

    /// A STAT says that everything below `next` arrived.
    pub(super) fn mark(&mut self, next: u64, lists_gaps: bool) {
        self.keeps |= lists_gaps;
        if !self.keeps {
            return;
        }
        self.marks.push_back(next);
        if self.marks.len() > STATS_KEPT {
            self.marks.pop_front();
        }
        self.drop_old(next);
    }

    /// Reads up to `out.len()` bytes; `next` is the number behind the last packet.
    pub(super) fn read(&mut self, out: &mut [u8], next: u64) -> usize {
        let (a, b) = self.bytes.as_slices();
        let from = self.read_bytes;
        let (a, b) = if from <= a.len() { (&a[from..], b) } else { (&[][..], &b[from - a.len()..]) };
        let from_a = a.len().min(out.len());
        out[..from_a].copy_from_slice(&a[..from_a]);
        let from_b = b.len().min(out.len() - from_a);
        out[from_a..from_a + from_b].copy_from_slice(&b[..from_b]);
        self.read_bytes += from_a + from_b;
        self.drop_old(next);
        from_a + from_b
    }

    /// Drops what was read and need not be kept.
    fn drop_old(&mut self, next: u64) {
        let keep_from = self.marks.front().copied().unwrap_or(0);
        while let Some(&size) = self.sizes.front() {
            let was_read = self.unkept_bytes + usize::from(size) <= self.read_bytes;
            let is_old = next - (self.sizes.len() as u64) < keep_from || self.read_bytes > MAX_KEPT_BYTES;
            if !(was_read && is_old) {
                break;
            }
            self.let_go();
            self.drop_unkept();
        }
        self.drop_unkept();
        if self.bytes.is_empty() && self.bytes.capacity() > KEPT_CAPACITY_BYTES {
            self.bytes = VecDeque::new();
        }
    }

    /// Nothing is kept any longer that was read, nor memory for it.
    pub(super) fn forget_read(&mut self) {
        debug_assert_eq!(self.unread_bytes(), 0);
        *self = Self { keeps: self.keeps, ..Self::default() };
    }

    /// The oldest packet is kept no longer.
    fn let_go(&mut self) {
        self.unkept_bytes += usize::from(self.sizes.pop_front().unwrap_or(0));
    }

    fn drop_unkept(&mut self) {
        let bytes = self.unkept_bytes.min(self.read_bytes);
        self.bytes.drain(..bytes);
        self.unkept_bytes -= bytes;
        self.read_bytes -= bytes;
    }

    /// Copies of those of the packets that are kept; `numbers` rise.
    pub(super) fn copies(&self, numbers: &[u64], next: u64) -> Vec<Option<Box<[u8]>>> {
        let mut kept = self.spans(next).peekable();
        let mut copy = |wanted: u64| {
            while kept.next_if(|&(number, ..)| number < wanted).is_some() {}
            let (_, from, to) = kept.next_if(|&(number, ..)| number == wanted)?;
            Some(self.bytes.range(from..to).copied().collect())
        };
        numbers.iter().map(|&number| copy(number)).collect()
    }

    /// Number of each packet kept, and where it lies.
    fn spans(&self, next: u64) -> impl Iterator<Item = (u64, usize, usize)> + '_ {
        let mut at = self.unkept_bytes;
        let first = next - self.sizes.len() as u64;
        self.sizes.iter().zip(first..).map(move |(&size, number)| {
            let from = at;
            at += usize::from(size);
            (number, from, at)
        })
    }
}
