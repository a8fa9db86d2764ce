//! Associations of what is on the disk.

use std::collections::BTreeMap;

use skyhaul_association::{Associations, Config, PeerError, PeerId, PeerSettings, PublicKey};

use crate::book::{Book, KnownPeer};
use crate::counters::Remembered;
use crate::errors::StoreError;
use crate::machine::Machine;
use crate::random::random_secret;
use crate::store::Store;

/// Associations of this machine with everybody that it knows.
#[derive(Debug)]
pub struct Entered {
    /// The associations: none is open yet.
    pub associations: Associations,
    /// Keys of the peers, by their names there.
    pub keys: BTreeMap<PeerId, PublicKey>,
    /// Why something is not remembered: no reason not to go on.
    pub troubles: Vec<StoreError>,
}

/// Associations with all peers of a book. For the one that will be called at once (`calls`) counters are
/// claimed first, so that its handshake is fresh; those of others are asked for by events
/// ([`crate::Clerk`]).
pub fn enter(
    store: &Store,
    machine: &Machine,
    book: &Book,
    config: Config,
    calls: Option<PublicKey>,
) -> Result<Entered, StoreError> {
    let seed = random_secret().map_err(StoreError::Random)?;
    let associations = Associations::new(config, machine.identity(), seed);
    let associations = associations.with_callsign(machine.callsign.as_ref());
    let mut entered = Entered { associations, keys: BTreeMap::new(), troubles: Vec::new() };
    for peer in book.peers() {
        entered.add(store, peer, calls == Some(peer.key))?;
    }
    Ok(entered)
}

impl Entered {
    fn add(&mut self, store: &Store, peer: &KnownPeer, is_called: bool) -> Result<(), StoreError> {
        let counters = store.counters();
        let claimed = is_called.then(|| counters.claim(peer.key, 0));
        let claimed = claimed.transpose().unwrap_or_else(|error| {
            self.troubles.push(error);
            None
        });
        let Remembered { token, reserved } = counters.recall(peer.key).unwrap_or_else(|error| {
            self.troubles.push(error);
            Remembered::default()
        });
        let reserved = claimed.as_ref().map_or(reserved, |claimed| claimed.start);
        let KnownPeer { key, psk, mode, .. } = peer.clone();
        let id = self.associations.add_peer(PeerSettings { key, psk, mode, token, reserved });
        let id = id.map_err(|error| of(error, peer))?;
        if let Some(claimed) = claimed {
            self.associations.reserved(id, claimed);
        }
        self.keys.insert(id, key);
        Ok(())
    }
}

/// A book has nobody twice, and no peer without protection: what is left is this machine's own key.
fn of(error: PeerError, peer: &KnownPeer) -> StoreError {
    match error {
        PeerError::Full => StoreError::Full,
        PeerError::Known => StoreError::OwnKey,
        PeerError::Plain => StoreError::Plain(peer.name.clone()),
    }
}
