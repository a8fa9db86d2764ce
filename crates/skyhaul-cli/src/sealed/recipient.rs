//! Recipient of files as people write it: NAME, NAME@ADDRESS:PORT or ADDRESS:PORT of a peer; ADDRESS:PORT of
//! anybody where nothing is to be protected.

use std::net::IpAddr;

use skyhaul_association::{Name, NameError};
use skyhaul_store::{Book, KnownPeer, Store, StoreError};

use super::Keys;
use crate::address::{is_address, peer_address};
use crate::args::SendArgs;
use crate::failure::Failure;
use crate::misused;

/// Recipient, and where it is.
#[derive(Debug)]
pub(crate) struct Recipient {
    /// ADDRESS:PORT, or what was written instead.
    pub(crate) address: String,
    /// Peer that the transfer is sealed to, with this machine's keys; `None`: it was asked for without
    /// protection.
    pub(crate) peer: Option<(Keys, KnownPeer)>,
}

/// Recipient that a command names. It is a peer, unless `unprotected` says by which option protection was
/// done without.
pub(crate) fn recipient(args: &SendArgs, unprotected: Option<&str>) -> Result<Recipient, Failure> {
    match unprotected {
        Some(option) => plain(args, option),
        None => sealed(args),
    }
}

fn plain(args: &SendArgs, option: &str) -> Result<Recipient, Failure> {
    let to = &args.to;
    if to.contains('@') || (!is_address(to) && is_known(to)) {
        let message = format!("{option} protects nothing: write ADDRESS:PORT instead of a peer's name");
        return Err(Failure::usage(message));
    }
    misused::has_address(&args.files, to)?;
    Ok(Recipient { address: to.into(), peer: None })
}

/// True if a peer has this name, as far as that can be found out.
fn is_known(text: &str) -> bool {
    let book = Store::of_user().and_then(|store| store.book());
    book.is_ok_and(|book| text.parse().is_ok_and(|name| book.by_name(&name).is_ok()))
}

fn sealed(args: &SendArgs) -> Result<Recipient, Failure> {
    let store = Store::of_user()?;
    let (peer, address) = found(args, &store.book()?)?;
    Ok(Recipient { address, peer: Some((Keys::of(store)?, peer)) })
}

/// Peer, and where it is.
fn found(args: &SendArgs, book: &Book) -> Result<(KnownPeer, String), Failure> {
    let to = &args.to;
    if let Some((name, address)) = to.split_once('@') {
        let name = name.parse().map_err(|error: NameError| {
            Failure::usage(format!("'{}': {error}; write NAME@ADDRESS:PORT", to.escape_debug()))
        })?;
        return Ok((book.by_name(&name)?.clone(), address.into()));
    }
    if let Err(why) = peer_address(to) {
        let name = to.parse::<Name>().ok().filter(|_| to.parse::<IpAddr>().is_err());
        return name.map_or_else(|| Err(misused(args, Failure::usage(why))), |name| named(args, book, &name));
    }
    let peer = book.by_address(to).map_err(|error| nobody_at(to, error))?;
    Ok((peer.clone(), to.into()))
}

fn named(args: &SendArgs, book: &Book, name: &Name) -> Result<(KnownPeer, String), Failure> {
    let like = format!("an address is written like {name}:4700");
    let peer = book.by_name(name).map_err(|error| misused(args, Failure::from(error).and(&like)))?;
    let address = peer.address.clone().ok_or_else(|| {
        Failure::usage(format!("the address of '{name}' is not known: write {name}@ADDRESS:PORT"))
    })?;
    Ok((peer.clone(), address))
}

/// This failure, unless the words of the command are rather in a wrong order.
fn misused(args: &SendArgs, failure: Failure) -> Failure {
    misused::has_address(&args.files, &args.to).err().unwrap_or(failure)
}

/// What to do where no peer is known, or several are.
fn nobody_at(to: &str, error: StoreError) -> Failure {
    let advice = match error {
        StoreError::NobodyAt { ref names, .. } => {
            let moved = format!("NAME@{to} seals to one that moved there; ");
            format!(
                "{}`skyhaul pair --listen ADDRESS:PORT` on that machine and `skyhaul pair {to}` here make it \
                 known; --plain sends without protection",
                if names.is_empty() { "" } else { &moved }
            )
        }
        _ => "write NAME@ADDRESS:PORT".into(),
    };
    Failure::from(error).and(&advice)
}
