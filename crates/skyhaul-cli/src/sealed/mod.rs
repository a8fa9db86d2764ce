//! Transfers under a seal: this machine, the peers that it knows, and an endpoint that writes down what the
//! next handshake needs (docs/spec/protection.md).

mod bookkeeper;
mod end;
mod recipient;

use skyhaul_association::PublicKey;
use skyhaul_net::machine_config;
use skyhaul_store::{Book, Entered, KnownPeer, Machine, Store, StoreError, Whom, enter};

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
    /// The user's own.
    pub(crate) fn of_user() -> Result<Self, Failure> {
        Self::of(Store::of_user()?)
    }

    /// Those of a store; this machine gets an identity if it has none.
    fn of(store: Store) -> Result<Self, Failure> {
        Ok(Self { machine: store.machine_or_new()?, book: store.book()?, store })
    }

    /// Associations with this peer, which is called at once.
    fn calling(&self, peer: PublicKey) -> Result<Entered, Failure> {
        self.enter(Whom::Called(peer))
    }

    /// Associations with those that have leave.
    fn waiting(&self) -> Result<Entered, Failure> {
        if !self.book.peers().iter().any(|peer| peer.may_send) {
            return Err(nobody_may_send(self.book.peers()));
        }
        self.enter(Whom::WithLeave)
    }

    fn enter(&self, whom: Whom) -> Result<Entered, Failure> {
        let entered = enter(&self.store, &self.machine, machine_config(), whom)?;
        warn(&entered.troubles);
        Ok(entered)
    }
}

/// What to do where nobody has leave to send files here.
fn nobody_may_send(known: &[KnownPeer]) -> Failure {
    const WITHOUT: &str = "--plain takes files from anybody, without protection";
    let (lack, remedy) = match known.first() {
        Some(peer) => ("none of the peers has", format!("`skyhaul peers allow {}` gives it", peer.name)),
        None => (
            "no peer is known yet that has",
            "`skyhaul pair --listen ADDRESS:PORT --allow` here, and `skyhaul pair ADDRESS:PORT` on the other \
             machine, make it known (docs/guide/protection.md)"
                .into(),
        ),
    };
    let message = format!("{lack} leave to send files to this machine: {remedy}; {WITHOUT}");
    Failure::of(ErrorCode::PeerUnknown, message)
}
