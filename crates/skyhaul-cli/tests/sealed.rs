//! Sealed transfers of the built binary: `receive --peers-only`, `send FILE NAME[@ADDRESS:PORT]`.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Kept, Said, file, free_port, names, noise, skyhaul};
use tempfile::TempDir;

const PSK: &str = "3333333333333333333333333333333333333333333333333333333333333333";

/// Machine: folders of its own.
struct Machine(TempDir);

impl Machine {
    fn new(name: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        let psk = file(machine.0.path(), "psk", PSK.as_bytes());
        fs::set_permissions(psk, fs::Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(machine.place("inbox")).unwrap();
        machine.works(&["id", "--name", name]);
        machine
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = skyhaul(words);
        command.env("XDG_CONFIG_HOME", self.place("config")).env("XDG_STATE_HOME", self.place("state"));
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, words: &[&str]) -> Said {
        self.command(words).output().unwrap().into()
    }

    fn works(&self, words: &[&str]) -> Said {
        let said = self.run(words);
        assert_eq!(said.code, Some(0), "{words:?}: {said:?}");
        said
    }

    fn key(&self) -> String {
        self.works(&["id", "--json"]).json()["public_key"].as_str().unwrap().to_string()
    }

    fn knows(&self, other: &Self, name: &str, more: &[&str]) {
        let key = other.key();
        self.works(&[&["peers", "add", name, &key, "--psk", "psk"], more].concat());
    }

    /// Receiver of the machine at this address, once it waits; what it said first.
    fn receiver(&self, address: &str, more: &[&str]) -> (Kept, String) {
        let words = ["receive", "--dir", "inbox", "--json", "--listen", address];
        let mut child = Kept::new(self.command(&[&words[..], more].concat()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        (child, line)
    }

    /// What is on the disk of handshakes with others.
    fn counters(&self) -> Vec<String> {
        let folder = self.place("state/skyhaul/counters");
        let is_table = |text: &String| text.starts_with("skyhaul-counters");
        let texts = names(&folder).into_iter().filter_map(|name| fs::read_to_string(folder.join(name)).ok());
        texts.filter(is_table).collect()
    }
}

/// Ship, which knows the ground, and ground, which gives the ship leave.
fn pair() -> (Machine, Machine) {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    ship.knows(&ground, "ground", &[]);
    ground.knows(&ship, "ship", &["--allow"]);
    (ship, ground)
}

fn address() -> String {
    format!("127.0.0.1:{}", free_port())
}

fn content(place: &Path) -> Vec<u8> {
    fs::read(place).unwrap()
}

#[test]
fn files_go_sealed_to_a_peer_by_its_name() {
    let (ship, ground) = pair();
    let (address, data) = (address(), noise(2_000_000));
    file(ship.0.path(), "image.raw", &data);
    let mut last = 0;
    for round in 0..2 {
        let (receiver, said) = ground.receiver(&address, &["--peers-only", "--once", "--overwrite"]);
        assert!(said.ends_with("sealed, from 1 peer with leave to send them\n"), "{said}");
        let sent = ship.works(&["send", "image.raw", &format!("ground@{address}"), "--json"]).json();
        let received: Said = receiver.wait_with_output().into();
        assert_eq!(received.code, Some(0), "round {round}: {received:?}");
        assert_eq!(received.json()["digest"], sent["digest"]);
        assert!(content(&ground.place("inbox/image.raw")) == data);
        let [counters] = &ship.counters()[..] else { panic!("one peer was called") };
        let words: Vec<&str> = counters.lines().nth(1).unwrap().split(' ').collect();
        let first_unused: u64 = words[0].parse().unwrap();
        assert!(first_unused >= last + 64, "each process has counters of its own: {counters}");
        last = first_unused;
        assert_ne!(words[1], "0".repeat(64), "a token is kept");
    }
}

#[test]
fn the_address_of_a_peer_may_be_known() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let address = address();
    ship.knows(&ground, "ground", &["--address", &address]);
    ground.knows(&ship, "ship", &["--allow"]);
    file(ship.0.path(), "a", b"sealed");
    let (receiver, _) = ground.receiver(&address, &["--peers-only", "--once"]);
    ship.works(&["send", "a", "ground"]);
    assert_eq!(receiver.wait_with_output().status.code(), Some(0));
    assert_eq!(content(&ground.place("inbox/a")), b"sealed");
}

#[test]
fn nobody_but_peers_with_leave_is_heard() {
    let (ship, ground) = pair();
    let other = Machine::new("other");
    other.knows(&ground, "ground", &[]);
    ground.knows(&other, "other", &[]);
    let address = address();
    let (_receiver, _) = ground.receiver(&address, &["--peers-only"]);
    for machine in [&ship, &other] {
        file(machine.0.path(), "a", b"x");
    }
    let sealed = format!("ground@{address}");
    let refused = other.run(&["send", "a", &sealed, "--give-up", "2s", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (Some(1), &"no-answer".into()));
    assert!(refused.err.contains("skyhaul peers list"), "{}", refused.err);
    let plain = ship.run(&["send", "a", &address, "--give-up", "2s", "--json"]);
    assert_eq!((plain.code, &plain.json()["error"]["code"]), (Some(1), &"no-answer".into()));
    assert_eq!(names(&ground.place("inbox")), [""; 0]);
    ship.works(&["send", "a", &sealed]);
    assert_eq!(names(&ground.place("inbox")), ["a"]);
}

#[test]
fn what_is_missing_is_said() {
    let ship = Machine::new("ship");
    let ground = Machine::new("ground");
    file(ship.0.path(), "a", b"x");
    let fails = |words: &[&str], code: i32, text: &str| {
        let said = ship.run(words);
        assert!(said.code == Some(code) && said.err.contains(text), "{words:?}: {said:?}");
    };
    fails(&["receive", "--dir", "inbox", "--peers-only"], 1, "no peer has leave");
    fails(&["send", "a", "ground@127.0.0.1:4700"], 1, "no peer is called 'ground'");
    fails(&["send", "a", "-x@127.0.0.1:4700"], 2, "");
    fails(&["send", "a", "ground"], 2, "has no port");
    ship.knows(&ground, "ground", &[]);
    fails(&["send", "a", "ground"], 2, "write ground@ADDRESS:PORT");
    fails(&["send", "a", "ground@127.0.0.1:4700", "--transport", "tcp", "--tun", "x"], 2, "protects nothing");
    let nobody = format!("ground@127.0.0.1:{}", free_port());
    fails(&["send", "a", &nobody], 1, "receive --peers-only");
    fs::remove_dir_all(ship.place("config")).unwrap();
    fails(&["receive", "--dir", "inbox", "--peers-only"], 1, "skyhaul id");
}
