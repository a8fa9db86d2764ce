//! A bounded memory of ended connections, so that a replayed opening delivers nothing twice.

use alloc::collections::{BTreeSet, VecDeque};

use skyhaul_core::{Instant, SECOND};

/// Openings remembered.
const MAX_REMEMBERED: usize = 4096;
/// How long an opening may wander about before it is replayed.
const LIFETIME_NS: u64 = 600 * SECOND;

/// Nonces of openings accepted and ended.
#[derive(Clone, Debug, Default)]
pub(super) struct ClosedMemory {
    order: VecDeque<(Instant, u64)>,
    nonces: BTreeSet<u64>,
    unsafe_until: Instant,
}

impl ClosedMemory {
    pub(super) fn contains(&self, nonce: u64) -> bool {
        self.nonces.contains(&nonce)
    }

    /// Remembers an opening. When the memory is full the oldest is forgotten; if that was too
    /// early, early data waits for proof until it would have been due.
    pub(super) fn remember(&mut self, now: Instant, nonce: u64) {
        while let Some(&(at, oldest)) = self.order.front() {
            let expired = at.after(LIFETIME_NS) <= now;
            if !expired && self.order.len() < MAX_REMEMBERED {
                break;
            }
            if !expired {
                self.unsafe_until = self.unsafe_until.max(at.after(LIFETIME_NS));
            }
            self.order.pop_front();
            self.nonces.remove(&oldest);
        }
        if self.nonces.insert(nonce) {
            self.order.push_back((now, nonce));
        }
    }

    /// Whether something was forgotten that could still be replayed.
    pub(super) fn has_holes(&self, now: Instant) -> bool {
        now < self.unsafe_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgetting_too_early_is_known_until_it_no_longer_matters() {
        let mut memory = ClosedMemory::default();
        for nonce in 0..MAX_REMEMBERED as u64 {
            memory.remember(Instant::from_ns(nonce), nonce);
        }
        assert!(memory.contains(0) && !memory.has_holes(Instant::from_ns(9999)));
        memory.remember(Instant::from_ns(9999), 77_777);
        assert!(!memory.contains(0) && memory.contains(1));
        assert!(memory.has_holes(Instant::from_ns(9999)));
        assert!(!memory.has_holes(Instant::from_ns(LIFETIME_NS)));
        memory.remember(Instant::from_ns(2 * LIFETIME_NS), 5_000_000);
        assert_eq!(memory.order.len(), 1, "old ones are forgotten in time");
    }
}
