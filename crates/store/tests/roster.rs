//! Associations follow the book of peers: who gets leave is known, who loses it is not.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![allow(missing_docs, reason = "a test")]

use std::fs;

use skyhaul_association::{Config, PublicKey, Secret};
use skyhaul_core::envelope::Mode;
use skyhaul_store::{Entered, KnownPeer, Store, Whom, enter};
use tempfile::TempDir;

fn store(folder: &TempDir) -> Store {
    Store::at(folder.path().join("config"), folder.path().join("state"))
}

fn peer(name: &str, number: u8, may_send: bool) -> KnownPeer {
    KnownPeer {
        name: name.parse().unwrap(),
        key: PublicKey([number; 32]),
        psk: Secret::new([number; 32]),
        mode: Mode::Encrypted,
        callsign: None,
        address: None,
        may_send,
    }
}

fn entered(store: &Store, whom: Whom) -> Entered {
    let machine = store.machine_or_new().unwrap();
    enter(store, &machine, Config::default(), whom).unwrap()
}

/// Names of those that stay when the file has changed, and of those that are known afterwards.
fn followed(entered: &mut Entered) -> [Vec<String>; 2] {
    assert!(entered.roster.is_out_of_date());
    let book = entered.roster.read().unwrap();
    let staying = entered.roster.staying(&book);
    let changes = entered.roster.follow(&book, &mut entered.associations);
    assert!(changes.troubles.is_empty() && !entered.roster.is_out_of_date());
    [staying, entered.roster.names()].map(|names| names.values().map(ToString::to_string).collect())
}

#[test]
fn leave_that_is_given_or_taken_back_counts_and_who_stays_keeps_its_associations() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.change_book(|book| book.add(peer("ship", 1, true))).unwrap();
    store.change_book(|book| book.add(peer("moon", 2, false))).unwrap();
    let mut entered = entered(&store, Whom::WithLeave);
    assert!(!entered.roster.is_out_of_date());
    let ship = entered.associations.peer_of(PublicKey([1; 32]));
    assert!(ship.is_some() && entered.associations.peer_of(PublicKey([2; 32])).is_none());
    store.change_book(|book| book.allow(&"moon".parse().unwrap(), true)).unwrap();
    assert_eq!(followed(&mut entered), [vec!["ship"], vec!["ship", "moon"]]);
    assert_eq!(entered.associations.peer_of(PublicKey([1; 32])), ship, "it is as it was");
    store.remove_peer(&"ship".parse().unwrap()).unwrap();
    assert_eq!(followed(&mut entered), [vec!["moon"], vec!["moon"]]);
    assert_eq!(entered.associations.peer_of(PublicKey([1; 32])), None);
}

#[test]
fn who_is_paired_again_is_another_one_whose_old_keys_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.change_book(|book| book.add(peer("ship", 1, true))).unwrap();
    let mut entered = entered(&store, Whom::WithLeave);
    let old = entered.associations.peer_of(PublicKey([1; 32])).unwrap();
    let again = KnownPeer { psk: Secret::new([9; 32]), ..peer("ship", 1, true) };
    store.change_book(|book| book.pair(again)).unwrap();
    assert_eq!(followed(&mut entered), [vec![], vec!["ship"]]);
    assert_ne!(entered.associations.peer_of(PublicKey([1; 32])), Some(old));
}

#[test]
fn a_book_that_cannot_be_read_is_told_once_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.change_book(|book| book.add(peer("ship", 1, true))).unwrap();
    let mut entered = entered(&store, Whom::Called(PublicKey([1; 32])));
    fs::write(folder.path().join("config/peers"), "torn").unwrap();
    assert!(entered.roster.is_out_of_date() && entered.roster.read().is_err());
    assert!(!entered.roster.is_out_of_date(), "it was told");
    assert_eq!(entered.roster.names().len(), 1);
}
