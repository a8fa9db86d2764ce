//! Identity and peers come back; what is torn, foreign, open to others or from elsewhere does not, and stays.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![allow(missing_docs, reason = "a test")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use skyhaul_association::{MAX_PEERS, PublicKey, Secret};
use skyhaul_core::envelope::Mode;
use skyhaul_store::{FileError, KnownPeer, Store, StoreError};
use tempfile::TempDir;

/// Store in a new folder, and where its files are.
struct Scene {
    folder: TempDir,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("config"), folder.path().join("state"));
        Self { folder, store }
    }

    /// One with an identity and two peers.
    fn filled() -> Self {
        let scene = Self::new();
        scene.store.machine_or_new().unwrap();
        for (name, number) in [("ship", 2), ("ground", 1)] {
            scene.add(name, number).unwrap();
        }
        scene
    }

    fn add(&self, name: &str, number: u8) -> Result<(), StoreError> {
        self.store.change_book(|book| book.add(peer(name, number)))
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join("config").join(name)
    }

    fn names(&self) -> Vec<String> {
        self.store.book().unwrap().peers().iter().map(|peer| peer.name.to_string()).collect()
    }
}

fn peer(name: &str, number: u8) -> KnownPeer {
    KnownPeer {
        name: name.parse().unwrap(),
        key: PublicKey([number; 32]),
        psk: Secret::new([0xA0 + number; 32]),
        mode: if number.is_multiple_of(2) { Mode::Encrypted } else { Mode::Authenticated },
        callsign: (!number.is_multiple_of(2)).then(|| "DL1ABC".parse().unwrap()),
        address: (!number.is_multiple_of(2)).then(|| "ship.example:4700".into()),
        may_send: !number.is_multiple_of(2),
    }
}

fn mode_of(place: &Path) -> u32 {
    fs::metadata(place).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_identity_is_made_once_and_read_by_its_user_alone() {
    let scene = Scene::new();
    assert!(scene.store.machine().unwrap().is_none());
    let made = scene.store.machine_or_new().unwrap();
    let again = scene.store.machine_or_new().unwrap();
    assert_eq!(made.identity().public(), again.identity().public());
    let other = Scene::new().store.machine_or_new().unwrap();
    assert_ne!(made.identity().public(), other.identity().public());
    assert_eq!((mode_of(&scene.place("identity")), mode_of(&scene.place(""))), (0o600, 0o700));
    assert_eq!(fs::read_dir(scene.place("")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_name_changes_and_the_key_stays() {
    let scene = Scene::new();
    let made = scene.store.machine_or_new().unwrap();
    let change = |machine: &mut skyhaul_store::Machine| {
        machine.name = "moon".parse().unwrap();
        machine.callsign = Some("K1ABC".parse().unwrap());
    };
    scene.store.change_machine(change).unwrap();
    let machine = scene.store.machine().unwrap().unwrap();
    assert_eq!((machine.name.as_str(), machine.callsign.unwrap().as_str()), ("moon", "K1ABC"));
    assert_eq!(machine_key(&scene), made.identity().public());
}

fn machine_key(scene: &Scene) -> PublicKey {
    scene.store.machine().unwrap().unwrap().identity().public()
}

#[test]
fn peers_come_back_in_the_order_of_their_names() {
    let scene = Scene::filled();
    assert_eq!(scene.names(), ["ground", "ship"]);
    let book = scene.store.book().unwrap();
    for (known, expected) in book.peers().iter().zip([peer("ground", 1), peer("ship", 2)]) {
        assert_eq!((known.key, known.psk.octets()), (expected.key, expected.psk.octets()));
        assert_eq!((known.mode, &known.callsign), (expected.mode, &expected.callsign));
        assert_eq!((&known.address, known.may_send), (&expected.address, expected.may_send));
    }
    assert_eq!(mode_of(&scene.place("peers")), 0o600);
}

#[test]
fn names_and_keys_that_are_taken_and_ones_own_are_refused() {
    let scene = Scene::filled();
    let refused =
        [scene.add("ship", 3), scene.add("boat", 2)].map(|refused| refused.unwrap_err().to_string());
    assert!(refused[0].contains("another peer is called 'ship'"), "{refused:?}");
    assert!(refused[1].contains("it is that of 'ship'"), "{refused:?}");
    let own = KnownPeer { key: machine_key(&scene), ..peer("me", 9) };
    assert!(matches!(scene.store.change_book(|book| book.add(own)), Err(StoreError::OwnKey)));
    assert_eq!(scene.names(), ["ground", "ship"], "nothing is changed");
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let scene = Scene::filled();
    let refused = |peer| scene.store.change_book(|book| book.add(peer)).unwrap_err().to_string();
    let at = |address: &str| KnownPeer { address: Some(address.into()), ..peer("moon", 8) };
    for bad in [
        "",
        "moon",
        "a b:1",
        "moon:0",
        "moon:99999",
        "::1:4700",
        "moon:1\nx",
        &format!("{}:1", "m".repeat(300)),
    ] {
        assert!(refused(at(bad)).ends_with("is no ADDRESS:PORT"), "{bad:?}");
    }
    assert!(refused(KnownPeer { mode: Mode::Plain, ..peer("moon", 8) }).contains("would not be protected"));
    let moved = scene.store.change_book(|book| book.move_to(&"ship".parse().unwrap(), "x y:1".into()));
    assert!(matches!(moved, Err(StoreError::Address(_))));
    assert_eq!(scene.names(), ["ground", "ship"]);
}

#[test]
fn who_is_not_known_is_told_with_those_that_are() {
    let scene = Scene::filled();
    let moon = "moon".parse().unwrap();
    let error = scene.store.remove_peer(&moon).unwrap_err().to_string();
    assert_eq!(error, "no peer is called 'moon'; there are ground, ship");
    let error = Scene::new().store.remove_peer(&moon).unwrap_err().to_string();
    assert!(error.starts_with("no peer is called 'moon'; none is known yet"), "{error}");
}

#[test]
fn a_peer_is_found_by_its_address_if_it_is_the_only_one_there() {
    let scene = Scene::filled();
    scene.store.change_book(|book| book.move_to(&"ship".parse().unwrap(), "[::1]:4700".into())).unwrap();
    let book = scene.store.book().unwrap();
    for (address, name) in [("Ship.Example:4700", "ground"), ("[0:0::1]:4700", "ship")] {
        assert_eq!(book.by_address(address).unwrap().name.as_str(), name, "{address}");
    }
    let said = book.by_address("ship.example:4701").unwrap_err().to_string();
    assert_eq!(said, "no peer is known to be at ship.example:4701; there are ground, ship");
    scene
        .store
        .change_book(|book| book.move_to(&"ship".parse().unwrap(), "ship.example:4700".into()))
        .unwrap();
    let said = scene.store.book().unwrap().by_address("ship.example:4700").unwrap_err().to_string();
    assert_eq!(said, "several peers are known to be at ship.example:4700: ground, ship");
}

#[test]
fn leave_address_and_removal_concern_one_peer() {
    let scene = Scene::filled();
    let [ship, ground] = ["ship", "ground"].map(|name| name.parse().unwrap());
    scene
        .store
        .change_book(|book| {
            book.allow(&ship, true)?;
            book.allow(&ground, false)?;
            book.move_to(&ship, "[2001:db8::7]:4700".into())
        })
        .unwrap();
    let book = scene.store.book().unwrap();
    assert!(book.by_name(&ship).unwrap().may_send && !book.by_name(&ground).unwrap().may_send);
    assert_eq!(book.by_name(&ship).unwrap().address.as_deref(), Some("[2001:db8::7]:4700"));
    scene.store.counters().claim(PublicKey([2; 32]), 0).unwrap();
    scene.store.remove_peer(&ship).unwrap();
    assert_eq!(scene.names(), ["ground"]);
    assert_eq!(scene.store.counters().recall(PublicKey([2; 32])).unwrap().reserved, 0, "forgotten");
}

#[test]
fn who_is_paired_again_keeps_its_leave_and_its_address() {
    let scene = Scene::filled();
    let again = KnownPeer { may_send: false, address: None, ..peer("planet", 1) };
    scene.store.change_book(|book| book.pair(again)).unwrap();
    let book = scene.store.book().unwrap();
    let planet = book.by_name(&"planet".parse().unwrap()).unwrap();
    assert!(planet.may_send && planet.address.as_deref() == Some("ship.example:4700"));
    assert_eq!(scene.names(), ["planet", "ship"]);
    let taken = scene.store.change_book(|book| book.pair(peer("ship", 7)));
    assert!(matches!(taken, Err(StoreError::NameTaken(_))), "of another key");
}

#[test]
fn more_peers_than_an_end_knows_are_refused() {
    let scene = Scene::new();
    let full = scene.store.change_book(|book| {
        for number in 0..=MAX_PEERS as u32 {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&number.to_be_bytes());
            let long = "x".repeat(57);
            let name = format!("n{number:05}{long}").parse().unwrap();
            let address = Some(format!("{}:4700", "y".repeat(255)));
            let callsign = Some("DL1ABCDEFGHIJKL".parse().unwrap());
            let peer = KnownPeer { name, key: PublicKey(key), address, callsign, ..peer("x", 1) };
            if number == MAX_PEERS as u32 {
                assert!(matches!(book.add(peer), Err(StoreError::Full)));
            } else {
                book.add(peer)?;
            }
        }
        Ok(())
    });
    full.unwrap();
    assert_eq!(scene.store.book().unwrap().peers().len(), MAX_PEERS, "and a file of all of them is read");
}

/// What is said of a file, by name, whose octets or whose surroundings `change` changed.
fn said_of(name: &str, change: impl FnOnce(&Path)) -> [String; 2] {
    let scene = Scene::filled();
    let place = scene.place(name);
    change(&place);
    let before = fs::symlink_metadata(&place).map(|meta| (meta.modified().unwrap(), meta.len()));
    let read = match name {
        "identity" => scene.store.machine().map(drop),
        _ => scene.store.book().map(drop),
    };
    let changed = match name {
        "identity" => scene.store.change_machine(|_| {}).map(drop),
        _ => scene.add("new", 7),
    };
    let after = fs::symlink_metadata(&place).map(|meta| (meta.modified().unwrap(), meta.len()));
    assert_eq!(before.unwrap(), after.unwrap(), "it stays as it is");
    [read, changed].map(|refused| {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(place.to_str().unwrap()), "{text}");
        text
    })
}

#[test]
fn torn_foreign_and_later_files_are_told_and_left_as_they_are() {
    for name in ["identity", "peers"] {
        for text in said_of(name, |place| {
            let text = fs::read(place).unwrap();
            fs::write(place, &text[..text.len() - 9]).unwrap();
        }) {
            assert!(text.contains("it is damaged; put it back from a copy, or remove it"), "{text}");
        }
        for text in said_of(name, |place| fs::write(place, "").unwrap()) {
            assert!(text.contains("it is damaged"), "{text}");
        }
        for text in said_of(name, |place| fs::write(place, "a letter\n").unwrap()) {
            assert!(text.contains("it is something else"), "{text}");
        }
        for text in said_of(name, |place| fs::write(place, format!("skyhaul-{name} 2\nend 0 0\n")).unwrap()) {
            assert!(text.contains("a later skyhaul has written it; use that version"), "{text}");
        }
        for text in said_of(name, |place| fs::write(place, vec![b' '; 3 << 20]).unwrap()) {
            assert!(text.contains("it is too large"), "{text}");
        }
    }
}

#[test]
fn files_that_others_can_read_or_write_are_told() {
    for name in ["identity", "peers"] {
        for mode in [0o644, 0o640, 0o604] {
            for text in
                said_of(name, |place| fs::set_permissions(place, Permissions::from_mode(mode)).unwrap())
            {
                assert!(text.contains(&format!("others may read it (mode {mode:o}); `chmod 600`")), "{text}");
            }
        }
        for text in said_of(name, |place| fs::set_permissions(place, Permissions::from_mode(0o660)).unwrap())
        {
            assert!(text.contains("others may write it (mode 660)"), "{text}");
        }
    }
}

#[test]
fn links_and_folders_in_the_place_of_files_are_told() {
    for name in ["identity", "peers"] {
        for text in said_of(name, |place| {
            fs::rename(place, place.with_extension("moved")).unwrap();
            symlink(place.with_extension("moved"), place).unwrap();
        }) {
            assert!(text.contains("it is not a plain file"), "{text}");
        }
        for text in said_of(name, |place| {
            fs::remove_file(place).unwrap();
            fs::create_dir(place).unwrap();
        }) {
            assert!(text.contains("it is not a plain file"), "{text}");
        }
    }
}

#[test]
fn every_changed_bit_of_an_identity_is_noticed() {
    let scene = Scene::filled();
    let place = scene.place("identity");
    let whole = fs::read(&place).unwrap();
    for bit in 0..8 * whole.len() {
        let mut changed = whole.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(&place, &changed).unwrap();
        let refused = scene.store.machine().unwrap_err();
        assert!(matches!(
            refused,
            StoreError::Unusable { error: FileError::Damaged | FileError::Foreign | FileError::Newer, .. }
        ));
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let store = Store::at(folder.path().join("file/config"), folder.path().join("file/state"));
    let error = store.machine_or_new().unwrap_err().to_string();
    assert!(
        error.starts_with("this machine's identity cannot be") && error.contains("file/config"),
        "{error}"
    );
}

#[test]
fn changes_of_many_threads_are_all_there() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let scene = &scene;
            scope.spawn(move || scene.add(&format!("n{number:02}"), number).unwrap());
        }
    });
    assert_eq!(scene.names().len(), 16);
}

#[test]
fn the_examples_of_the_specification_are_such_files() {
    let page = include_str!("../../../docs/spec/protection.md");
    let example = |first: &str| {
        let begins = page.find(first).unwrap();
        page[begins..].split_once("```").unwrap().0
    };
    let scene = Scene::new();
    fs::create_dir_all(scene.place("")).unwrap();
    for (name, first) in [("identity", "skyhaul-identity 1\n"), ("peers", "skyhaul-peers 1\n")] {
        fs::write(scene.place(name), example(first)).unwrap();
        fs::set_permissions(scene.place(name), Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(scene.store.machine().unwrap().unwrap().name.as_str(), "ground-1");
    assert_eq!(scene.names(), ["ship"]);
    scene.store.change_machine(|_| {}).unwrap();
    scene.store.change_book(|_| Ok(())).unwrap();
    for (name, first) in [("identity", "skyhaul-identity 1\n"), ("peers", "skyhaul-peers 1\n")] {
        assert_eq!(fs::read_to_string(scene.place(name)).unwrap(), example(first));
    }
}
