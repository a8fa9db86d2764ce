//! A bounded memory of ended connections, so that a replayed opening delivers nothing twice.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use skyhaul_core::{Instant, SECOND};

use crate::connection::Farewell;

/// Openings remembered.
const MAX_REMEMBERED: usize = 4096;
/// Time for which an opening may wander about before it is replayed.
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
            if !expired && self.nonces.contains(&oldest) {
                self.unsafe_until = self.unsafe_until.max(at.after(LIFETIME_NS));
            }
            self.order.pop_front();
            self.nonces.remove(&oldest);
        }
        if self.nonces.insert(nonce) {
            self.order.push_back((now, nonce));
        }
    }

    /// Forgets an opening that brought nothing: it may come again. Its place is free when its time is over.
    pub(super) fn forget(&mut self, nonce: u64) {
        self.nonces.remove(&nonce);
    }

    /// Takes note that an opening was taken whose nonce is not known.
    pub(super) fn miss(&mut self, now: Instant) {
        self.unsafe_until = self.unsafe_until.max(now.after(LIFETIME_NS));
    }

    /// True if something was forgotten that could still be replayed.
    pub(super) fn has_holes(&self, now: Instant) -> bool {
        now < self.unsafe_until
    }
}

/// Last words by key, for peers that missed them and still ask when we have left. A peer's timers may
/// have grown beyond any linger time.
#[derive(Clone, Debug)]
pub(super) struct Farewells<K> {
    order: VecDeque<K>,
    by_key: BTreeMap<K, Farewell>,
}

impl<K> Default for Farewells<K> {
    fn default() -> Self {
        Self { order: VecDeque::new(), by_key: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Farewells<K> {
    /// Remembers; when the memory is full the oldest is forgotten, and its peer gets a reset.
    pub(super) fn remember(&mut self, key: K, farewell: Farewell) {
        if self.by_key.insert(key, farewell).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > MAX_REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.by_key.remove(&oldest);
            }
        }
    }

    pub(super) fn get(&self, key: &K, instance: u16) -> Option<Farewell> {
        self.by_key.get(key).copied().filter(|farewell| farewell.instance == instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_last_words_are_forgotten_first() {
        let mut farewells = Farewells::default();
        for key in 0..=MAX_REMEMBERED {
            farewells.remember(key, Farewell { instance: 7, number: key as u32, next: 0 });
        }
        assert!(farewells.get(&0, 7).is_none());
        assert!(farewells.get(&1, 7).is_some() && farewells.get(&1, 8).is_none());
        assert_eq!(farewells.by_key.len(), MAX_REMEMBERED);
    }

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
