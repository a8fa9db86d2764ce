//! Outputs that nobody reads, and strangers who would fill them.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "common/records.rs"]
#[allow(dead_code, reason = "files without an end are others' matter")]
mod records;

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{
    Kept, Receiver, Said, file, free_port, names, noise, run, skipped, skyhaul, unprotected, until,
};
use records::whole;
use skyhaul_files::codec::{Record, SessionOpening, Version};
use skyhaul_files::{Code, RawName, Reason};
use skyhaul_net::{Endpoint, EndpointOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Octets that a pipe takes.
const PIPE_BYTES: usize = 64 * 1024;

/// A pipe that takes nothing more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&vec![b'\n'; PIPE_BYTES]).unwrap();
    (reader, writer)
}

fn has(folder: &Path, name: &str, contents: &[u8]) -> bool {
    std::fs::read(folder.join(name)).is_ok_and(|found| found == contents)
}

fn is_waiting(address: &str) -> bool {
    UdpSocket::bind(address).is_err()
}

#[test]
fn files_move_between_two_ends_whose_pipes_nobody_reads() {
    let (inbox, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let address = format!("127.0.0.1:{}", free_port());
    let contents = noise(300_000);
    let path = file(source.path(), "data.bin", &contents);
    let pipes: Vec<_> = (0..4).map(|_| full_pipe()).collect();
    let blocked = |args: &[&str], pipes: &[(PipeReader, PipeWriter)]| {
        let mut command = skyhaul(args);
        command.stdout(pipes[0].1.try_clone().unwrap()).stderr(pipes[1].1.try_clone().unwrap());
        Kept::new(command.spawn().unwrap())
    };
    let dir = inbox.path().to_str().unwrap();
    let mut receiver = blocked(&["receive", "--dir", dir, "--listen", &address], &pipes[..2]);
    until("a receiver", || is_waiting(&address));
    let mut sender = blocked(&["send", path.to_str().unwrap(), &address], &pipes[2..]);
    until("the file", || has(inbox.path(), "data.bin", &contents));
    // It gives the result up, and says by its code that nobody has read it.
    until("the sender's end", || sender.try_wait().unwrap().is_some());
    assert_eq!(sender.wait().unwrap().code(), Some(1));
    Command::new("kill").args(["-INT", &receiver.id().to_string()]).status().unwrap();
    until("the receiver's end", || receiver.try_wait().unwrap().is_some());
}

/// The built binary on a terminal of `script`, and what types there; `None` where there is no `script`.
fn on_a_terminal(args: &[&str], written: &Path) -> Option<Kept> {
    let line: Vec<String> = unprotected(args).iter().map(|arg| format!("'{arg}'")).collect();
    // Whoever types has typed before the command begins.
    let line = format!("sleep 0.5; exec '{}' {}", env!("CARGO_BIN_EXE_skyhaul"), line.join(" "));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-f", "-c", &line]).arg(written).stdin(Stdio::piped());
    Some(Kept::new(script.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?))
}

fn types(terminal: &mut Kept, keys: &[u8]) {
    terminal.stdin.as_mut().unwrap().write_all(keys).unwrap();
}

#[test]
fn a_stopped_terminal_stops_no_transfer_and_shows_the_result_when_it_goes_on() {
    const STOP: &[u8] = b"\x13";
    const GO_ON: &[u8] = b"\x11";
    const INTERRUPT: &[u8] = b"\x03";
    let (inbox, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let address = format!("127.0.0.1:{}", free_port());
    let contents = noise(300_000);
    let path = file(source.path(), "data.bin", &contents);
    let (there, here) = (source.path().join("there"), source.path().join("here"));
    let receive = ["receive", "--dir", inbox.path().to_str().unwrap(), "--listen", &address];
    let Some(mut receiver) = on_a_terminal(&receive, &there) else {
        return skipped("there is no `script` here");
    };
    types(&mut receiver, STOP);
    until("a receiver", || is_waiting(&address));
    let mut sender = on_a_terminal(&["send", path.to_str().unwrap(), &address], &here).unwrap();
    types(&mut sender, STOP);
    until("the file", || has(inbox.path(), "data.bin", &contents));
    let shown = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let result = "verified: it is what was sent";
    assert!(
        !shown(&there).contains("waiting for files") && !shown(&here).contains(result),
        "they are stopped"
    );
    types(&mut sender, GO_ON);
    until("the sender's end", || sender.try_wait().unwrap().is_some());
    assert_eq!(sender.wait().unwrap().code(), Some(0), "{}", shown(&here));
    assert!(shown(&here).contains(result), "{}", shown(&here));
    types(&mut receiver, GO_ON);
    until("the receiver's words", || {
        shown(&there).contains("waiting for files") && shown(&there).contains(result)
    });
    types(&mut receiver, INTERRUPT);
    until("the receiver's end", || receiver.try_wait().unwrap().is_some());
}

/// Opens a connection to `peer`, says `words`, and waits until it is over.
async fn say(endpoint: &Endpoint, peer: SocketAddr, words: &[u8]) {
    let config = skyhaul_stp::Config::standard();
    let mut stream = endpoint.open(peer, 1, config).unwrap();
    let talk = async {
        let _ = stream.write_all(words).await;
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    tokio::time::timeout(Duration::from_secs(20), talk).await.expect("the receiver ends it");
}

#[test]
fn connections_that_are_no_transfers_write_one_line() {
    let receiver = Receiver::start(&[]);
    let peer: SocketAddr = receiver.address.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoint = Endpoint::client(peer, EndpointOptions::default()).unwrap();
        for _ in 0..40 {
            say(&endpoint, peer, b"GET / HTTP/1.1\r\nHost: skyhaul\r\n\r\n").await;
        }
        endpoint.close().await;
    });
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "honest", b"content");
    assert_eq!(run(&["send", "-q", path.to_str().unwrap(), &receiver.address]).code, Some(0));
    Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
    let (said, _inbox): (Said, _) = receiver.wait();
    assert_eq!(said.out.lines().count(), 1, "the honest one alone: {said:?}");
    assert_eq!(said.json()["files"][0]["name"], "honest");
    let lines: Vec<&str> = said.err.lines().filter(|line| !line.starts_with("WARNING")).collect();
    assert_eq!(
        lines,
        ["ended: 1 connection without a transfer", "ended: 39 connections without a transfer"],
        "{said:?}"
    );
}

/// Each took 300 bytes, however many came.
#[test]
fn the_results_of_many_small_transfers_are_joined_for_people_and_none_for_programs() {
    const TRANSFERS: usize = 120;
    for form in [&["--json"][..], &[]] {
        let receiver = Receiver::for_people(form);
        let peer: SocketAddr = receiver.address.parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let endpoint = Endpoint::client(peer, EndpointOptions::default()).unwrap();
            for i in 0..TRANSFERS {
                say(&endpoint, peer, &whole(&format!("small{i}"))).await;
            }
            endpoint.close().await;
        });
        Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
        let (said, inbox): (Said, _) = receiver.wait();
        assert_eq!(names(inbox.path()).len(), TRANSFERS);
        if form == ["--json"] {
            assert_eq!(said.out.lines().count(), TRANSFERS, "{said:?}");
            continue;
        }
        let told = said.out.matches("verified: it is what was sent").count();
        let joined = said.out.lines().filter_map(|line| line.strip_prefix("and ")?.split_once(" more file"));
        let joined: usize = joined.map(|(count, _)| count.parse::<usize>().unwrap()).sum();
        assert_eq!(told + joined, TRANSFERS, "{said:?}");
        assert!(told >= 8 && said.out.len() < TRANSFERS * 150, "{told}: {said:?}");
    }
}

/// Each was an object of a kilobyte, whatever was stored: a datagram each wrote 101 kB a second, and 621 kB
/// with failures full of escapes.
#[test]
fn results_of_small_transfers_for_programs_are_bounded_and_a_large_one_is_told_beside_them() {
    const TRANSFERS: usize = 600;
    let receiver = Receiver::start(&[]);
    let peer: SocketAddr = receiver.address.parse().unwrap();
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoints: Vec<_> = (1..=6_u8)
            .map(|host| Endpoint::bind(SocketAddr::from(([127, 0, 0, host], 0)), EndpointOptions::default()))
            .map(Result::unwrap)
            .collect();
        for i in 0..TRANSFERS {
            say(&endpoints[i % 6], peer, &whole(&format!("small{i}"))).await;
        }
        for endpoint in &endpoints {
            endpoint.close().await;
        }
    });
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "large", &noise(50_000));
    assert_eq!(run(&["send", "-q", path.to_str().unwrap(), &receiver.address]).code, Some(0));
    Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
    let (said, inbox): (Said, _) = receiver.wait();
    let seconds = begun.elapsed().as_secs() as usize + 1;
    assert_eq!(names(inbox.path()).len(), TRANSFERS + 1);
    let written = said.out.len() + said.err.len();
    assert!(written < (256 << 10) + 8000 + 1000 * seconds, "{written} in {seconds} s");
    assert_eq!(said.json()["files"][0]["name"], "large");
    // Nothing is lost of what was stored.
    let joined = said.err.lines().filter_map(|line| line.strip_prefix("and ")?.split_once(" more file"));
    let joined: usize = joined.map(|(count, _)| count.parse::<usize>().unwrap()).sum();
    assert_eq!(said.out.lines().count() - 1 + joined, TRANSFERS, "{}", said.err);
}

/// One session of 20,000 refused files wrote 3.5 MB, and 5.7 with `--json`, and left no room for what others
/// brought for hours.
#[test]
fn a_list_of_every_refused_file_is_bounded_and_leaves_room_for_what_others_bring() {
    const FILES: u32 = 4000;
    for form in [&["-v"][..], &["--json", "-v"]] {
        let receiver = Receiver::for_people(form);
        let peer: SocketAddr = receiver.address.parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let endpoint = Endpoint::client(peer, EndpointOptions::default()).unwrap();
            say(&endpoint, peer, &given_up(FILES)).await;
            endpoint.close().await;
        });
        let source = tempfile::tempdir().unwrap();
        let paths: Vec<_> = ["a", "b"].map(|name| file(source.path(), name, &noise(5000))).to_vec();
        let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(run(&[&["send", "-q"], &paths[..], &[&receiver.address]].concat()).code, Some(0));
        Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
        let (said, _inbox): (Said, _) = receiver.wait();
        let written = said.out.len() + said.err.len();
        assert!(written < 20_000, "{form:?}: {written}");
        if form == ["-v"] {
            assert_eq!(said.out.matches("verified: it is what was sent").count(), 2, "{said:?}");
        } else {
            assert_eq!(said.json()["files"].as_array().unwrap().len(), 2, "{said:?}");
        }
    }
}

/// What came was counted, and not what escapes make of it; results of files, transfers without one and joined
/// lines had an allowance each.
#[test]
fn names_and_reasons_that_need_escapes_write_no_more_than_others() {
    let receiver = Receiver::for_people(&[]);
    let peer: SocketAddr = receiver.address.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let begun = Instant::now();
    runtime.block_on(async {
        let endpoints: Vec<_> = (1..=6_u8)
            .map(|host| Endpoint::bind(SocketAddr::from(([127, 0, 0, host], 0)), EndpointOptions::default()))
            .map(Result::unwrap)
            .collect();
        for i in 0..60 {
            let stored = whole(&format!("small{i}"));
            let words = if i % 2 == 0 { stored } else { given_up(10) };
            say(&endpoints[i / 2 % 6], peer, &words).await;
        }
        for endpoint in &endpoints {
            endpoint.close().await;
        }
    });
    Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
    let (said, inbox): (Said, _) = receiver.wait();
    let seconds = begun.elapsed().as_secs() as usize + 1;
    assert_eq!(names(inbox.path()).len(), 30);
    let written = said.out.len() + said.err.len();
    assert!(written < 9000 + 500 * seconds, "{written} in {seconds} s: {said:?}");
    // Nothing is lost of what was stored, and of the others their number is told.
    let told = said.out.matches("verified: it is what was sent").count();
    let joined = said.out.lines().filter_map(|line| line.strip_prefix("and ")?.split_once(" more file"));
    let joined: usize = joined.map(|(count, _)| count.parse::<usize>().unwrap()).sum();
    assert_eq!(told + joined, 30, "{said:?}");
}

/// A transfer of so many files, given up, with names and reasons that escapes make four or five times as
/// long.
fn given_up(files: u32) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::One, files, bytes: 0 }.encode().to_vec();
    for number in 0..files {
        let name = RawName::new([number.to_string().as_bytes(), &[0xFF; 250]].concat());
        stream.extend(Record::File { size: 1, executable: false, modified: None, name }.encode(number));
        let why = format!("{number}{}", "\u{1}".repeat(250));
        stream.extend(Record::Abort { reason: Reason::new(Code::Changed, why) }.encode(number));
    }
    stream
}

/// Octets that a terminal obeys beside the printed ones: C0 but the end of a line, DEL, and C1, be it as
/// octets that are no UTF-8 or as characters.
fn obeyed(said: &[u8]) -> Vec<char> {
    let text = std::str::from_utf8(said).expect("no octet that is no UTF-8");
    text.chars().filter(|c| c.is_control() && *c != '\n').collect()
}

#[test]
fn no_octet_of_a_name_reaches_a_terminal_as_it_came() {
    let source = tempfile::tempdir().unwrap();
    let name = |octets: &[u8]| OsString::from_vec([b"n", octets, b"31m"].concat());
    let c1 = (0x80..=0x9f_u8).map(|octet| name(&[octet]));
    let characters = (0x80..=0x9f_u8).map(|octet| name(&[0xc2, octet]));
    let paths: Vec<_> = c1
        .chain(characters)
        .chain([name(b"\x1b["), name(b"\x7f")])
        .map(|name| source.path().join(name))
        .collect();
    for path in &paths {
        std::fs::write(path, b"x").unwrap();
    }
    // Stored, and refused for their names; for people, in full, and for programs.
    for (receives, form) in
        [(&["--any-name"][..], "-v"), (&[], "-v"), (&["--any-name"], "--json"), (&[], "--json")]
    {
        let receiver = Receiver::for_people(&[receives, &[form]].concat());
        let sent = |address: &str, paths: &[PathBuf]| {
            let mut command = skyhaul(&["send", form, "--no-memory"]);
            command.args(paths).arg(address).output().unwrap()
        };
        let said = sent(&receiver.address, &paths);
        let missing = sent(&receiver.address, &[source.path().join(name(b"\x9b")).join("missing")]);
        Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
        let (received, inbox) = (receiver.child.wait_with_output(), receiver.folder);
        let expected = if receives.is_empty() { 32 } else { paths.len() };
        assert_eq!(std::fs::read_dir(inbox.path()).unwrap().count(), expected);
        for output in [said, missing, received] {
            for stream in [output.stdout, output.stderr] {
                assert_eq!(obeyed(&stream), [], "{}", String::from_utf8_lossy(&stream));
            }
        }
    }
}
