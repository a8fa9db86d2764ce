//! Bursts: packets that left at once, and make a queue that no POLL around them meets.

use alloc::collections::VecDeque;

/// Bursts remembered: trains are a round trip or 60 ms apart, and what is lost of one is told in the next.
pub(super) const MAX_BURSTS: usize = 32;

/// Bursts of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Bursts {
    /// Packets of each, [first, end) of their order.
    orders: VecDeque<(u64, u64)>,
}

impl Bursts {
    /// Takes in that so many packets leave at once, from this order on.
    pub(super) fn note(&mut self, order: u64, packets: u64) {
        if let Some((_, end)) = self.orders.back_mut().filter(|(_, end)| *end == order) {
            *end += packets;
            return;
        }
        if self.orders.len() == MAX_BURSTS {
            self.orders.pop_front();
        }
        self.orders.push_back((order, order + packets));
    }

    /// True if the packet of this order left in one.
    pub(super) fn contain(&self, order: u64) -> bool {
        self.orders.iter().any(|&(first, end)| first <= order && order < end)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.orders.len()
    }
}
