//! Ends that are killed or stopped, peers that take nothing, few descriptors, and little memory.
//!
//! `SKYHAUL_KILLS=1000 cargo test -p skyhaul-cli --test withstand kill` is a large dose of kills, and
//! `SKYHAUL_STOP_S=60` a long stop.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{Kept, Receiver, Said, file, free_port, names, noise, run, skyhaul, until};
use skyhaul_files::codec::{Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{Digest, RawName, chunk_digest};
use skyhaul_net::{Endpoint, EndpointOptions, Protection, Stream};
use skyhaul_stp::Config;
use skyhaul_stp::segment::{Opening, Segment, encode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Port of the file protocol's version 1.
const FILES_PORT: u16 = 1;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn signal(process: &Kept, name: &str) {
    Command::new("kill").args([name, &process.id().to_string()]).status().unwrap();
}

/// Every file in the folder is one of these, and whole; none is unfinished.
fn all_are_whole(inbox: &Path, sources: &Path) {
    for name in names(inbox) {
        assert!(!name.ends_with(".skyhaul-part"), "{name} is left");
        let (there, here) = (std::fs::read(inbox.join(&name)), std::fs::read(sources.join(&name)));
        assert!(there.unwrap() == here.unwrap(), "{name} is not what was sent");
    }
}

#[test]
fn whichever_end_is_killed_nothing_is_left_and_the_next_transfer_goes() {
    let sources = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let mut receiver = Receiver::at(&address, tempfile::tempdir().unwrap(), &["--give-up", "5s"]);
    let contents = noise(400_000);
    let send = |name: &str, rate: &str| {
        let path = file(sources.path(), name, &contents);
        let args = ["send", "-q", "--rate", rate, "--give-up", "5s", path.to_str().unwrap(), &address];
        Kept::new(skyhaul(&args).spawn().unwrap())
    };
    for kill in 0..number("SKYHAUL_KILLS", 20) {
        let mut sender = send(&format!("cut{kill}"), "8M"); // 0.4 s
        std::thread::sleep(Duration::from_millis(kill * 37 % 450));
        if kill % 2 == 0 {
            receiver.child.kill().unwrap();
            receiver.child.wait().unwrap();
            let Receiver { folder, .. } = receiver;
            receiver = Receiver::at(&address, folder, &["--give-up", "5s"]);
        }
        sender.kill().unwrap();
        sender.wait().unwrap();
        let honest = format!("honest{kill}");
        let mut next = send(&honest, "80M");
        until("the end of an honest transfer", || next.try_wait().unwrap().is_some());
        assert_eq!(next.wait().unwrap().code(), Some(0), "{honest}");
        assert!(receiver.path().join(&honest).exists());
        all_are_whole(receiver.path(), sources.path());
        for name in names(sources.path()) {
            std::fs::remove_file(sources.path().join(&name)).unwrap();
            let _ = std::fs::remove_file(receiver.path().join(&name));
        }
    }
}

#[test]
fn a_receiver_that_is_stopped_for_a_while_gets_the_rest() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let contents = noise(2_000_000);
    let path = file(source.path(), "data.bin", &contents);
    let args = ["send", "--json", "--rate", "8M", path.to_str().unwrap(), &receiver.address];
    let sender = Kept::new(skyhaul(&args).spawn().unwrap());
    until("a file under way", || receiver.holds_a_file());
    signal(&receiver.child, "-STOP");
    std::thread::sleep(Duration::from_secs(number("SKYHAUL_STOP_S", 4)));
    signal(&receiver.child, "-CONT");
    let sent: Said = sender.wait_with_output().into();
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert!(std::fs::read(folder.path().join("data.bin")).unwrap() == contents);
}

/// Runs `work` in a runtime of its own.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// What `send --give-up 30s` of a file says, if the peer's connection goes to `peer`.
fn sent_to<F: Future>(peer: impl FnOnce(Stream<skyhaul_stp::Endpoint>) -> F) -> Said {
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "data.bin", &noise(9_000_000));
    block_on(async {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let accept = Config { receive_limit_bytes: 200_000, ..Config::standard() };
        let endpoint =
            Endpoint::bind(here, EndpointOptions { accept, ..EndpointOptions::default() }).unwrap();
        let mut listener = endpoint.listen(FILES_PORT).unwrap();
        let address = endpoint.local_addr().to_string();
        let args = ["send", "--json", "--rate", "80M", "--give-up", "30s", path.to_str().unwrap(), &address];
        let mut sender = Kept::new(skyhaul(&args).spawn().unwrap());
        let ended = async {
            while sender.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let being = async {
            peer(listener.accept().await.unwrap()).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = being => unreachable!(),
            ended = tokio::time::timeout(Duration::from_secs(150), ended) => ended.expect("the sender gives up"),
        }
        sender.wait_with_output().into()
    })
}

#[test]
fn a_receiver_whose_window_stays_closed_is_given_up() {
    let said = sent_to(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    assert_eq!((said.code, said.json()["error"]["code"].as_str()), (Some(1), Some("stalled")), "{said:?}");
    assert!(said.err.contains("answers, but has taken nothing for 30 s"), "{said:?}");
}

#[test]
fn a_receiver_that_never_tells_a_result_is_given_up() {
    let said = sent_to(|mut stream| async move {
        let mut taken = vec![0; 1 << 16];
        while stream.read(&mut taken).await.is_ok_and(|count| count > 0) {}
        std::future::pending::<()>().await;
    });
    assert_eq!((said.code, said.json()["error"]["code"].as_str()), (Some(1), Some("stalled")), "{said:?}");
    assert!(said.err.contains("has not told the result of any file for 30 s"), "{said:?}");
}

/// A receiver under this limit of the shell: `-n` descriptors, `-v` KiB of address space. (Soft and hard
/// limit alike: nothing can be raised.) Its threads reserve no 64 MiB each for what they allocate, which
/// would count as address space, whenever they begin.
fn limited(limit: &str, folder: &Path, address: &str) -> Kept {
    let script = format!("ulimit {limit} && exec \"$0\" receive --plain -q --dir \"$1\" --listen \"$2\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_skyhaul"), folder.to_str().unwrap(), address]);
    shell.env("MALLOC_ARENA_MAX", "1");
    let child = Kept::new(shell.spawn().unwrap());
    until("a receiver", || std::net::UdpSocket::bind(address).is_err());
    child
}

/// The beginning of a transfer: files of one chunk, each damaged, all of which wait for repairs then.
fn damaged_files(count: u32) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::One, files: count, bytes: 0 }.encode().to_vec();
    for number in 0..count {
        let name = RawName::new(format!("damaged{number}-{}", std::process::id()));
        stream.extend(Record::File { size: 4, executable: false, modified: None, name }.encode(number));
        stream.extend(chunk_head(number, 0, 4, &chunk_digest(0, 1, b"good")));
        stream.extend(b"evil");
        let digest = Digest(*blake3::hash(b"good").as_bytes());
        stream.extend(Record::End { digest }.encode(number));
    }
    stream
}

#[test]
fn sessions_that_hold_what_they_can_leave_descriptors_for_an_honest_one() {
    let (inbox, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let address = format!("127.0.0.1:{}", free_port());
    let _receiver = limited("-n 256", inbox.path(), &address);
    let files: Vec<String> = (0..100)
        .map(|i| file(source.path(), &format!("f{i}"), b"content").to_str().unwrap().to_string())
        .collect();
    block_on(async {
        let peer: SocketAddr = address.parse().unwrap();
        let endpoint = Endpoint::client(peer, EndpointOptions::default()).unwrap();
        let mut hostile = Vec::new();
        for _ in 0..3 {
            let mut stream = endpoint.open(peer, FILES_PORT, Config::standard()).unwrap();
            stream.write_all(&damaged_files(128)).await.unwrap();
            stream.flush().await.unwrap();
            // Until something is asked for again, or refused.
            tokio::time::timeout(Duration::from_secs(20), stream.read_u8()).await.unwrap().unwrap();
            hostile.push(stream);
        }
        let sent = tokio::task::spawn_blocking(move || {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            run(&[&["send", "-q"], &files[..], &[&address]].concat())
        });
        let sent = sent.await.unwrap();
        assert_eq!(sent.code, Some(0), "{sent:?}");
        drop(hostile);
    });
    assert_eq!(names(inbox.path()).len(), 100);
}

/// Datagrams of one who opens a connection from `port` and leaves its first packet out: all that follow must
/// be kept, as many octets as the receiver's window has.
fn hungry(port: u16, octets: usize) -> impl Iterator<Item = Vec<u8>> {
    const PAYLOAD: [u8; 1400] = [7; 1400];
    let blank =
        Segment { source_port: port, destination_port: FILES_PORT, instance: port, ..Segment::default() };
    let nonce = 0x5EED_0000_0000 + u64::from(port) + (u64::from(std::process::id()) << 16);
    let opening = Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, nonce, ..Opening::default() };
    let packets = (octets / PAYLOAD.len()) as u32;
    (0..packets).map(move |number| {
        let bgn = (number == 0).then_some(opening);
        let data = (number > 0).then_some((&PAYLOAD[..], &[][..]));
        let mut datagram = vec![0; Protection::Plain.head_bytes() as usize];
        encode(&Segment { number, bgn, data, ..blank.clone() }, &mut datagram);
        Protection::Plain.seal(&mut datagram);
        datagram
    })
}

/// Address space of a process, in KiB.
fn address_space_kib(process: &Kept) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_receiver_with_little_memory_stores_a_file_beside_peers_that_fill_their_windows() {
    const LIMIT_KIB: u64 = 96 << 10;
    let (inbox, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let address = format!("127.0.0.1:{}", free_port());
    let mut receiver = limited(&format!("-v {LIMIT_KIB}"), inbox.path(), &address);
    let before_kib = address_space_kib(&receiver);
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for port in 4001..=4008 {
        for (i, datagram) in hungry(port, 20 << 20).enumerate() {
            stranger.send_to(&datagram, &address).unwrap();
            if i % 64 == 0 {
                std::thread::sleep(Duration::from_micros(200)); // as fast as it can be heard, about
            }
        }
    }
    let taken_kib = address_space_kib(&receiver) - before_kib;
    // Whoever proves nothing has 16 MiB together; the rest is the socket's, and slack.
    assert!((1 << 10..=64 << 10).contains(&taken_kib), "{taken_kib} KiB");
    let contents = noise(3_000_000);
    let path = file(source.path(), "data.bin", &contents);
    let sent = run(&["send", "-q", "--rate", "80M", path.to_str().unwrap(), &address]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    assert!(std::fs::read(inbox.path().join("data.bin")).unwrap() == contents);
    assert!(receiver.try_wait().unwrap().is_none(), "it ended for want of memory");
    println!("{before_kib} KiB, and {taken_kib} for eight that filled their windows, of {LIMIT_KIB}");
}
