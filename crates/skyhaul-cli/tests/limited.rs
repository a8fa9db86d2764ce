//! `limited_by` of `send` over emulated paths: the right cause is the longest, and the sum is the time.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]

mod common;
#[path = "limited/guide.rs"]
mod guide;
#[path = "common/namespaces.rs"]
mod namespaces;
#[path = "common/pages.rs"]
mod pages;

use std::process::Command;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use common::{Said, file, skipped, skyhaul};
use namespaces::is_impossible;
use serde_json::Value;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_skyhaul");
const MB: usize = 1_000_000;
/// 10 Mbit/s, and a round trip of 0.1 s.
const PATH: &[&str] = &["--rate", "10M", "--delay", "50ms"];
/// A path that is never what a transfer waits for.
const FAST: &[&str] = &["--rate", "50M", "--delay", "20ms"];

/// What keeps a processor busy runs alone: it would hold the others back.
static TURN: RwLock<()> = RwLock::new(());

fn turn() -> RwLockReadGuard<'static, ()> {
    TURN.read().unwrap_or_else(PoisonError::into_inner)
}

/// A transfer between two hosts of an emulation.
struct Transfer {
    folder: TempDir,
    /// Shell words in front of `skyhaul receive`.
    receiver: String,
    /// Shell text around `skyhaul send ...`, which stands for `SEND`.
    sender: String,
    /// Address at which it is waited.
    listen: &'static str,
    /// No other emulation runs meanwhile.
    is_alone: bool,
}

impl Transfer {
    fn of(bytes: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 1000) as u8).collect();
        file(folder.path(), "data", &content);
        std::fs::create_dir(folder.path().join("in")).unwrap();
        Self {
            folder,
            receiver: String::new(),
            sender: "SEND".into(),
            listen: "0.0.0.0:4700",
            is_alone: false,
        }
    }

    /// Result of the sender; `None`: no namespaces here.
    fn over(&self, path: &[&str], arguments: &str) -> Option<Value> {
        let _turn = (!self.is_alone).then(turn);
        let _alone = self.is_alone.then(|| TURN.write().unwrap_or_else(PoisonError::into_inner));
        let send = format!("{BINARY} send --plain --no-memory --json {arguments} > said");
        let near = format!("near={}", self.sender.replace("SEND", &send));
        let far = format!(
            "far={} {BINARY} receive --plain --once --dir in --listen {} --json",
            self.receiver, self.listen
        );
        let rest = ["--duration", "60s", "--quiet", "--run", &far, "--run", &near];
        let mut command = skyhaul(&[&["emulate"], path, &rest].concat());
        let said: Said = command.current_dir(self.folder.path()).output().unwrap().into();
        if is_impossible(&said.err) {
            return None;
        }
        assert_eq!(said.code, Some(0), "{said:?}");
        let told = std::fs::read_to_string(self.folder.path().join("said")).unwrap();
        Some(serde_json::from_str(told.lines().last().unwrap()).unwrap())
    }
}

/// The longest cause with its seconds. Their sum is the time of the transfer, to the nanosecond.
fn first(result: &Value) -> (String, f64) {
    let causes = result["limited_by"].as_object().unwrap();
    let seconds = |value: &Value| value.as_f64().unwrap();
    let sum: f64 = causes.values().map(seconds).sum();
    let time = seconds(&result["confirmed_s"]) + result["read_s"].as_f64().unwrap_or(0.0);
    assert!((sum - time).abs() < 1e-6, "{sum} s of {time} s: {result}");
    let first = causes.iter().max_by(|one, other| seconds(one.1).total_cmp(&seconds(other.1)));
    first.map(|(name, value)| (name.clone(), seconds(value))).unwrap()
}

/// Asserts that this cause is the longest, with so many seconds at least.
fn is_first(result: Option<Value>, cause: &str, least_s: f64) {
    let Some(result) = result else { return };
    let (name, seconds) = first(&result);
    assert!(name == cause && seconds >= least_s, "{name} {seconds} s, not {cause}: {result}");
}

#[test]
fn a_clean_path_is_held_back_by_its_rate() {
    is_first(Transfer::of(4 * MB).over(PATH, "data far:4700"), "path_rate", 2.5);
}

#[test]
fn a_declared_rate_below_the_paths_is_named() {
    is_first(Transfer::of(MB).over(PATH, "data far:4700 --rate 2M"), "declared_rate", 3.5);
}

#[test]
fn a_declared_rate_of_three_times_the_paths_is_lowered() {
    let Some(result) = Transfer::of(4 * MB).over(PATH, "data far:4700 --rate 30M") else { return };
    let (name, _) = first(&result);
    assert!(["losses", "path_rate", "declared_rate", "machine"].contains(&name.as_str()), "{result}");
    let lowered_bps = result["lowered_rate_bps"].as_f64().unwrap();
    assert!((8e6..11.5e6).contains(&lowered_bps), "{result}");
    assert!(result["forward"]["bytes"].as_f64().unwrap() < 2.5 * 4e6, "{result}");
}

#[test]
fn a_tiny_file_is_its_opening() {
    let path = ["--rate", "10M", "--delay", "275ms"];
    is_first(Transfer::of(1000).over(&path, "data far:4700"), "opening", 0.5);
}

#[test]
fn a_thin_link_to_a_name_with_two_addresses_brings_a_file_once() {
    // The first answer takes longer than the patience after which another address is asked.
    let path = ["--rate", "2400bit/s", "--delay", "300ms"];
    let transfer = Transfer { listen: "[::]:4700", ..Transfer::of(4000) };
    let Some(result) = transfer.over(&path, "data far:4700") else { return };
    assert!(result["files"][0]["digest"].is_string() && result["error"].is_null(), "{result}");
    assert!(result["confirmed_s"].as_f64().unwrap() < 25.0, "{result}");
}

#[test]
fn an_outage_is_named() {
    let transfer = Transfer::of(2 * MB);
    let scenario = r#"
        [run]
        duration = "1h"
        [nodes]
        near = { kind = "host" }
        far = { kind = "host" }
        [links.space]
        between = ["near", "far"]
        forward = { rate = "10Mbit/s", delay = "50ms", queue = "125kB" }
        reverse = { rate = "10Mbit/s", delay = "50ms", queue = "125kB" }
        outages = [{ from = "1s", to = "6s" }]
        [transports.tcp]
        protocol = "tcp"
        [flows.file]
        from = "near"
        to = "far"
        transport = "tcp"
        workload = { kind = "bulk" }
    "#;
    file(transfer.folder.path(), "gone.toml", scenario.as_bytes());
    is_first(transfer.over(&["gone.toml"], "data far:4700"), "outage", 4.0);
}

#[test]
fn a_machine_that_stands_still_is_named() {
    let stops = "SEND & sleep 1; kill -STOP $!; sleep 4; kill -CONT $!; wait $!";
    let transfer = Transfer { sender: stops.into(), ..Transfer::of(2 * MB) };
    is_first(transfer.over(PATH, "data far:4700"), "machine", 3.5);
}

#[test]
fn a_sender_that_waits_for_a_processor_names_no_neighbour() {
    if Command::new("taskset").arg("-V").output().is_err() {
        return skipped("there is no `taskset` here");
    }
    let loops = "for i in 1 2 3; do taskset -c 0 sh -c 'while :; do :; done' & held=\"$held $!\"; done";
    let sender = format!("{loops}; taskset -c 0 nice -n 14 SEND; told=$?; kill $held; exit $told");
    let transfer = Transfer { sender, is_alone: true, ..Transfer::of(60 * MB) };
    let Some(result) = transfer.over(FAST, "data far:4700") else { return };
    let (name, _) = first(&result);
    assert!(name != "neighbour" && result["limited_by"]["machine"].as_f64().unwrap() > 0.5, "{result}");
}

#[test]
fn a_slow_disk_at_the_receiver_is_named() {
    let transfer = Transfer::of(2 * MB);
    let Some(slow) = slow_disk(&transfer.folder) else { return };
    let transfer = Transfer { receiver: format!("{slow} SLOW_WRITE_US=400000"), ..transfer };
    is_first(transfer.over(FAST, "data far:4700"), "receiver_disk", 2.0);
}

#[test]
fn a_slow_disk_at_the_sender_is_named() {
    let transfer = Transfer::of(2 * MB);
    let Some(slow) = slow_disk(&transfer.folder) else { return };
    let transfer = Transfer { sender: format!("{slow} SLOW_READ_US=400000 SEND"), ..transfer };
    is_first(transfer.over(FAST, "data far:4700"), "source", 2.0);
}

#[test]
fn what_was_read_is_sent_while_a_slow_disk_reads_on() {
    let transfer = Transfer::of(4 * MB);
    let Some(slow) = slow_disk(&transfer.folder) else { return };
    let transfer = Transfer { sender: format!("{slow} SLOW_READ_US=200000 SEND"), ..transfer };
    let Some(result) = transfer.over(PATH, "data far:4700") else { return };
    // The disk alone takes 3.2 s and the link alone 3.2 s, however busy the machine is.
    let seconds = result["confirmed_s"].as_f64().unwrap();
    assert!(seconds < 5.4, "one after the other takes 6.4 s: {result}");
}

/// The receiver was blamed, and its disk, while nothing could be read here.
#[test]
fn a_disk_that_gives_nothing_for_too_long_is_no_fault_of_the_receiver() {
    let transfer = Transfer::of(600_000);
    let Some(slow) = slow_disk(&transfer.folder) else { return };
    let _turn = turn();
    let folder = transfer.folder.path();
    // What comes first of all is read at once: a file that is not slow.
    file(folder, "tiny", b"content");
    let receiver = common::Receiver::start(&[]);
    let script = format!(
        "{slow} SLOW_READ_US=12000000 {BINARY} send --plain --no-memory --json tiny data \"$0\" --give-up 5s"
    );
    let said: Said = Command::new("sh")
        .args(["-c", &script, &receiver.address])
        .current_dir(folder)
        .output()
        .unwrap()
        .into();
    let result: Value = serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
    assert_eq!((said.code, result["error"]["code"].as_str()), (Some(1), Some("stalled")), "{said:?}");
    assert!(said.err.contains("nothing more of the files here could be read for 5 s"), "{said:?}");
    let seconds = |cause: &str| result["limited_by"][cause].as_f64().unwrap();
    assert!(seconds("source") > 4.0 && seconds("receiver_disk") < 1.0, "{result}");
}

#[test]
fn a_standard_input_that_is_fed_slowly_is_named() {
    let transfer = Transfer { sender: "(cat data; sleep 3) | SEND".into(), ..Transfer::of(MB) };
    is_first(transfer.over(PATH, "- far:4700"), "source", 2.5);
}

#[test]
fn a_neighbour_who_joins_is_named() {
    if Command::new("iperf3").arg("-v").output().is_err() {
        return skipped("there is no `iperf3` here");
    }
    let transfer = Transfer {
        receiver: "(iperf3 -s -1 >/dev/null &) ;".into(),
        sender: "(sleep 1; exec iperf3 -c far -t 40 >/dev/null) & SEND; told=$?; kill $!; exit $told".into(),
        ..Transfer::of(8 * MB)
    };
    let path = ["--rate", "10M", "--delay", "20ms", "--queue", "50kB"];
    is_first(transfer.over(&path, "data far:4700"), "neighbour", 5.0);
}

/// Words that give a command a slow disk; `None`, said aloud: nothing can.
fn slow_disk(folder: &TempDir) -> Option<String> {
    let library = folder.path().join("slow_disk.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/limited/slow_disk.c");
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).status();
    let is_possible = cfg!(target_env = "gnu") && built.is_ok_and(|status| status.success());
    if !is_possible {
        skipped("a disk is slowed down by a C compiler and the GNU C library");
    }
    is_possible.then(|| format!("env LD_PRELOAD={}", library.display()))
}
