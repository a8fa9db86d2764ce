//! State that a carrier keeps for each peer.

use std::collections::{BTreeMap, VecDeque};

/// Peers remembered.
const MAX_PEERS: usize = 4096;

/// State of a carrier for the newest peers, by the engine's name of them.
#[derive(Debug)]
pub(crate) struct Peers<P, S> {
    by_peer: BTreeMap<P, S>,
    order: VecDeque<P>,
}

impl<P: Copy + Ord, S> Peers<P, S> {
    pub(super) fn new() -> Self {
        Self { by_peer: BTreeMap::new(), order: VecDeque::new() }
    }

    /// Remembers the state of `peer`. Where there are too many, the one that was new first is forgotten of
    /// those that are not `in_use`: strangers, however many they are, displace nobody with a connection.
    pub(crate) fn set(&mut self, peer: P, state: S, in_use: impl FnMut(P) -> bool) {
        if self.by_peer.insert(peer, state).is_some() {
            return;
        }
        self.order.push_back(peer);
        if self.order.len() > MAX_PEERS {
            self.forget_one(in_use);
        }
    }

    /// Forgets the oldest peer that is not in use; the oldest of all if every one is. Those in use begin anew
    /// as the newest: each is asked about once in a round of the table.
    fn forget_one(&mut self, mut in_use: impl FnMut(P) -> bool) {
        for _ in 0..self.order.len() {
            let Some(&oldest) = self.order.front() else { return };
            if !in_use(oldest) {
                break;
            }
            self.order.rotate_left(1);
        }
        if let Some(oldest) = self.order.pop_front() {
            self.by_peer.remove(&oldest);
        }
    }

    /// State of `peer`, unless nothing was remembered, or it is forgotten.
    pub(crate) fn get(&self, peer: P) -> Option<&S> {
        self.by_peer.get(&peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_peers_are_remembered() {
        let mut peers = Peers::new();
        (0..=MAX_PEERS).for_each(|peer| peers.set(peer, 'a', |_| false));
        assert_eq!((peers.get(0), peers.get(1)), (None, Some(&'a')));
        peers.set(1, 'b', |_| false);
        assert_eq!(peers.get(1), Some(&'b'));
        assert_eq!(peers.by_peer.len(), MAX_PEERS);
    }

    #[test]
    fn strangers_displace_nobody_with_a_connection() {
        let mut peers = Peers::new();
        let in_use = |peer| peer % 1000 == 7 && peer < 4000;
        (0..10 * MAX_PEERS).for_each(|peer| peers.set(peer, 'a', in_use));
        assert!((0..4000).filter(|&peer| in_use(peer)).all(|peer| peers.get(peer).is_some()));
        assert_eq!((peers.by_peer.len(), peers.order.len()), (MAX_PEERS, MAX_PEERS));
        assert!(peers.get(10 * MAX_PEERS - 1).is_some(), "a newcomer is remembered all the same");
    }

    #[test]
    fn the_table_is_bounded_where_every_peer_has_a_connection() {
        let mut peers = Peers::new();
        (0..=MAX_PEERS).for_each(|peer| peers.set(peer, 'a', |_| true));
        assert_eq!((peers.get(0), peers.by_peer.len()), (None, MAX_PEERS));
    }
}
