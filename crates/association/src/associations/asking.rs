//! What can be asked about associations.

use core::net::SocketAddr;

use super::{AssociationId, Associations, Entry};
use crate::PublicKey;
use crate::peers::{Peer, PeerId};

impl Associations {
    /// Whether the peer has proven that it has the keys in use.
    pub fn is_confirmed(&self, id: AssociationId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.association.is_confirmed())
    }

    /// Whether keys that the peer has proven are in use, or were until this end gave them up
    /// ([`Associations::renew`]).
    pub fn has_proven_keys(&self, id: AssociationId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.association.has_proven_keys())
    }

    /// Whether all that was delivered is the peer's own and of now: no early data is in doubt.
    pub fn is_beyond_doubt(&self, id: AssociationId) -> bool {
        self.is_confirmed(id) && self.entries[&id].association.unproven().is_empty()
    }

    /// Address of the peer of an association.
    pub fn address(&self, id: AssociationId) -> Option<SocketAddr> {
        Some(self.entries.get(&id)?.association.way().address())
    }

    /// Peer of an association.
    pub fn peer(&self, id: AssociationId) -> Option<PeerId> {
        Some(self.entries.get(&id)?.association.peer())
    }

    /// Key of a peer.
    pub fn key_of(&self, peer: PeerId) -> Option<PublicKey> {
        self.peers.get(peer).map(Peer::key)
    }

    /// Peer that has this key.
    pub fn peer_of(&self, key: PublicKey) -> Option<PeerId> {
        self.peers.id_of(key)
    }

    /// Associations with whoever is at this address.
    pub fn at(&self, address: SocketAddr) -> impl Iterator<Item = AssociationId> {
        self.entries
            .iter()
            .filter(move |(_, entry)| entry.association.way().address() == address)
            .map(|(&id, _)| id)
    }

    /// Association that this end's owner asked for, with a peer at this address.
    pub fn find(&self, peer: PeerId, address: SocketAddr) -> Option<AssociationId> {
        self.at(address).find(|id| {
            self.entries
                .get(id)
                .is_some_and(|Entry { association, .. }| association.peer() == peer && association.is_ours())
        })
    }

    /// Whether there is such an association.
    pub fn contains(&self, id: AssociationId) -> bool {
        self.entries.contains_key(&id)
    }

    /// Associations that there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no association.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
