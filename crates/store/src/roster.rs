//! Roster: the peers of a book that associations know, and what becomes of them when the book changes.

use std::collections::BTreeMap;

use skyhaul_association::{Associations, Name, PeerError, PeerId, PeerSettings, PublicKey};

use crate::book::{Book, KnownPeer};
use crate::counters::Remembered;
use crate::enter::Whom;
use crate::errors::StoreError;
use crate::store::{Stamp, Store};

/// Peers that associations know, of those in the book of a user.
#[derive(Debug)]
pub struct Roster {
    store: Store,
    whom: Whom,
    known: BTreeMap<PublicKey, (PeerId, KnownPeer)>,
    /// File of the book when it was read last.
    stamp: Option<Stamp>,
}

/// What became of a roster.
#[derive(Debug, Default)]
pub struct Changes {
    /// Peers that it has now and had not.
    pub come: Vec<(PeerId, PublicKey)>,
    /// Peers that it had.
    pub gone: Vec<PeerId>,
    /// Why something is not remembered: no reason not to go on.
    pub troubles: Vec<StoreError>,
}

impl Roster {
    /// Roster without anybody yet.
    pub(crate) fn new(store: Store, whom: Whom) -> Self {
        Self { store, whom, known: BTreeMap::new(), stamp: None }
    }

    /// Names of the peers.
    pub fn names(&self) -> BTreeMap<PeerId, Name> {
        self.known.values().map(|(id, peer)| (*id, peer.name.clone())).collect()
    }

    /// Keys of the peers.
    pub fn keys(&self) -> BTreeMap<PeerId, PublicKey> {
        self.known.iter().map(|(&key, &(id, _))| (id, key)).collect()
    }

    /// Whether the file of peers is another one than that which was read last.
    pub fn is_out_of_date(&self) -> bool {
        self.store.stamp() != self.stamp
    }

    /// Book as it is now.
    ///
    /// # Errors
    /// It cannot be used; that is told once for each file.
    pub fn read(&mut self) -> Result<Book, StoreError> {
        // Before it is read: what is written meanwhile is read again.
        self.stamp = self.store.stamp();
        self.store.book()
    }

    /// Names of the peers that a book leaves as they are.
    pub fn staying(&self, book: &Book) -> BTreeMap<PeerId, Name> {
        let stays = |(id, known): &(PeerId, KnownPeer)| {
            let peer = self.wanted(book).find(|peer| is_unchanged(known, peer))?;
            Some((*id, peer.name.clone()))
        };
        self.known.values().filter_map(stays).collect()
    }

    /// Has associations know the peers of a book: who is there no more, or has another secret or mode, is
    /// removed with all associations.
    pub fn follow(&mut self, book: &Book, associations: &mut Associations) -> Changes {
        let staying = self.staying(book);
        let mut changes = Changes::default();
        self.known.retain(|_, (id, _)| {
            let stays = staying.contains_key(id);
            if !stays {
                associations.remove_peer(*id);
                changes.gone.push(*id);
            }
            stays
        });
        let new: Vec<_> =
            self.wanted(book).filter(|peer| !self.known.contains_key(&peer.key)).cloned().collect();
        for peer in new {
            if let Some(id) = self.add(peer, associations, &mut changes.troubles) {
                changes.come.push(id);
            }
        }
        for peer in book.peers() {
            if let Some((_, known)) = self.known.get_mut(&peer.key) {
                known.name.clone_from(&peer.name);
            }
        }
        changes
    }

    fn wanted<'a>(&self, book: &'a Book) -> impl Iterator<Item = &'a KnownPeer> {
        let whom = self.whom;
        book.peers().iter().filter(move |peer| match whom {
            Whom::WithLeave => peer.may_send,
            Whom::Called(key) => peer.key == key,
        })
    }

    fn add(
        &mut self,
        peer: KnownPeer,
        associations: &mut Associations,
        troubles: &mut Vec<StoreError>,
    ) -> Option<(PeerId, PublicKey)> {
        let counters = self.store.counters();
        let mut or_told = |error| troubles.push(error);
        let is_called = self.whom == Whom::Called(peer.key);
        let claimed = is_called.then(|| counters.claim(peer.key, 0)).transpose();
        let claimed = claimed.map_err(&mut or_told).ok().flatten();
        let Remembered { token, reserved } =
            counters.recall(peer.key).map_err(&mut or_told).unwrap_or_default();
        let reserved = claimed.as_ref().map_or(reserved, |claimed| claimed.start);
        let (key, psk, mode) = (peer.key, peer.psk.clone(), peer.mode);
        let added = associations.add_peer(PeerSettings { key, psk, mode, token, reserved });
        let id = added.map_err(|error| or_told(of(error, &peer))).ok()?;
        if let Some(claimed) = claimed {
            associations.reserved(id, claimed);
        }
        self.known.insert(key, (id, peer));
        Some((id, key))
    }
}

/// Whether keys that were made with the one hold with the other.
fn is_unchanged(one: &KnownPeer, other: &KnownPeer) -> bool {
    one.key == other.key && one.mode == other.mode && one.psk.octets() == other.psk.octets()
}

/// A book has nobody twice, and no peer without protection: what is left is this machine's own key.
fn of(error: PeerError, peer: &KnownPeer) -> StoreError {
    match error {
        PeerError::Full => StoreError::Full,
        PeerError::Known => StoreError::OwnKey,
        PeerError::Plain => StoreError::Plain(peer.name.clone()),
    }
}
