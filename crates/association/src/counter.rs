//! Counters of an opener's handshakes. They are on its owner's disk, reserved in steps ahead, so that no
//! handshake waits for a disk (`docs/spec/protection.md`, section 5).

use core::ops::Range;

/// Counters that are reserved at once.
pub const RESERVATION: u64 = 64;

/// Next counter, and up to where counters may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    next: u64,
    /// End of the counters that are on the owner's disk as this one's.
    reserved: u64,
    /// What the owner was asked to reserve.
    asked: u64,
}

impl Counter {
    /// Counter of an owner whose disk says that all below `reserved` may have been used.
    pub(crate) fn new(reserved: u64) -> Self {
        // 0 says "no counter".
        Self { next: reserved.max(1), reserved, asked: reserved }
    }

    /// Counter that no handshake had; 0 while none is reserved.
    pub(crate) fn take(&mut self) -> u64 {
        if self.next >= self.reserved {
            return 0;
        }
        self.next += 1;
        self.next - 1
    }

    /// Counts on from `counter` at least.
    pub(crate) fn count_on_from(&mut self, counter: u64) {
        self.next = self.next.max(counter);
    }

    /// Up to where the owner is to reserve, once each time that half of what is reserved is used.
    pub(crate) fn ask(&mut self) -> Option<u64> {
        if self.next.saturating_add(RESERVATION / 2) < self.asked {
            return None;
        }
        let up_to = self.next.saturating_add(RESERVATION);
        let is_news = up_to > self.asked;
        self.asked = up_to;
        is_news.then_some(up_to)
    }

    /// Owner's word that these counters are on its disk as this one's. Those in front that it had not are
    /// another's: what was left of its own is given up.
    pub(crate) fn reserve(&mut self, counters: Range<u64>) {
        if counters.end <= self.reserved {
            return;
        }
        if counters.start > self.reserved {
            self.next = self.next.max(counters.start);
        }
        self.reserved = counters.end;
        self.asked = self.asked.max(counters.end);
    }
}
