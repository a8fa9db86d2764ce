//! Associations of what is on the disk.

use skyhaul_association::{Associations, Config, PublicKey};

use crate::errors::StoreError;
use crate::machine::Machine;
use crate::random::random_secret;
use crate::roster::Roster;
use crate::store::Store;

/// Which peers of a book an end knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Those with leave to send files to this machine.
    WithLeave,
    /// The one with this key, which is called at once: counters for it are claimed first, so that its
    /// handshake is fresh. Those for others are asked for by events ([`crate::Clerk`]).
    Called(PublicKey),
}

/// Associations of this machine with peers that it knows.
#[derive(Debug)]
pub struct Entered {
    /// The associations: none is open yet.
    pub associations: Associations,
    /// Peers that they know.
    pub roster: Roster,
    /// Why something is not remembered: no reason not to go on.
    pub troubles: Vec<StoreError>,
}

/// Associations with these peers of the user's book.
pub fn enter(store: &Store, machine: &Machine, config: Config, whom: Whom) -> Result<Entered, StoreError> {
    let seed = random_secret().map_err(StoreError::Random)?;
    let associations = Associations::new(config, machine.identity(), seed);
    let mut associations = associations.with_callsign(machine.callsign.as_ref());
    let mut roster = Roster::new(store.clone(), whom);
    let book = roster.read()?;
    let troubles = roster.follow(&book, &mut associations).troubles;
    Ok(Entered { associations, roster, troubles })
}
