//! By which of our addresses each peer knows us. A machine may have several: an answer that leaves
//! from another one than the peer wrote to would be taken for a stranger's.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// Peers remembered; for forgotten ones the system chooses, until they write again.
const MAX_PEERS: usize = 4096;

/// Our address towards each peer. Learns nothing on a socket that has only one address.
#[derive(Debug)]
pub(super) struct Sources {
    is_needed: bool,
    by_peer: BTreeMap<SocketAddr, IpAddr>,
    order: VecDeque<SocketAddr>,
}

impl Sources {
    pub(super) fn new(is_needed: bool) -> Self {
        Self { is_needed, by_peer: BTreeMap::new(), order: VecDeque::new() }
    }

    /// `peer` wrote to `local`.
    pub(super) fn learn(&mut self, peer: SocketAddr, local: Option<IpAddr>) {
        let (true, Some(local)) = (self.is_needed, local) else { return };
        if self.by_peer.insert(peer, local).is_some() {
            return;
        }
        self.order.push_back(peer);
        if self.order.len() > MAX_PEERS
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_peer.remove(&oldest);
        }
    }

    /// The address to answer `peer` from.
    pub(super) fn of(&self, peer: SocketAddr) -> Option<IpAddr> {
        self.by_peer.get(&peer).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn peer(n: usize) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::from(n as u32).into(), 1)
    }

    #[test]
    fn the_newest_peers_are_remembered() {
        let (one, two) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut sources = Sources::new(true);
        (0..=MAX_PEERS).for_each(|n| sources.learn(peer(n), Some(one)));
        assert_eq!((sources.of(peer(0)), sources.of(peer(1))), (None, Some(one)));
        sources.learn(peer(1), Some(two));
        assert_eq!(sources.of(peer(1)), Some(two));
        assert_eq!(sources.by_peer.len(), MAX_PEERS);
    }

    #[test]
    fn a_socket_with_one_address_learns_nothing() {
        let mut sources = Sources::new(false);
        sources.learn(peer(1), Some(IpAddr::from([10, 0, 0, 1])));
        assert_eq!(sources.of(peer(1)), None);
    }
}
