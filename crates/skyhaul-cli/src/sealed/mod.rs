//! Transfers under a seal: this machine, the peers that it knows, and an endpoint that writes down what the
//! next handshake needs (docs/spec/protection.md).

mod bookkeeper;
mod end;
mod recipient;

use skyhaul_association::PublicKey;
use skyhaul_net::machine_config;
use skyhaul_store::{Book, Entered, KnownPeer, Machine, Store, StoreError, enter};

use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::output::note;
pub(crate) use end::SealedEnd;
pub(crate) use recipient::{Recipient, recipient};

/// Says what is not remembered: no reason not to go on.
fn warn(troubles: &[StoreError]) {
    for trouble in troubles {
        note(&format!("WARNING: {trouble}"));
    }
}

/// This machine, and whom it knows.
#[derive(Debug)]
pub(crate) struct Keys {
    store: Store,
    machine: Machine,
    book: Book,
}

impl Keys {
    /// The user's own. Without an identity nobody can be known.
    pub(crate) fn of_user() -> Result<Self, Failure> {
        let store = Store::of_user()?;
        let Some(machine) = store.machine()? else {
            let message = "this machine has no identity yet: `skyhaul id` makes one, and `skyhaul peers add` makes it and \
                           another known to each other";
            return Err(Failure::of(ErrorCode::KeysUnusable, message));
        };
        Ok(Self { machine, book: store.book()?, store })
    }

    /// Peers with leave to send files to this machine.
    fn with_leave(&self) -> impl Iterator<Item = &KnownPeer> {
        self.book.peers().iter().filter(|peer| peer.may_send)
    }

    /// Associations with this peer, which is called at once.
    fn calling(&self, peer: PublicKey) -> Result<Entered, Failure> {
        self.enter(Some(peer))
    }

    /// Associations with those that have leave; how many these are.
    fn waiting(&self) -> Result<(Entered, usize), Failure> {
        let count = self.with_leave().count();
        if count == 0 {
            let message = "--peers-only: no peer has leave to send files to this machine: `skyhaul peers allow NAME` gives it";
            return Err(Failure::of(ErrorCode::PeerUnknown, message));
        }
        let mut entered = self.enter(None)?;
        let may_send = |key: PublicKey| self.book.by_key(key).is_some_and(|peer| peer.may_send);
        let out: Vec<_> =
            entered.keys.iter().filter(|&(_, &key)| !may_send(key)).map(|(&id, _)| id).collect();
        for id in out {
            entered.associations.remove_peer(id);
        }
        Ok((entered, count))
    }

    fn enter(&self, calls: Option<PublicKey>) -> Result<Entered, Failure> {
        let entered = enter(&self.store, &self.machine, &self.book, machine_config(), calls)?;
        warn(&entered.troubles);
        Ok(entered)
    }
}
