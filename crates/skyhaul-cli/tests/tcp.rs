//! `send` and `receive` over TCP: two hosts on two TUN devices, with this machine's kernel as the router
//! between them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]

mod common;
#[path = "../../net/tests/kernel/namespace.rs"]
mod namespace;
#[path = "common/routed.rs"]
mod routed;
#[path = "capture/tshark.rs"]
mod tshark;

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::time::{Duration, Instant};

use common::{Receiver, Said, file, names, noise, run, skyhaul, until};
use namespace::ip;
use routed::{RECEIVER, routed};
use skyhaul_files::codec::{Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{RawName, chunk_digest};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;

fn receiver(address: &str, more: &[&str]) -> Receiver {
    let own = ["--json", "--transport", "tcp", "--tun", "sky0"];
    Receiver::at(address, tempfile::tempdir().unwrap(), &[&own, more].concat())
}

const SENDER: [&str; 6] = ["--transport", "tcp", "--tun", "sky1", "--address", "10.78.0.2"];

fn send(files: &[&str], to: &str, more: &[&str]) -> Said {
    run(&[&["send"], files, &[to, "--json"], &SENDER, more].concat())
}

fn big_file(folder: &TempDir) -> String {
    file(folder.path(), "big", &noise(3_000_000)).to_str().unwrap().to_string()
}

#[test]
fn a_file_arrives_and_both_say_so_in_the_same_words_as_over_stp() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let big = big_file(&folder);
        let receiver = receiver(RECEIVER, &["--once"]);
        let sent = send(&[&big], RECEIVER, &[]);
        let (received, inbox) = receiver.wait();
        assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
        assert_eq!(std::fs::read(inbox.path().join("big")).unwrap(), std::fs::read(&big).unwrap());
        let (sent, received) = (sent.json(), received.json());
        for result in [&sent, &received] {
            assert_eq!(result["transport"], "tcp");
            assert_eq!(result["payload_bytes"], 3_000_000);
            assert_eq!(result["digest"], blake3::hash(&noise(3_000_000)).to_hex().as_str());
            assert!(result["forward"]["bytes"].as_u64().unwrap() > 3_000_000, "{result}");
            assert!(result["goodput_bps"].as_f64().unwrap() > 0.0, "{result}");
        }
        assert_eq!((&sent["controller"], &received["controller"]), (&"cubic".into(), &"receiver".into()));
        // Nothing that crosses two devices and a kernel is quicker.
        assert!(sent["rtt_ms"]["min"].as_f64().unwrap() > 0.001, "{sent}");
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let stp = Receiver::start(&["--once"]);
        let over_stp = run(&["send", &big, &stp.address, "--json"]).json();
        assert_eq!(keys(&sent), keys(&over_stp), "the same fields");
        stp.wait();
    });
}

#[test]
fn both_ends_capture_what_crosses_their_devices() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let big = big_file(&folder);
        let [sender, receiving] = ["send", "receive"].map(|name| folder.path().join(name));
        let receiver = receiver(RECEIVER, &["--once", "--capture", receiving.to_str().unwrap()]);
        let sent = send(&[&big], RECEIVER, &["--capture", sender.to_str().unwrap()]);
        let (received, _inbox) = receiver.wait();
        assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
        if tshark::is_missing() {
            return;
        }
        for path in [&sender, &receiving] {
            let wrong =
                "ip.checksum.status == 0 || tcp.checksum.status == 0 || _ws.malformed || skyfiles.broken";
            let checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-Y", wrong];
            assert_eq!(tshark::tshark(path, &checks), "");
            let file = tshark::columns(path, "skyfiles.name == \"big\"", &["skyfiles.size"]);
            assert_eq!(file, [["3000000"]]);
        }
        let commented = "frame.comment contains \"window:\" && frame.packet_flags_direction == 1";
        assert!(tshark::columns(&sender, commented, &["tcp.ack"]).len() > 10);
    });
}

#[test]
fn the_controller_can_be_chosen_and_ipv6_serves_as_well() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let big = big_file(&folder);
        let receiver = receiver("[fd77::2]:4700", &["--once"]);
        let own = ["--transport", "tcp", "--tun", "sky1", "--address", "fd78::2", "--controller", "reno"];
        let sent = run(&[&["send", &big, "[fd77::2]:4700", "--json"], &own[..]].concat());
        let (received, inbox) = receiver.wait();
        assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
        assert_eq!(
            (names(inbox.path()), &sent.json()["controller"]),
            (vec!["big".to_string()], &"reno".into())
        );
    });
}

#[test]
fn where_nobody_receives_the_sender_says_what_to_do() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let big = big_file(&folder);
        // A host that waits at another port.
        let receiver = receiver("10.77.0.2:4701", &[]);
        let sent = send(&[&big], RECEIVER, &[]);
        assert_eq!(sent.code, Some(1), "{sent:?}");
        let advice = "nothing receives there; start `skyhaul receive --transport tcp --tun NAME --dir DIR --listen 10.77.0.2:4700`";
        assert!(sent.err.contains(advice), "{sent:?}");
        assert_eq!(sent.json()["payload_bytes"], 0);
        let mut child = receiver.child;
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Connections of this machine's kernel that have as many places of the receiver as there are, and bring
/// something.
async fn who_takes_every_place(receiver: &str) -> Vec<tokio::net::TcpStream> {
    let mut streams = Vec::new();
    for (host, number) in (0..32_u16).map(|i| (if i < 16 { "10.77.0.1" } else { "10.78.0.1" }, i)) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{host}:0").parse().unwrap()).unwrap();
        let mut stream = socket.connect(receiver.parse().unwrap()).await.unwrap();
        let mut begun = SessionOpening { version: Version::One, files: 1, bytes: 1 << 18 }.encode().to_vec();
        let name = RawName::new(format!("slow{number}"));
        begun.extend(Record::File { size: 1 << 18, executable: false, modified: None, name }.encode(0));
        begun.extend(chunk_head(0, 0, 1 << 18, &chunk_digest(0, 1, b"")));
        begun.extend([7; 2048]);
        stream.write_all(&begun).await.unwrap();
        streams.push(stream);
    }
    streams
}

/// It ended with "the peer reset the connection", as TCP has no word for a receiver that has no room.
#[test]
fn who_finds_every_place_taken_says_so_and_gets_in_when_one_is_free() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let small = file(folder.path(), "late", &noise(200_000)).to_str().unwrap().to_string();
        let receiver = receiver(RECEIVER, &[]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sent = runtime.block_on(async {
            let mut streams = who_takes_every_place(RECEIVER).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            let sending = tokio::task::spawn_blocking(move || send(&[&small], RECEIVER, &[]));
            for _ in 0..8 {
                for stream in &mut streams {
                    stream.write_all(&[7; 2048]).await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            assert!(!sending.is_finished(), "it asks again");
            drop(streams);
            sending.await.unwrap()
        });
        assert_eq!(sent.code, Some(0), "{sent:?}");
        let waits = "has no room for another transfer yet; asking again for 600 s (--give-up sets that)";
        assert_eq!(sent.err.matches(waits).count(), 1, "{sent:?}");
        assert!(sent.json()["confirmed_s"].as_f64().unwrap() > 2.0, "the waiting counts: {sent:?}");
        assert_eq!(std::fs::read(receiver.path().join("late")).unwrap(), noise(200_000));
        let mut child = receiver.child;
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Opens so many connections every 10 ms from these addresses in turn, each of which lists a file and says
/// nothing more.
async fn who_lists_files_and_is_silent(receiver: &str, hosts: &[String], at_once: usize) {
    const HELD: usize = 500;
    let mut begun = SessionOpening { version: Version::One, files: 1, bytes: 1 << 18 }.encode().to_vec();
    let name = RawName::new("never");
    begun.extend(Record::File { size: 1 << 18, executable: false, modified: None, name }.encode(0));
    let (mut held, mut tick) = (VecDeque::new(), tokio::time::interval(Duration::from_millis(10)));
    let mut hosts = hosts.iter().cycle();
    loop {
        tick.tick().await;
        for host in hosts.by_ref().take(at_once) {
            let (begun, receiver, host) = (begun.clone(), receiver.parse().unwrap(), host.clone());
            held.push_back(tokio::spawn(async move {
                let socket = tokio::net::TcpSocket::new_v4().unwrap();
                socket.bind(format!("{host}:0").parse().unwrap()).unwrap();
                let Ok(mut stream) = socket.connect(receiver).await else { return };
                let _ = stream.write_all(&begun).await;
                std::future::pending::<()>().await;
            }));
        }
        while held.len() > HELD {
            held.pop_front().unwrap().abort();
        }
    }
}

/// Each held a session for 2 s while it was turned away, and whoever then came was reset. An opening that has
/// to be repeated takes a second.
#[test]
fn openings_that_list_a_file_and_say_nothing_keep_no_newcomer_out() {
    routed(|| {
        let hosts = ["10.77.0.1", "10.78.0.1"].map(String::from);
        newcomers_get_in_beside_who_lists_files_and_is_silent(&hosts, 10, Duration::from_secs(3));
    });
}

/// Each was as new as the newcomer, who got one of 11 places that became free in a second beside 100 others.
#[test]
fn fresh_connections_of_many_addresses_that_bring_nothing_keep_no_newcomer_out() {
    routed(|| {
        let hosts: Vec<String> = (1..=64).map(|host| format!("10.79.0.{host}")).collect();
        for host in &hosts {
            ip(&format!("address add {host}/32 dev lo"));
        }
        newcomers_get_in_beside_who_lists_files_and_is_silent(&hosts, 1, Duration::from_secs(5));
    });
}

/// Three newcomers, one after the other, each of whom gets in within that time.
fn newcomers_get_in_beside_who_lists_files_and_is_silent(
    hosts: &[String],
    at_once: usize,
    in_time: Duration,
) {
    let folder = tempfile::tempdir().unwrap();
    let receiver = receiver(RECEIVER, &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in ["one", "two", "three"] {
        let small = file(folder.path(), name, &noise(20_000)).to_str().unwrap().to_string();
        let (sent, took) = runtime.block_on(async {
            let newcomer = async {
                tokio::time::sleep(Duration::from_secs(3)).await;
                let begun = Instant::now();
                let sent = tokio::task::spawn_blocking(move || send(&[&small], RECEIVER, &[])).await;
                (sent.unwrap(), begun.elapsed())
            };
            tokio::select! {
                () = who_lists_files_and_is_silent(RECEIVER, hosts, at_once) => unreachable!(),
                done = newcomer => done,
            }
        });
        assert_eq!(sent.code, Some(0), "{sent:?}");
        assert!(took < in_time, "{took:?}");
        assert_eq!(std::fs::read(receiver.path().join(name)).unwrap(), noise(20_000));
    }
}

#[test]
fn devices_that_cannot_be_had_are_named_with_advice() {
    routed(|| {
        let said = |device: &str, address: &str| {
            let run = skyhaul(&[
                "receive",
                "--dir",
                ".",
                "--transport",
                "tcp",
                "--tun",
                device,
                "--listen",
                address,
            ]);
            finished(run)
        };
        let missing = said("sky9", RECEIVER);
        assert_eq!(missing.code, Some(1));
        let text = "there is no network device 'sky9' here; make it by: sudo ip tuntap add dev sky9 mode tun user $USER";
        assert!(missing.err.contains(text), "{missing:?}");
        let kernels = said("sky0", "10.77.0.1:4700");
        assert!(kernels.err.contains("10.77.0.1 is an address of this machine's own kernel"), "{kernels:?}");
        let mut holder = receiver(RECEIVER, &[]);
        let busy = said("sky0", "10.77.0.3:4700");
        assert!(busy.err.contains("'sky0' is in use by another program"), "{busy:?}");
        holder.child.kill().unwrap();
        holder.child.wait().unwrap();
        ip("link set sky1 down");
        let down = said("sky1", "10.78.0.2:4700");
        assert!(down.err.contains("sudo ip link set sky1 up"), "{down:?}");
    });
}

/// A command that waits says what for, and for how long.
#[test]
fn a_receiver_that_does_not_answer_is_mentioned_while_it_is_asked() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let big = big_file(&folder);
        let to = [&["send", &big, RECEIVER][..], &SENDER].concat();
        let mut child = skyhaul(&to).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let [warning, first] = std::array::from_fn(|_| said.next().unwrap().unwrap());
        assert!(warning.starts_with("WARNING: --transport tcp: NOT protected"), "{warning}");
        let text = "10.77.0.2:4700 has not answered yet; is the address right, and does `skyhaul receive` wait there? asking for 123 s in all (--give-up sets that)";
        assert_eq!(first, text);
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Whatever `--give-up` says ends the wait for a receiver: it was refused here, and TCP took two minutes for
/// an opening and ten for a transfer that stood still.
#[test]
fn a_receiver_that_does_not_answer_or_takes_nothing_is_given_up_when_it_is_time() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let big = file(folder.path(), "big", b"");
        std::fs::OpenOptions::new().write(true).open(&big).unwrap().set_len(50_000_000).unwrap();
        let timed = |to: &str| {
            let begun = Instant::now();
            let said = send(&[big.to_str().unwrap()], to, &["--give-up", "4s"]);
            (said, begun.elapsed())
        };
        // Nobody answers at that address: there is no host.
        let (said, took) = timed("10.77.0.9:4700");
        assert_eq!(
            (said.code, said.json()["error"]["code"].as_str()),
            (Some(1), Some("no-answer")),
            "{said:?}"
        );
        assert!(said.err.contains("asking for 4 s in all (--give-up sets that)"), "{said:?}");
        assert!(said.err.contains("a path that takes longer needs a larger --give-up"), "{said:?}");
        assert!((4..8).contains(&took.as_secs()), "{took:?}");
        // This machine's kernel, whose program reads nothing.
        let deaf = std::net::TcpListener::bind("10.77.0.1:4700").unwrap();
        let (said, took) = timed("10.77.0.1:4700");
        assert_eq!(
            (said.code, said.json()["error"]["code"].as_str()),
            (Some(1), Some("stalled")),
            "{said:?}"
        );
        let text = "it answers, but has taken nothing for 4 s; look at the receiver and its disk, then send again \
                    (--give-up sets the time)";
        assert!(said.err.contains(text), "{said:?}");
        assert!((4..12).contains(&took.as_secs()), "{took:?}");
        drop(deaf);
    });
}

/// Bytes that this device of the thread's namespace has brought its programs, or taken from them.
fn bytes_written_to(device: &str) -> u64 {
    let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = devices.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'));
    let counts = line.into_iter().flat_map(str::split_whitespace);
    counts
        .enumerate()
        .filter(|(at, _)| [0, 8].contains(at))
        .map(|(_, count)| count.parse::<u64>().unwrap())
        .sum()
}

#[test]
fn a_device_that_goes_during_a_transfer_is_named() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        // It takes long enough, and no room: there is nothing in it.
        let big = file(folder.path(), "big", b"");
        std::fs::OpenOptions::new().write(true).open(&big).unwrap().set_len(500_000_000).unwrap();
        let mut receiver = receiver(RECEIVER, &[]);
        let mut to = vec!["send", big.to_str().unwrap(), RECEIVER];
        to.extend(SENDER);
        let sender = skyhaul(&to).spawn().unwrap();
        // What is not whole has no name yet, so the device tells.
        until("the transfer", || bytes_written_to("sky1") > 10_000_000);
        ip("link delete sky1");
        let sent = Said::from(sender.wait_with_output().unwrap());
        let text = "sending to 10.77.0.2:4700 failed: the TUN device is gone; make it again, then start this command again";
        assert!(sent.err.contains(text) && sent.code == Some(1), "{sent:?}");
        receiver.child.kill().unwrap();
        receiver.child.wait().unwrap();
    });
}

/// A device made for a user needs no root; that of somebody else is refused.
#[test]
fn a_user_without_rights_has_the_devices_that_were_made_for_him() {
    routed(|| {
        const NOBODY: u32 = 65_534;
        ip("tuntap add dev sky2 mode tun user 65534");
        ip("address add 10.79.0.1/24 dev sky2");
        ip("link set sky2 up");
        // The binary and the folder lie where the user may go.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::set_permissions(folder.path(), open()).unwrap();
        let binary = folder.path().join("skyhaul");
        std::fs::copy(env!("CARGO_BIN_EXE_skyhaul"), &binary).unwrap();
        let file = file(folder.path(), "one", b"content");
        let said = |command: &str, device: &str| {
            let mut run = std::process::Command::new("timeout");
            run.args(["5", binary.to_str().unwrap(), command]);
            match command {
                "send" => run.arg(&file).args([RECEIVER, "--address", "10.79.0.2"]),
                _ => run.arg("--dir").arg(folder.path()).args(["--listen", "10.79.0.2:4700"]),
            };
            run.args(["--transport", "tcp", "--tun", device]).uid(NOBODY).gid(NOBODY);
            Said::from(run.output().unwrap())
        };
        for (command, works) in [
            ("receive", "waiting for files at 10.79.0.2:4700"),
            ("send", "10.77.0.2:4700 has not answered yet; is the address right"),
        ] {
            let refused = said(command, "sky0");
            let is_told = refused.err.contains("this user may not use the network device 'sky0'");
            let no_file = refused.err.contains("/dev/net/tun: this user may not open it");
            assert!((is_told || no_file) && refused.code == Some(1), "{refused:?}");
            if !no_file {
                let own = said(command, "sky2");
                assert!(own.err.contains(works), "{own:?}");
            }
        }
    });
}

fn open() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o777)
}

fn finished(mut command: std::process::Command) -> Said {
    command.output().unwrap().into()
}

#[test]
fn switches_that_make_no_sense_together_are_refused() {
    let usage = |arguments: &[&str], expected: &str| {
        let said = run(arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(expected), "{said:?}");
    };
    let folder = tempfile::tempdir().unwrap();
    let one = file(folder.path(), "one", b"content");
    let one = one.to_str().unwrap();
    let tcp = ["send", one, RECEIVER, "--transport", "tcp"];
    let with = |more: &[&'static str]| [&tcp[..], more].concat();
    usage(&with(&[]), "--transport tcp needs --tun NAME");
    usage(&with(&["--tun", "sky1"]), "--transport tcp needs --address ADDRESS");
    usage(
        &with(&["--tun", "sky1", "--address", "10.78.0.2", "--rate", "1M"]),
        "--rate is for --transport stp",
    );
    usage(
        &with(&["--tun", "sky1", "--address", "10.78.0.2", "--probing", "off"]),
        "--probing is for --transport stp",
    );
    usage(
        &with(&["--tun", "sky1", "--address", "10.78.0.2", "--controller", "tahoe"]),
        "no such controller; there are",
    );
    usage(
        &with(&["--tun", "sky1", "--address", "10.78.0.2", "--controller", "p-xcp"]),
        "--controller p-xcp is STP's: TCP over a device has",
    );
    usage(
        &with(&["--tun", "sky1", "--address", "10.77.0.2"]),
        "the receiver's address is that of --address, which is this end's own: 10.77.0.2",
    );
    usage(&["send", one, RECEIVER, "--tun", "sky1"], "--tun is for --transport tcp");
    usage(&["send", one, RECEIVER, "--address", "10.78.0.2"], "--address is for --transport tcp");
    usage(&["send", one, RECEIVER, "--controller", "reno"], "--controller reno is for --transport tcp");
    let receive = ["receive", "--dir", ".", "--transport", "tcp", "--tun", "sky0"];
    usage(&receive, "--transport tcp needs --listen ADDRESS:PORT with an address of its own");
}
