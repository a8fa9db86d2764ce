//! `skyhaul id` and `skyhaul peers`: this machine and those that it knows, on the disk.

mod args;
mod object;
mod psk;
mod table;

use std::process::ExitCode;

use skyhaul_association::{Callsign, Name};
use skyhaul_store::{KnownPeer, Machine, Store, StoreError};

use crate::failure::Failure;
use crate::output::{note, print};
use args::{AddArgs, AllowArgs, NamedArgs, PeersAction};
pub(crate) use args::{IdArgs, PeersArgs, callsign, mode, name};
use object::{MachineObject, PeerObject, PeersObject};

/// `skyhaul id`.
pub(crate) fn id(args: IdArgs) -> Result<ExitCode, Failure> {
    let store = Store::of_user()?;
    let IdArgs { name, callsign, json } = args;
    let machine = renamed(&store, name, callsign)?;
    let object = MachineObject::new(&machine);
    print(&if json { object::line(&object) } else { table::machine(&object) })?;
    Ok(ExitCode::SUCCESS)
}

/// This machine, which from now on has this name and this callsign, where they are given.
pub(crate) fn renamed(
    store: &Store,
    name: Option<Name>,
    callsign: Option<Callsign>,
) -> Result<Machine, StoreError> {
    if name.is_none() && callsign.is_none() {
        return store.machine_or_new();
    }
    if let Some(name) = &name {
        refuse_namesake(store, name)?;
    }
    store.change_machine(|machine| {
        machine.name = name.unwrap_or_else(|| machine.name.clone());
        machine.callsign = callsign.or(machine.callsign.take());
    })
}

/// Refuses the name of a peer for this machine, unless it is called that already.
fn refuse_namesake(store: &Store, name: &Name) -> Result<(), StoreError> {
    let is_new = store.machine()?.is_none_or(|machine| machine.name != *name);
    if is_new && store.book()?.by_name(name).is_ok() {
        return Err(StoreError::NameTaken(name.clone()));
    }
    Ok(())
}

/// `skyhaul peers`.
pub(crate) fn run(args: PeersArgs) -> Result<ExitCode, Failure> {
    let store = Store::of_user()?;
    match args.action {
        PeersAction::List { json } => list(&store, json),
        PeersAction::Add(args) => add(&store, args),
        PeersAction::Remove(args) => remove(&store, &args),
        PeersAction::Allow(args) => allow(&store, &args),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn list(store: &Store, json: bool) -> Result<(), Failure> {
    let object = PeersObject::new(store.book()?.peers());
    if !json && object.peers.is_empty() {
        note("no peer is known yet: `skyhaul pair` makes one known");
    }
    print(&if json { object::line(&object) } else { table::peers(&object) })
}

fn add(store: &Store, args: AddArgs) -> Result<(), Failure> {
    let psk = psk::read(&args.psk)?;
    let AddArgs { name, key, mode, callsign, address, allow, json, .. } = args;
    let peer = KnownPeer { name, key, psk, mode, callsign, address, may_send: allow };
    store.change_book(|book| book.add(peer.clone()))?;
    tell(&peer, json)
}

fn remove(store: &Store, args: &NamedArgs) -> Result<(), Failure> {
    let peer = store.book()?.by_name(&args.name)?.clone();
    store.remove_peer(&args.name)?;
    tell(&peer, args.json)
}

fn allow(store: &Store, args: &AllowArgs) -> Result<(), Failure> {
    let peer = store.change_book(|book| -> Result<KnownPeer, StoreError> {
        book.allow(&args.name, !args.revoke)?;
        book.by_name(&args.name).cloned()
    })?;
    tell(&peer, args.json)
}

/// Shows a machine that was paired.
pub(crate) fn tell_paired(peer: &KnownPeer, json: bool) -> Result<(), Failure> {
    let object = PeerObject::new(peer);
    print(&if json { object::line(&object) } else { table::paired(&object) })
}

/// Tells programs of a change; people asked for it themselves.
fn tell(peer: &KnownPeer, json: bool) -> Result<(), Failure> {
    if json { print(&object::line(&PeerObject::new(peer))) } else { Ok(()) }
}
