//! Counters of an opener's handshakes. They are on its owner's disk, reserved in steps ahead, so that no
//! handshake waits for a disk (`docs/spec/protection.md`, section 5).

/// Counters that are reserved at once.
pub const RESERVATION: u64 = 64;

/// Next counter, and up to where counters may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    next: u64,
    /// What the owner has on its disk: all below may have been used.
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

    /// Owner's word that its disk says so.
    pub(crate) fn reserve(&mut self, up_to: u64) {
        self.reserved = self.reserved.max(up_to);
    }
}
