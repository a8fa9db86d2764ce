//! `--fast-open` of `send` and `receive`: two hosts on two TUN devices, with this machine's kernel as the
//! router between them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]

mod common;
#[path = "../../net/tests/kernel/namespace.rs"]
mod namespace;
#[path = "common/routed.rs"]
mod routed;

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Receiver, Said, file, names, noise, run, until};
use routed::{RECEIVER, routed};
use rustix::process::{Pid, Signal, kill_process};
use skyhaul_net::tun::TunDevice;
use tempfile::TempDir;

/// A folder with files to send, the paths that are remembered, and captures.
struct Desk(TempDir, Cell<u32>);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap(), Cell::new(0))
    }

    fn place(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    fn cookies(&self) -> PathBuf {
        self.0.path().join("paths.cookies")
    }

    /// Sends files until there is a cookie: a question that is repeated, as on a busy machine, is not asked
    /// again for a minute, unless that is forgotten.
    fn acquaint(&self) {
        let keeps = |_: &i32| {
            let _ = std::fs::remove_file(self.cookies());
            let sent = self.send(&self.new_name("first"), b"content", &["--fast-open"]);
            assert_eq!(sent.code, Some(0), "{sent:?}");
            sent.json()["fast_open"]["cookie_kept"] == true
        };
        (1..10).find(keeps).expect("a cookie");
    }

    /// A name that no other file has.
    fn new_name(&self, begin: &str) -> String {
        self.1.set(self.1.get() + 1);
        format!("{begin}-{}", self.1.get())
    }

    /// Sends with a cookie until data is taken with the opening: one that is repeated, as on a busy machine,
    /// goes without. Result: the name that it had then, and what was said.
    fn send_quickly(&self, contents: &[u8], more: &[&str]) -> (String, Said) {
        let attempt = |_| {
            self.acquaint();
            let name = self.new_name("quick");
            let sent = self.send(&name, contents, &[&["--fast-open"], more].concat());
            assert_eq!(sent.code, Some(0), "{sent:?}");
            let is_quick = sent.json()["fast_open"]["taken_bytes"].as_u64() > Some(0);
            is_quick.then_some((name, sent))
        };
        (1..10).find_map(attempt).expect("data taken with the opening")
    }

    /// Whether a cookie of the receiver is kept, and how many openings in a row are known to be lost.
    fn kept(&self) -> (bool, u32) {
        let text = std::fs::read_to_string(self.cookies()).unwrap_or_default();
        let words: Vec<&str> = (text.lines())
            .find(|line| line.contains("10.77.0.2"))
            .unwrap_or("- - - 0 0")
            .split(' ')
            .collect();
        (words[2] != "-", words[4].parse().unwrap())
    }

    /// Sends a file of this name and contents.
    fn send(&self, name: &str, contents: &[u8], more: &[&str]) -> Said {
        let (path, memory) = (file(self.0.path(), name, contents), self.place("paths"));
        let own = ["--transport", "tcp", "--tun", "sky1", "--address", "10.78.0.2", "--memory", &memory];
        run(&[&["send", path.to_str().unwrap(), RECEIVER, "--json"], &own[..], more].concat())
    }
}

fn receiver(more: &[&str]) -> Receiver {
    let own = ["--json", "--transport", "tcp", "--tun", "sky0"];
    Receiver::at(RECEIVER, tempfile::tempdir().unwrap(), &[&own, more].concat())
}

fn is_there(receiver: &Receiver, name: &str, contents: &[u8]) {
    assert_eq!(std::fs::read(receiver.path().join(name)).unwrap(), contents, "{name}");
}

#[test]
fn from_the_second_transfer_on_data_goes_with_the_opening() {
    routed(|| {
        let (desk, receiver) = (Desk::new(), receiver(&["--fast-open"]));
        let first = desk.send("first", b"of a few octets", &["--fast-open"]);
        assert_eq!(first.code, Some(0), "{first:?}");
        let told = &first.json()["fast_open"];
        assert_eq!((&told["begun_with"], &told["sent_bytes"]), (&"no-cookie".into(), &0.into()), "{told}");
        assert_eq!(told["trouble"], serde_json::Value::Null);
        desk.acquaint();
        let mode = std::fs::metadata(desk.cookies()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        let (second_name, second) = desk.send_quickly(b"of a few octets", &[]);
        let told = &second.json()["fast_open"];
        let sent_bytes = told["sent_bytes"].as_u64().unwrap();
        assert!(sent_bytes > 15, "the whole file: {told}");
        assert_eq!((&told["begun_with"], &told["taken_bytes"]), (&"cookie".into(), &sent_bytes.into()));
        let big = noise(300_000);
        let (third_name, third) = desk.send_quickly(&big, &[]);
        let told = &third.json()["fast_open"];
        assert!(told["taken_bytes"].as_u64().unwrap() > 1300, "a whole segment: {told}");
        is_there(&receiver, &second_name, b"of a few octets");
        is_there(&receiver, &third_name, &big);
        // Without memory there is no cookie.
        let plain = ["send", &desk.place("first"), RECEIVER, "--json", "--transport", "tcp", "--tun", "sky1"];
        let forgetful = [&plain[..], &["--address", "10.78.0.2", "--fast-open", "--no-memory"]].concat();
        let told = &run(&forgetful).json()["fast_open"];
        assert_eq!((&told["begun_with"], &told["cookie_kept"]), (&"no-cookie".into(), &false.into()));
    });
}

#[test]
fn a_receiver_tells_what_came_with_the_opening_and_one_without_it_serves_who_wants_it() {
    routed(|| {
        let desk = Desk::new();
        let once = receiver(&["--once"]);
        let sent = desk.send("one", b"content", &["--fast-open"]);
        let (received, _inbox) = once.wait();
        assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
        assert_eq!(sent.json()["fast_open"]["cookie_kept"], false);
        assert_eq!(received.json()["fast_open"], serde_json::Value::Null);
        let (has_cookie, lost_openings) = desk.kept();
        assert!(!has_cookie);
        assert_eq!(desk.cookies().exists(), lost_openings > 0, "else there is nothing to keep");
        let wide = receiver(&["--fast-open"]);
        let sent = desk.send_quickly(b"content", &[]).1.json();
        kill_process(Pid::from_child(&wide.child), Signal::INT).unwrap();
        let (received, _inbox) = wide.wait();
        let told: Vec<u64> = (received.out.lines())
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|result| result["fast_open"]["taken_bytes"].as_u64().unwrap())
            .collect();
        assert_eq!(
            (told.first(), told.last()),
            (Some(&0), sent["fast_open"]["taken_bytes"].as_u64().as_ref())
        );
    });
}

/// A receiver that began anew has another key.
#[test]
fn a_stale_cookie_costs_nothing_and_is_replaced() {
    routed(|| {
        let desk = Desk::new();
        // An opening that is repeated, as on a busy machine, goes without option.
        let ask_once = |_| {
            let first = receiver(&["--fast-open"]);
            desk.acquaint();
            drop(first);
            let before = std::fs::read_to_string(desk.cookies()).unwrap();
            let second = receiver(&["--fast-open"]);
            let stale = desk.send("two", b"content", &["--fast-open"]);
            let sent_bytes = stale.json()["fast_open"]["sent_bytes"].as_u64();
            assert!(stale.code == Some(0) && sent_bytes > Some(0), "{stale:?}");
            (desk.kept().1 == 0).then_some((before, second, stale))
        };
        let (before, second, stale) = (1..10).find_map(ask_once).expect("an opening that is not repeated");
        let told = &stale.json()["fast_open"];
        assert_eq!((&told["taken_bytes"], &told["cookie_kept"]), (&0.into(), &true.into()));
        assert_ne!(std::fs::read_to_string(desk.cookies()).unwrap(), before);
        let (third, _) = desk.send_quickly(b"content", &[]);
        is_there(&second, "two", b"content");
        is_there(&second, &third, b"content");
    });
}

#[test]
fn a_file_of_cookies_that_others_may_read_is_not_used_and_that_is_said() {
    routed(|| {
        let (desk, _receiver) = (Desk::new(), receiver(&["--fast-open"]));
        desk.acquaint();
        std::fs::set_permissions(desk.cookies(), std::fs::Permissions::from_mode(0o644)).unwrap();
        let before = std::fs::read(desk.cookies()).unwrap();
        let said = desk.send("two", b"content", &["--fast-open"]);
        let told = &said.json()["fast_open"];
        assert_eq!((said.code, &told["begun_with"]), (Some(0), &"no-cookie".into()), "{said:?}");
        let text = "what is remembered of cookies is not used";
        assert!(said.err.contains(text) && told["trouble"].as_str().unwrap().contains(text), "{said:?}");
        assert_eq!(std::fs::read(desk.cookies()).unwrap(), before);
    });
}

/// The last opening in a capture: its IP packet.
fn opening(capture: &Path) -> Vec<u8> {
    let octets = std::fs::read(capture).unwrap();
    let word = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut found) = (0, None);
    while at < octets.len() {
        let packet = if word(at) == 6 { &octets[at + 28..at + 28 + word(at + 20)] } else { &[] };
        let is_opening = packet.get(33).is_some_and(|flags| flags & 0x12 == 0x02);
        found = if is_opening { Some(packet.to_vec()) } else { found };
        at += word(at + 4);
    }
    found.expect("an opening")
}

/// The sender's device. A program that another test starts at this moment has a copy of all that is open here
/// until it runs, and the device is in use until then.
fn free_device() -> TunDevice {
    let mut free = None;
    until("a free device", || match TunDevice::attach("sky1") {
        Ok(device) => {
            free = Some(device);
            true
        }
        Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => false,
        Err(error) => panic!("{error}"),
    });
    free.unwrap()
}

/// Sends this packet on the sender's device, from which its program has gone; how many octets the receiver's
/// answer to an opening takes. `None`: it answers it as none.
fn replay(packet: &[u8]) -> Option<u32> {
    let device: OwnedFd = free_device().into();
    assert_eq!(rustix::io::write(&device, packet), Ok(packet.len()));
    let (mut room, mut answer) = (vec![0; 2000], None);
    until("an answer", || {
        while let Ok(length) = rustix::io::read(&device, &mut room[..]) {
            // The first one; data of the receiver follows it.
            if length >= 40 && room[0] >> 4 == 4 && room[9] == 6 && answer.is_none() {
                answer = Some((room[33], u32::from_be_bytes(room[28..32].try_into().unwrap())));
            }
        }
        answer.is_some()
    });
    let first = u32::from_be_bytes(packet[24..28].try_into().unwrap());
    let (flags, acknowledged) = answer.unwrap();
    (flags & 0x12 == 0x12).then(|| acknowledged.wrapping_sub(first) - 1)
}

/// The packet from the next port, its checksum put right: a host's cookie is good for all of them.
fn from_another_port(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let (port, sum) = (word(&packet, 20), u32::from(word(&packet, 36)));
    let sum = sum + u32::from(!1u16); // one's complement: less one
    let sum = (sum & 0xFFFF) as u16 + (sum >> 16) as u16;
    packet[20..22].copy_from_slice(&(port + 1).to_be_bytes());
    packet[36..38].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// State of the folder when somebody sends an opening with a small file once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folder {
    /// The file is there.
    Kept,
    /// It was moved elsewhere.
    TakenAway,
    /// Another took its place, and `receive` may overwrite.
    Replaced,
}

/// An opening that somebody sends once more delivers nothing while its connection is known, and its data
/// again as that of another: a whole small file. It meets the one that is there, and takes no place of
/// another, not even with `--overwrite`. One that was taken away comes again: `--fast-open` asks one to bear
/// that.
#[test]
fn an_opening_that_is_replayed_delivers_a_small_file_again_and_changes_none() {
    for state in [Folder::Kept, Folder::TakenAway, Folder::Replaced] {
        routed(move || {
            let own = ["--fast-open", "--overwrite"];
            let receiver = receiver(if state == Folder::Replaced { &own } else { &own[..1] });
            let desk = Desk::new();
            let capture = desk.place("capture");
            let (name, sent) = desk.send_quickly(b"content", &["--capture", &capture]);
            let sent = sent.json();
            let taken_bytes = sent["fast_open"]["taken_bytes"].as_u64().unwrap() as u32;
            let two = receiver.path().join(name);
            match state {
                Folder::Kept => {}
                Folder::TakenAway => std::fs::remove_file(&two).unwrap(),
                Folder::Replaced => std::fs::write(&two, "another").unwrap(),
            }
            let before = names(receiver.path());
            let opening = opening(Path::new(&capture));
            assert_eq!(replay(&opening), None, "its connection is over, and known");
            assert_eq!(names(receiver.path()), before);
            assert!(taken_bytes > 0);
            assert_eq!(replay(&from_another_port(&opening)), Some(taken_bytes), "taken again");
            if state == Folder::TakenAway {
                until("the file once more", || two.exists());
            }
            std::thread::sleep(Duration::from_secs(1));
            let expected = if state == Folder::Replaced { "another" } else { "content" };
            assert_eq!(std::fs::read_to_string(&two).unwrap(), expected, "{state:?}");
            let big = noise(100_000);
            let next = desk.send("three", &big, &["--fast-open"]);
            assert_eq!(next.code, Some(0), "{state:?}: {next:?}");
            is_there(&receiver, "three", &big);
        });
    }
}

#[test]
fn fast_open_without_tcp_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(folder.path(), "one", b"content");
    for command in [
        &["send", one.to_str().unwrap(), RECEIVER, "--fast-open"][..],
        &["receive", "--dir", ".", "--fast-open"],
    ] {
        let said = run(command);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains("--fast-open is for --transport tcp: add that"), "{said:?}");
    }
}
