//! Recipient of files as people write it: ADDRESS:PORT, or NAME or NAME@ADDRESS:PORT of a peer.

use skyhaul_association::{Name, NameError};
use skyhaul_store::{KnownPeer, Store};

use super::Keys;
use crate::address::is_address;
use crate::failure::Failure;

/// Recipient, and where it is.
#[derive(Debug)]
pub(crate) struct Recipient {
    /// ADDRESS:PORT, or what was written instead.
    pub(crate) address: String,
    /// Peer that the transfer is sealed to, with this machine's keys; `None`: it is not protected.
    pub(crate) peer: Option<(Keys, KnownPeer)>,
}

/// Recipient of this text. A name without an address is one only if a peer has it.
pub(crate) fn recipient(text: &str) -> Result<Recipient, Failure> {
    let plain = || Recipient { address: text.into(), peer: None };
    if let Some((name, address)) = text.split_once('@') {
        let name = name.parse().map_err(|error: NameError| {
            Failure::usage(format!("'{}': {error}; write NAME@ADDRESS:PORT", text.escape_debug()))
        })?;
        return sealed(&name, Some(address));
    }
    match text.parse::<Name>() {
        Ok(name) if !is_address(text) && is_known(&name) => sealed(&name, None),
        _ => Ok(plain()),
    }
}

/// True if a peer has this name. Whatever hinders is told when it is asked for by `NAME@`.
fn is_known(name: &Name) -> bool {
    let book = Store::of_user().and_then(|store| store.book());
    book.is_ok_and(|book| book.by_name(name).is_ok())
}

fn sealed(name: &Name, address: Option<&str>) -> Result<Recipient, Failure> {
    let keys = Keys::of_user()?;
    let peer = keys.book.by_name(name)?.clone();
    let address = address.map(String::from).or_else(|| peer.address.clone()).ok_or_else(|| {
        Failure::usage(format!("the address of '{name}' is not known: write {name}@ADDRESS:PORT"))
    })?;
    Ok(Recipient { address, peer: Some((keys, peer)) })
}
