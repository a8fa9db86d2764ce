//! What can be asked about associations.

use core::net::{IpAddr, SocketAddr};

use skyhaul_core::envelope::Mode;

use super::{AssociationId, Associations, Entry};
use crate::aead::AeadName;
use crate::peers::{Peer, PeerId};
use crate::{PublicKey, Token};

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

    /// AEAD of the keys in use; `None` before there are any.
    pub fn aead(&self, id: AssociationId) -> Option<AeadName> {
        self.entries.get(&id)?.association.aead()
    }

    /// Mode of a peer.
    pub fn mode(&self, peer: PeerId) -> Option<Mode> {
        self.peers.get(peer).map(Peer::mode)
    }

    /// Token that a handshake of a peer from `address` would bring home. With it the next one is fresh, and
    /// proves that address, as if there had been one: for whoever owns both ends.
    pub fn token_for(&self, peer: PeerId, address: IpAddr) -> Option<Token> {
        self.peers.get(peer).map(|peer| peer.next_handshake(address).0)
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
