//! Sealed transfers of the built binary: `receive`, `send FILE NAME[@ADDRESS:PORT]`; and what is not sealed.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Kept, Said, as_written, file, free_port, names, noise, until};
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
        let mut command = as_written(words);
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

    /// True if a session of a process here holds a part of a file: it has no name yet.
    fn has_part(&self, receiver: &Kept) -> bool {
        let inside = self.place("inbox").join("");
        let Ok(open) = fs::read_dir(format!("/proc/{}/fd", receiver.id())) else { return false };
        open.flatten().map(|entry| entry.path()).any(|open| {
            let is_inside = fs::read_link(&open).is_ok_and(|path| path.starts_with(&inside));
            is_inside && fs::metadata(&open).is_ok_and(|file| file.is_file() && file.len() > 0)
        })
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
        let (receiver, said) = ground.receiver(&address, &["--once", "--overwrite"]);
        assert!(said.ends_with("sealed, from 1 peer with leave to send them\n"), "{said}");
        let sent = ship.works(&["send", "image.raw", &format!("ground@{address}"), "--json"]).json();
        let received: Said = receiver.wait_with_output().into();
        assert_eq!(received.code, Some(0), "round {round}: {received:?}");
        assert_eq!(received.json()["digest"], sent["digest"]);
        for (end, peer) in [(&sent, "ground"), (&received.json(), "ship")] {
            let told = &end["protection"];
            assert_eq!((&told["mode"], &told["peer"]), (&"encrypted".into(), &peer.into()), "{end}");
            assert!(["AES-128-GCM", "ChaCha20-Poly1305"].contains(&told["aead"].as_str().unwrap()), "{end}");
        }
        assert!(content(&ground.place("inbox/image.raw")) == data);
        let [counters] = &ship.counters()[..] else { panic!("one peer was called") };
        let words: Vec<&str> = counters.lines().nth(1).unwrap().split(' ').collect();
        let first_unused: u64 = words[0].parse().unwrap();
        assert!(first_unused >= last + 64, "each process has counters of its own: {counters}");
        last = first_unused;
        assert_ne!(words[1], "0".repeat(64), "a token is kept");
    }
}

/// Eight processes of a peer had associations at a time: a ninth broke off a transfer under way, whose sender
/// was told that nobody knows the connection. And places were an address's, whoever is behind it.
#[test]
fn sixteen_processes_of_a_peer_send_side_by_side_and_leave_room_for_another_peer_of_their_address() {
    let (ship, ground) = pair();
    let moon = Machine::new("moon");
    moon.knows(&ground, "ground", &[]);
    ground.knows(&moon, "moon", &["--allow"]);
    let address = address();
    let (_receiver, said) = ground.receiver(&address, &[]);
    assert!(said.ends_with("sealed, from 2 peers with leave to send them\n"), "{said}");
    let (data, to) = (noise(120_000), format!("ground@{address}"));
    let send = |machine: &Machine, name: &str, more: &[&str]| {
        file(machine.0.path(), name, &data);
        let mut command = machine.command(&[&["send", name, &to, "--json", "--no-memory"], more].concat());
        Kept::new(command.spawn().unwrap())
    };
    // 120 kB at 100 kbit/s take 10 s.
    let many: Vec<String> = (0..16).map(|number| format!("slow{number}")).collect();
    let senders: Vec<Kept> = many.iter().map(|name| send(&moon, name, &["--rate", "100k"])).collect();
    std::thread::sleep(Duration::from_secs(3));
    let other: Said = send(&ship, "other", &["--rate", "1M"]).wait_with_output().into();
    assert!(other.code == Some(0) && !other.err.contains("has no room"), "{other:?}");
    for sender in senders {
        let sent: Said = sender.wait_with_output().into();
        assert!(sent.code == Some(0) && !sent.err.contains("has no room"), "{sent:?}");
    }
    let names = many.iter().map(String::as_str).chain(["other"]);
    assert!(names.into_iter().all(|name| content(&ground.place("inbox").join(name)) == data));
}

#[test]
fn the_address_of_a_peer_may_be_known() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let address = address();
    ship.knows(&ground, "ground", &["--address", &address]);
    ground.knows(&ship, "ship", &["--allow"]);
    file(ship.0.path(), "a", b"sealed");
    let (receiver, _) = ground.receiver(&address, &["--once"]);
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
    let (_receiver, _) = ground.receiver(&address, &[]);
    for machine in [&ship, &other] {
        file(machine.0.path(), "a", b"x");
    }
    let sealed = format!("ground@{address}");
    let refused = other.run(&["send", "a", &sealed, "--give-up", "2s", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (Some(1), &"no-answer".into()));
    assert!(refused.err.contains("skyhaul peers list"), "{}", refused.err);
    let plain = ship.run(&["send", "--plain", "a", &address, "--give-up", "2s", "--json"]);
    assert_eq!((plain.code, &plain.json()["error"]["code"]), (Some(1), &"no-answer".into()));
    assert_eq!(names(&ground.place("inbox")), [""; 0]);
    ship.works(&["send", "a", &sealed]);
    assert_eq!(names(&ground.place("inbox")), ["a"]);
}

#[test]
fn nothing_goes_to_an_address_without_a_peer_unless_it_is_asked_for() {
    let (ship, ground) = pair();
    file(ship.0.path(), "a", b"x");
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let refused = ship.run(&["send", "a", &address, "--json"]);
    let error = refused.json()["error"].clone();
    assert_eq!((refused.code, &error["code"]), (Some(1), &"peer-unknown".into()), "{refused:?}");
    for words in ["there are ground", &format!("`skyhaul pair {address}` here"), "--plain"] {
        assert!(refused.err.contains(words), "{words}: {refused:?}");
    }
    assert!(listener.recv(&mut [0; 2000]).is_err(), "nothing was sent");
    drop(listener);
    let (_receiver, said) = ground.receiver(&address, &["--plain"]);
    assert!(said.starts_with("waiting for files at"), "{said}");
    let sent = ship.works(&["send", "--plain", "a", &address]);
    assert!(sent.err.starts_with("WARNING: --plain: NOT protected"), "{sent:?}");
    assert!(sent.out.contains("  protection        none: anyone on the way can read"), "{sent:?}");
    let again = ship.run(&["send", "--plain", "a", &address, "--json"]).json();
    let plain = serde_json::json!({ "mode": "plain", "peer": null, "aead": null });
    assert_eq!((&again["protection"], &again["error"]["code"]), (&plain, &"exists".into()));
    assert_eq!(names(&ground.place("inbox")), ["a"]);
}

#[test]
fn an_address_at_which_one_peer_is_known_to_be_is_that_peer() {
    let (ship, ground, other) = (Machine::new("ship"), Machine::new("ground"), Machine::new("other"));
    let address = address();
    ship.knows(&ground, "ground", &["--address", &address]);
    ground.knows(&ship, "ship", &["--allow"]);
    file(ship.0.path(), "a", b"sealed");
    let (receiver, _) = ground.receiver(&address, &["--once"]);
    ship.works(&["send", "a", &address]);
    assert_eq!(receiver.wait_with_output().status.code(), Some(0));
    ship.knows(&other, "other", &["--address", &address]);
    let refused = ship.run(&["send", "a", &address]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.err.contains(&format!("at {address}: ground, other; write NAME@ADDRESS:PORT")),
        "{refused:?}"
    );
}

#[test]
fn a_protected_sender_never_falls_back() {
    let (ship, ground) = pair();
    file(ship.0.path(), "a", b"x");
    let address = address();
    let (_receiver, _) = ground.receiver(&address, &["--plain"]);
    let sent = ship.run(&["send", "a", &format!("ground@{address}"), "--give-up", "2s", "--json"]);
    assert_eq!((sent.code, &sent.json()["error"]["code"]), (Some(1), &"no-answer".into()), "{sent:?}");
    assert!(sent.err.contains("without --plain"), "{sent:?}");
    fs::write(ship.place("config/skyhaul/peers"), "torn").unwrap();
    let torn = ship.run(&["send", "a", &address, "--json"]);
    assert_eq!((torn.code, &torn.json()["error"]["code"]), (Some(1), &"keys-unusable".into()), "{torn:?}");
    assert_eq!(names(&ground.place("inbox")), [""; 0]);
}

#[test]
fn modes_that_differ_meet_silence_and_both_are_told_what_to_check() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    ship.knows(&ground, "ground", &["--mode", "authenticated"]);
    ground.knows(&ship, "ship", &["--allow"]);
    file(ship.0.path(), "a", b"x");
    let address = address();
    let (_receiver, _) = ground.receiver(&address, &[]);
    let sent = ship.run(&["send", "a", &format!("ground@{address}"), "--give-up", "2s", "--json"]);
    assert_eq!((sent.code, &sent.json()["error"]["code"]), (Some(1), &"no-answer".into()), "{sent:?}");
    assert_eq!(sent.json()["protection"]["mode"], "authenticated", "what it would have been: {sent:?}");
    for words in ["skyhaul peers list", "on both machines", "with one mode"] {
        assert!(sent.err.contains(words), "{words}: {sent:?}");
    }
}

#[test]
fn a_running_receiver_follows_the_peers() {
    let (ship, ground) = pair();
    let other = Machine::new("other");
    other.knows(&ground, "ground", &[]);
    ground.knows(&other, "other", &[]);
    let address = address();
    let (receiver, said) = ground.receiver(&address, &[]);
    assert!(said.contains("from 1 peer with leave"), "{said}");
    file(other.0.path(), "a", b"x");
    file(ship.0.path(), "large", &noise(2_000_000));
    let to = format!("ground@{address}");
    ground.works(&["peers", "allow", "other"]);
    // It looks twice a second; a message that came before goes again.
    other.works(&["send", "a", &to, "--give-up", "20s"]);
    let sending = ship.command(&["send", "large", &to, "--rate", "1M", "--json"]).spawn().unwrap();
    let sending = Kept::new(sending);
    until("a part of the file", || ground.has_part(&receiver));
    let begun = Instant::now();
    ground.works(&["peers", "remove", "ship"]);
    let cut: Said = sending.wait_with_output().into();
    assert!(begun.elapsed() < Duration::from_secs(5), "it is told, and need not find out: {cut:?}");
    assert_eq!((cut.code, &cut.json()["error"]["code"]), (Some(1), &"peer-aborted".into()), "{cut:?}");
    std::thread::sleep(Duration::from_millis(500)); // its keys go a little later
    let again = ship.run(&["send", "large", &to, "--give-up", "2s", "--json"]);
    assert_eq!(again.json()["error"]["code"], "no-answer", "{again:?}");
    assert_eq!(names(&ground.place("inbox")), ["a"]);
    file(other.0.path(), "b", b"y");
    fs::write(ground.place("config/skyhaul/peers"), "torn").unwrap();
    std::thread::sleep(Duration::from_secs(1));
    other.works(&["send", "b", &to]);
    assert_eq!(names(&ground.place("inbox")), ["a", "b"], "a file that cannot be read changes nothing");
}

#[test]
fn a_sender_whose_peer_is_removed_meanwhile_ends() {
    let (ship, ground) = pair();
    file(ship.0.path(), "large", &noise(2_000_000));
    let address = address();
    let (receiver, _) = ground.receiver(&address, &[]);
    let words = ["send", "large", &format!("ground@{address}"), "--rate", "1M", "--json"];
    let sending = Kept::new(ship.command(&words).spawn().unwrap());
    until("a part of the file", || ground.has_part(&receiver));
    ship.works(&["peers", "remove", "ground"]);
    let cut: Said = sending.wait_with_output().into();
    assert_eq!((cut.code, &cut.json()["error"]["code"]), (Some(1), &"peer-unknown".into()), "{cut:?}");
    assert!(cut.err.contains("ground was removed from the peers"), "{cut:?}");
    assert_eq!(names(&ground.place("inbox")), [""; 0]);
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
    fails(&["receive", "--dir", "inbox"], 1, "skyhaul pair --listen ADDRESS:PORT --allow");
    fails(&["send", "a", "ground@127.0.0.1:4700"], 1, "no peer is called 'ground'; none is known yet");
    fails(&["send", "a", "-x@127.0.0.1:4700"], 2, "");
    fails(&["send", "a", "127.0.0.1"], 2, "has no port");
    fails(&["send", "a", "[::1]"], 2, "[::1]:4700");
    fails(&["send", "127.0.0.1:4700", "a"], 2, "files first");
    ship.knows(&ground, "ground", &[]);
    fails(&["receive", "--dir", "inbox"], 1, "skyhaul peers allow ground");
    fails(
        &["send", "a", "moon"],
        1,
        "no peer is called 'moon'; there are ground; an address is written like moon:4700",
    );
    fails(&["send", "a", "ground"], 2, "write ground@ADDRESS:PORT");
    fails(&["send", "a", "ground@127.0.0.1:4700", "--transport", "tcp", "--tun", "x"], 2, "protects nothing");
    fails(&["send", "--plain", "a", "ground@127.0.0.1:4700"], 2, "--plain protects nothing");
    let nobody = format!("ground@127.0.0.1:{}", free_port());
    fails(&["send", "a", &nobody], 1, "nothing receives there; start `skyhaul receive --dir DIR --listen");
}
