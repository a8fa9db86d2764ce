//! `skyhaul pair`: two machines become peers by a code that one shows and the other asks for.

mod args;
mod conversation;
mod listening;
mod opening;

use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Duration;

use skyhaul_association::pairing::{Card, PAIRING_NS, Paired, PairingError, Unkept};
use skyhaul_core::SECOND;
use skyhaul_store::{KnownPeer, Machine, Store, StoreError, random_secret};

use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::output::{note, print};
use crate::peers;
pub(crate) use args::PairArgs;

/// STP port of pairings.
const PORT: u16 = 3;
/// Longest pairing, once two ends talk.
const PATIENCE: Duration = Duration::from_secs(PAIRING_NS / SECOND);
/// Time for which the other end's last words are waited for.
const FAREWELL: Duration = Duration::from_secs(5);
/// What is said where the other machine has not taken the last words.
const MAY_NOT_KNOW: &str = "the other machine may not know yet that it is paired: if it says so, pair again";
/// What to do where two machines have one name.
const OTHER_NAME: &str =
    "--name NAME gives this machine another one, --as NAME the other one at this machine";

/// What to do where the other machine cannot use the name of this one.
const OTHER_NAME_THERE: &str = "--as NAME there, or --name NAME here, gives this machine another one";

pub(crate) async fn run(args: PairArgs) -> Result<ExitCode, Failure> {
    let store = Store::of_user()?;
    let peer = match (args.listen, &args.address) {
        (Some(address), _) => listening::run(&Scene::new(&store, &args)?, address).await?,
        (None, Some(address)) => opening::run(&Scene::new(&store, &args)?, address).await?,
        (None, None) => {
            return Err(Failure::usage(
                "name the address where the other machine shows a code, or show one here by --listen",
            ));
        }
    };
    peers::tell_paired(&peer, args.json)?;
    if !peer.may_send {
        note(&format!("`skyhaul peers allow {}` gives it leave to send files to this machine", peer.name));
    }
    Ok(ExitCode::SUCCESS)
}

/// What both sides need.
struct Scene<'a> {
    store: &'a Store,
    args: &'a PairArgs,
    machine: Machine,
    card: Card,
}

impl<'a> Scene<'a> {
    /// Scene of the machine as the arguments want it to be called.
    fn new(store: &'a Store, args: &'a PairArgs) -> Result<Self, Failure> {
        // Before anything is said to anybody: what could not be read could not be kept.
        store.book()?;
        let machine = peers::renamed(store, args.name.clone(), args.callsign.clone())?;
        let card = Card { name: machine.name.clone(), mode: args.mode, callsign: machine.callsign.clone() };
        Ok(Self { store, args, machine, card })
    }

    /// The other end, which is at this address, as it would be kept.
    fn peer(&self, paired: Paired, address: Option<String>) -> KnownPeer {
        let Paired { key, card, psk } = paired;
        KnownPeer {
            name: self.args.called.clone().unwrap_or(card.name),
            key,
            psk,
            mode: card.mode,
            callsign: card.callsign,
            address,
            may_send: self.args.allow,
        }
    }

    /// Keeps the other end, which is at this address; what is known of it now.
    fn keep(&self, paired: Paired, address: Option<String>) -> Result<KnownPeer, Unable> {
        let peer = self.peer(paired, address);
        let name = peer.name.clone();
        let kept = self.store.change_book(|book| {
            book.pair(peer)?;
            book.by_name(&name).cloned()
        });
        kept.map_err(unable)
    }

    /// Whether the other end, which is at this address, could be kept.
    fn try_keep(&self, paired: Paired, address: Option<String>) -> Result<(), Unable> {
        let peer = self.peer(paired, address);
        self.store.try_change(|book| book.pair(peer)).map_err(unable)
    }
}

/// What this end's owner learns if the other one cannot be kept, and what the other end's does.
struct Unable {
    here: Failure,
    there: Unkept,
}

fn unable(error: StoreError) -> Unable {
    let there = match error {
        StoreError::OwnName(_) => Unkept::OwnName,
        StoreError::NameTaken(_) => Unkept::NameTaken,
        _ => Unkept::Other,
    };
    let here = Failure::from(error);
    Unable { here: if there == Unkept::OwnName { here.and(OTHER_NAME) } else { here }, there }
}

/// The other end, once it is kept. Only a farewell can be cut off behind that.
type Kept = RefCell<Option<KnownPeer>>;

/// What came of a pairing that was cut off: who is kept stays so, else the failure.
fn cut_off(kept: &Kept, failure: Failure) -> Result<KnownPeer, Failure> {
    let peer = kept.take().ok_or(failure)?;
    note(MAY_NOT_KNOW);
    Ok(peer)
}

/// Randomness of the system for one purpose.
fn random() -> Result<skyhaul_association::Secret, Failure> {
    random_secret().map_err(|error| Failure::new(format!("the system gives no random numbers: {error}")))
}

fn failed(error: PairingError) -> Failure {
    Failure::of(ErrorCode::PairingFailed, format!("not paired: {}", told(error)))
}

/// Reason, and what to do about it here or there.
fn told(error: PairingError) -> String {
    match error {
        PairingError::Declined(Unkept::OwnName | Unkept::NameTaken) => format!("{error}; {OTHER_NAME_THERE}"),
        _ => error.to_string(),
    }
}

fn interrupted() -> Failure {
    Failure::of(ErrorCode::Interrupted, "interrupted; nobody is paired")
}

/// Shows the code.
fn show(code: &str, json: bool) -> Result<(), Failure> {
    note(&format!("code: {code}"));
    if json { print(&format!("{{\"code\":\"{code}\"}}\n")) } else { Ok(()) }
}
