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

    /// Remembers the state of `peer`; the peer that was new first is forgotten where there are too many.
    pub(crate) fn set(&mut self, peer: P, state: S) {
        if self.by_peer.insert(peer, state).is_some() {
            return;
        }
        self.order.push_back(peer);
        if self.order.len() > MAX_PEERS
            && let Some(oldest) = self.order.pop_front()
        {
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
        (0..=MAX_PEERS).for_each(|peer| peers.set(peer, 'a'));
        assert_eq!((peers.get(0), peers.get(1)), (None, Some(&'a')));
        peers.set(1, 'b');
        assert_eq!(peers.get(1), Some(&'b'));
        assert_eq!(peers.by_peer.len(), MAX_PEERS);
    }
}
