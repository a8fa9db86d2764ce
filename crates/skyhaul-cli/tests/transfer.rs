//! Files between two processes.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "common/relay.rs"]
mod relay;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Kept, Receiver, Said, file, names, noise, run, skipped, skyhaul, until};
use relay::{To, relay};

#[test]
fn a_file_arrives_whole_and_both_sides_agree_on_its_digest() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let contents = noise(3_000_000);
    let path = file(source.path(), "data.bin", &contents);
    // Options may stand anywhere.
    let sent = run(&["send", path.to_str().unwrap(), "--json", &receiver.address]);
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert!(std::fs::read(folder.path().join("data.bin")).unwrap() == contents);
    let digest = blake3::hash(&contents).to_hex().to_string();
    assert_eq!(sent.json()["digest"], digest.as_str());
    assert_eq!(received.json()["digest"], digest.as_str());
    assert_eq!(sent.json()["payload_bytes"], 3_000_000);
    assert!(sent.json()["verdicts"].is_array() && sent.json()["truth"].is_null(), "{sent:?}");
    assert!(received.json()["verdicts"].is_null(), "{received:?}");
    assert_eq!(names(folder.path()), ["data.bin"]);
}

#[test]
fn paths_within_this_machine_are_remembered_only_in_a_file_that_was_asked_for() {
    let state = tempfile::tempdir().unwrap();
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "data.bin", &noise(100_000));
    let asked = state.path().join("asked");
    for (extra, is_known) in
        [(&[][..], false), (&["--no-memory"], false), (&["--memory", asked.to_str().unwrap()], true)]
    {
        let receiver = Receiver::start(&["--once"]);
        let args = [&["send", "--json"], extra, &[path.to_str().unwrap(), &receiver.address]].concat();
        let said: Said = skyhaul(&args).env("XDG_STATE_HOME", state.path()).output().unwrap().into();
        assert_eq!((said.code, receiver.wait().0.code), (Some(0), Some(0)), "{said:?}");
        assert_eq!(said.json()["path_memory"].is_object(), is_known, "{said:?}");
        assert!(!state.path().join("skyhaul").exists(), "{extra:?}");
    }
}

#[test]
fn several_files_with_odd_names_and_an_empty_one() {
    let receiver = Receiver::start(&["--once", "--any-name"]);
    let source = tempfile::tempdir().unwrap();
    let odd = ["-rf", "with space", "new\nline", "ünïcödé 🛰", "empty", ".hidden", "%s\\x"];
    let mut args = vec!["send".to_string(), "--json".into(), "--".into()];
    for (i, name) in odd.iter().enumerate() {
        let contents = noise(if *name == "empty" { 0 } else { 1000 * i + 1 });
        args.push(file(source.path(), name, &contents).to_str().unwrap().into());
    }
    args.push(receiver.address.clone());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let sent = run(&args);
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    let mut expected = odd.map(String::from).to_vec();
    expected.sort();
    assert_eq!(names(folder.path()), expected);
    for name in odd {
        let (a, b) = (source.path().join(name), folder.path().join(name));
        assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap(), "{name}");
    }
}

#[test]
fn a_receiver_takes_one_transfer_after_another() {
    let mut receiver = Receiver::start(&[]);
    let source = tempfile::tempdir().unwrap();
    for i in 0..3 {
        let path = file(source.path(), &format!("f{i}"), &noise(10_000 + i));
        assert_eq!(run(&["send", path.to_str().unwrap(), &receiver.address]).code, Some(0));
    }
    assert_eq!(names(receiver.path()), ["f0", "f1", "f2"]);
    receiver.child.kill().unwrap();
    receiver.child.wait().unwrap();
}

#[test]
fn a_receiver_does_not_outlive_the_test_that_holds_it() {
    let receiver = Receiver::start(&[]);
    let process = std::path::PathBuf::from(format!("/proc/{}", receiver.child.id()));
    assert!(process.exists());
    drop(receiver); // as a panic does
    assert!(!process.exists());
}

#[test]
fn an_existing_name_is_kept_unless_overwriting_is_asked_for() {
    for overwrite in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "name", b"old");
        let extra: &[&str] = if overwrite { &["--once", "--overwrite"] } else { &["--once"] };
        let receiver = Receiver::start_in(folder, extra);
        let source = tempfile::tempdir().unwrap();
        let path = file(source.path(), "name", b"new");
        let sent = run(&["send", path.to_str().unwrap(), &receiver.address, "--json"]);
        let (received, folder) = receiver.wait();
        assert_eq!(received.err.contains("not every file"), !overwrite, "{received:?}");
        let expected: (i32, &[u8]) = if overwrite { (0, b"new") } else { (1, b"old") };
        assert_eq!((sent.code, received.code), (Some(expected.0), Some(expected.0)), "{sent:?}");
        assert_eq!(std::fs::read(folder.path().join("name")).unwrap(), expected.1);
        if !overwrite {
            let error = sent.json()["files"][0]["error"].to_string();
            assert!(error.contains("exists"), "{error}");
        }
    }
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let receiver = Receiver::start(&["--once", "--max-size", "1kB"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "large", &noise(1001));
    let sent = run(&["send", path.to_str().unwrap(), &receiver.address, "--json"]);
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(1), Some(1)), "{sent:?} {received:?}");
    assert!(names(folder.path()).is_empty());
}

/// A receiver that waits for one transfer, and whose first one was broken off for the reason with this code,
/// told that and waits on: the next one ends it.
#[allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
fn ends_with_what_is_sent_again(receiver: Receiver, code: &str) {
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "again", b"content");
    let sent = run(&["send", path.to_str().unwrap(), &receiver.address, "--json"]);
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert_eq!(names(folder.path()), ["again"]);
    let first: serde_json::Value = serde_json::from_str(received.out.lines().next().unwrap()).unwrap();
    assert_eq!((&first["error"]["code"], &first["error"]["exit_code"]), (&code.into(), &1.into()), "{first}");
    assert!(received.err.contains(first["error"]["message"].as_str().unwrap()), "{received:?}");
    assert!(received.err.contains("waiting on"), "{received:?}");
    assert!(received.json()["error"].is_null(), "{received:?}");
}

#[test]
fn a_killed_sender_leaves_nothing_behind() {
    let receiver = Receiver::start(&["--once", "--give-up", "2s"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let mut sender =
        skyhaul(&["send", path.to_str().unwrap(), &receiver.address, "--rate", "8M"]).spawn().unwrap();
    until("a file under way", || receiver.holds_a_file());
    sender.kill().unwrap();
    sender.wait().unwrap();
    until("the end of its session", || !receiver.holds_a_file());
    assert!(names(receiver.path()).is_empty(), "{:?}", names(receiver.path()));
    ends_with_what_is_sent_again(receiver, "gave-up");
}

#[test]
fn a_killed_receiver_is_noticed() {
    let mut receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let sender = skyhaul(&[
        "send",
        path.to_str().unwrap(),
        &receiver.address,
        "--rate",
        "8M",
        "--give-up",
        "4s",
        "--json",
    ])
    .spawn()
    .unwrap();
    until("a file under way", || receiver.holds_a_file());
    receiver.child.kill().unwrap();
    receiver.child.wait().unwrap();
    let said: Said = sender.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("skyhaul: sending to"), "{said:?}");
    assert!(said.err.contains("any more; start the receiver again"), "{said:?}");
    assert_eq!(said.json()["error"]["code"], "peer-gone", "{said:?}");
    assert!(!receiver.path().join("cut").exists());
}

#[test]
fn interrupting_the_sender_tells_the_receiver() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let sender = skyhaul(&["send", path.to_str().unwrap(), &receiver.address, "--rate", "8M", "--json"])
        .spawn()
        .unwrap();
    until("a file under way", || receiver.holds_a_file());
    let pid = sender.id().to_string();
    std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let said: Said = sender.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("interrupted"), "{said:?}");
    assert_eq!(said.json()["files"][0]["name"], "cut", "{said:?}");
    assert!(said.json()["confirmed_s"].is_null(), "{said:?}");
    until("the end of its session", || !receiver.holds_a_file()); // at once, not after ten minutes
    assert!(names(receiver.path()).is_empty());
    ends_with_what_is_sent_again(receiver, "peer-aborted");
}

fn signal(name: &str, child: &std::process::Child) {
    std::process::Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
}

#[test]
fn a_sender_that_is_interrupted_behind_the_last_result_has_delivered() {
    const DELAY: Duration = Duration::from_millis(500);
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "whole", b"all of it");
    let through = relay(&receiver.address, DELAY, |_| true);
    let sender = Kept::new(skyhaul(&["send", path.to_str().unwrap(), &through, "--json"]).spawn().unwrap());
    until("the file", || receiver.path().join("whole").exists());
    std::thread::sleep(2 * DELAY); // half of a round trip behind its result
    signal("-INT", &sender);
    let (sent, (received, _folder)) = (Said::from(sender.wait_with_output()), receiver.wait());
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert!(sent.json()["confirmed_s"].is_number() && sent.json()["error"].is_null(), "{sent:?}");
}

#[test]
fn a_sender_that_has_its_results_does_not_wait_for_last_words_that_are_lost() {
    const DELAY: Duration = Duration::from_millis(300);
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "whole", b"all of it");
    let is_cut = Arc::new(AtomicBool::new(false));
    let passes = Arc::clone(&is_cut);
    let through =
        relay(&receiver.address, DELAY, move |to| to == To::Receiver || !passes.load(Ordering::Relaxed));
    let sender = Kept::new(skyhaul(&["send", path.to_str().unwrap(), &through, "--json"]).spawn().unwrap());
    until("the file", || receiver.path().join("whole").exists());
    std::thread::sleep(DELAY); // its result is on the way; the answer to the end is not
    is_cut.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    let sent = Said::from(sender.wait_with_output());
    assert!(sent.code == Some(0) && begun.elapsed() < Duration::from_secs(9), "{sent:?}");
    assert!(sent.json()["confirmed_s"].is_number() && sent.json()["error"].is_null(), "{sent:?}");
    let (received, _folder) = receiver.wait();
    assert_eq!(received.code, Some(0), "{received:?}");
}

#[test]
fn a_sender_that_waits_for_late_repeats_obeys_a_signal() {
    const DELAY: Duration = Duration::from_millis(500);
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "whole", b"all of it");
    let is_cut = Arc::new(AtomicBool::new(false));
    let passes = Arc::clone(&is_cut);
    let through = relay(&receiver.address, DELAY, move |_| !passes.load(Ordering::Relaxed));
    let mut sender =
        Kept::new(skyhaul(&["send", path.to_str().unwrap(), &through, "--json"]).spawn().unwrap());
    until("the file", || receiver.path().join("whole").exists());
    std::thread::sleep(2 * DELAY); // half of a round trip behind its result
    is_cut.store(true, Ordering::Relaxed);
    let mut result = String::new();
    BufReader::new(sender.stdout.take().unwrap()).read_line(&mut result).unwrap();
    let begun = Instant::now();
    signal("-TERM", &sender);
    let said = Said::from(sender.wait_with_output());
    assert!(said.code == Some(0) && begun.elapsed() < Duration::from_secs(5), "{said:?}");
}

#[test]
fn a_transfer_that_has_no_place_yet_is_waited_for_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "there", b"before");
    let receiver = Receiver::start_in(folder, &["--once"]);
    let source = tempfile::tempdir().unwrap();
    let (refused, slow) = (file(source.path(), "there", b"again"), file(source.path(), "slow", b"first"));
    let through = relay(&receiver.address, Duration::from_secs(1), |_| true);
    let sender = Kept::new(skyhaul(&["send", slow.to_str().unwrap(), &through]).spawn().unwrap());
    until("the file of the slow one", || receiver.path().join("slow").exists());
    let said = run(&["send", refused.to_str().unwrap(), &receiver.address]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let (sent, (received, _folder)) = (Said::from(sender.wait_with_output()), receiver.wait());
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
}

#[test]
fn interrupting_a_sender_or_a_receiver_shows_a_person_what_is_known() {
    let receiver = Receiver::for_people(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let sender =
        skyhaul(&["send", path.to_str().unwrap(), &receiver.address, "--rate", "8M"]).spawn().unwrap();
    until("a file under way", || receiver.holds_a_file());
    for pid in [sender.id(), receiver.child.id()] {
        std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap();
    }
    let sent: Said = sender.wait_with_output().unwrap().into();
    let (received, _folder) = receiver.wait();
    for (said, line) in [(sent, "  sent  "), (received, "  received  ")] {
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.out.contains(line) && said.out.contains("cut  FAILED"), "{said:?}");
    }
}

#[test]
fn a_receiver_whose_terminal_goes_cleans_up() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    if ignored.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']) {
        return skipped("SIGHUP is ignored here");
    }
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let sender =
        skyhaul(&["send", path.to_str().unwrap(), &receiver.address, "--rate", "8M"]).spawn().unwrap();
    until("a file under way", || receiver.holds_a_file());
    let pid = receiver.child.id().to_string();
    std::process::Command::new("kill").args(["-HUP", &pid]).status().unwrap();
    let (received, folder) = receiver.wait();
    assert_eq!(received.code, Some(1), "{received:?}");
    assert_eq!(received.json()["files"][0]["name"], "cut", "{received:?}");
    assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));
    assert_eq!(sender.wait_with_output().unwrap().status.code(), Some(1));
}

/// Files that wait for their results stay closed. While they stayed open a dozen went a second, as results
/// are told once a second.
#[test]
fn more_files_than_may_be_open_go_one_after_another() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    for i in 0..200 {
        file(source.path(), &format!("f{i}"), b"content");
    }
    let script = "ulimit -n 24; exec \"$0\" send --plain \"$1\"/* \"$2\"";
    let began = Instant::now();
    let sent: Said = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_skyhaul"), source.path().to_str().unwrap()])
        .arg(&receiver.address)
        .output()
        .unwrap()
        .into();
    let took = began.elapsed();
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert_eq!(names(folder.path()).len(), 200);
    assert!(took.as_secs() < 12, "17 s of waiting for results, or more: {took:?}");
}

/// A folder on a disk of 1 MB, which whoever asked for it unmounts; `None`, said aloud, without root.
fn small_disk() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().ok()?;
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "skyhaul-test"])
        .arg(folder.path())
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !mounted {
        skipped("mounting a small tmpfs needs root");
    }
    mounted.then_some(folder)
}

/// Files went to the folder beneath, where nobody finds them, and were called verified.
#[test]
fn a_disk_that_is_mounted_at_the_folder_meanwhile_gets_the_files() {
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "late", b"content");
    let receiver = Receiver::start(&["--once"]);
    let at = receiver.folder.path().to_owned();
    let mount = |words: &[&str]| {
        let command = std::process::Command::new(words[0]).args(&words[1..]).arg(&at).output();
        command.is_ok_and(|said| said.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=1m", "skyhaul-test"]) {
        return skipped("mounting a small tmpfs needs root");
    }
    let sent: Said = skyhaul(&["send", path.to_str().unwrap(), &receiver.address]).output().unwrap().into();
    let there = names(&at);
    assert!(mount(&["umount"]));
    assert!(sent.code == Some(0) && there == ["late"] && names(&at).is_empty(), "{sent:?} {there:?}");
    assert_eq!(receiver.wait().0.code, Some(0));
}

#[test]
fn a_quiet_demo_on_a_full_disk_says_that_it_is_full() {
    let Some(folder) = small_disk() else { return };
    let mut command = skyhaul(&["demo", "-q", "--size", "3MB"]);
    let said: Said = command.env("TMPDIR", folder.path()).output().unwrap().into();
    std::process::Command::new("umount").arg(folder.path()).status().unwrap();
    assert!(said.code == Some(1) && said.err.contains("make space there"), "{said:?}");
}

#[test]
fn a_standard_input_that_has_no_room_says_where_it_is_kept() {
    let Some(folder) = small_disk() else { return };
    let source = tempfile::tempdir().unwrap();
    let piped = std::fs::File::open(file(source.path(), "x", &noise(3_000_000))).unwrap();
    let mut command = skyhaul(&["send", "-", "127.0.0.1:9"]);
    let sent: Said = command.env("TMPDIR", folder.path()).stdin(piped).output().unwrap().into();
    std::process::Command::new("umount").arg(folder.path()).status().unwrap();
    let place = format!("(in '{}'; TMPDIR names another folder); nothing was sent", folder.path().display());
    assert!(sent.code == Some(1) && sent.err.contains(&place), "{sent:?}");
}

#[test]
fn a_disk_that_fills_up_is_reported_to_both() {
    let Some(folder) = small_disk() else { return };
    let source = tempfile::tempdir().unwrap();
    let file = file(source.path(), "big", &noise(3_000_000));
    let receiver = Receiver::start_in(folder, &["--once"]);
    let sent = run(&["send", file.to_str().unwrap(), &receiver.address, "--json"]);
    let (received, folder) = receiver.wait();
    let left = names(folder.path());
    std::process::Command::new("umount").arg(folder.path()).status().unwrap();
    assert_eq!((sent.code, received.code), (Some(1), Some(1)), "{sent:?} {received:?}");
    assert!(sent.json()["files"][0]["error"].to_string().contains("space"), "{sent:?}");
    assert_eq!(
        (&sent.json()["error"]["code"], &received.json()["error"]["code"]),
        (&"no-space".into(), &"no-space".into())
    );
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_name_of_any_length_that_the_disk_allows() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let name = "n".repeat(255);
    let path = file(source.path(), &name, b"short");
    let sent = run(&["send", path.to_str().unwrap(), &receiver.address]);
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert_eq!(names(folder.path()), [name]);
}

#[test]
fn the_standard_input_is_a_file_whose_name_is_given() {
    let receiver = Receiver::start(&["--once"]);
    let contents = noise(1_000_000);
    let source = tempfile::tempdir().unwrap();
    let piped = std::fs::File::open(file(source.path(), "x", &contents)).unwrap();
    let args = ["send", "-", &receiver.address, "--name", "tar of all", "--json"];
    let sent: Said = skyhaul(&args).stdin(piped).output().unwrap().into();
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert!(std::fs::read(folder.path().join("tar of all")).unwrap() == contents);
}

#[test]
fn of_a_standard_input_that_fails_nothing_is_sent() {
    let receiver = Receiver::start(&[]);
    let folder = std::fs::File::open(receiver.path()).unwrap();
    let sent: Said = skyhaul(&["send", "-", &receiver.address]).stdin(folder).output().unwrap().into();
    assert_eq!(sent.code, Some(1), "{sent:?}");
    assert!(
        sent.err.contains("cannot read the standard input: ") && sent.err.contains("nothing was sent"),
        "{sent:?}"
    );
    assert!(names(receiver.path()).is_empty());
    let wrong = run(&["send", "-", "-", &receiver.address]);
    assert!(wrong.code == Some(2) && wrong.err.contains("'-' is there twice"), "{wrong:?}");
    let wrong = run(&["send", "Cargo.toml", &receiver.address, "--name", "a"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("--name is for the standard input"), "{wrong:?}");
}

/// Closed, open for writing alone, or a terminal: nobody asked for an empty file.
#[test]
fn a_standard_input_that_nobody_feeds_is_an_error() {
    let receiver = Receiver::start(&[]);
    let binary = env!("CARGO_BIN_EXE_skyhaul");
    let send = format!("'{binary}' send --plain --json - {}", receiver.address);
    for (how, why) in [("<&-", "is closed"), ("0>written", "cannot read the standard input: ")] {
        let mut shell = std::process::Command::new("sh");
        let folder = tempfile::tempdir().unwrap();
        shell.args(["-c", &format!("exec {send} {how}")]).current_dir(&folder);
        let said: Said = shell.output().unwrap().into();
        let error = said.json()["error"].clone();
        assert!(said.code == Some(1) && error["code"] == "stdin-failed", "{how}: {said:?}");
        assert!(error["message"].as_str().unwrap().contains(why), "{how}: {said:?}");
    }
    let mut script = std::process::Command::new("script");
    script.args(["-q", "-e", "-c", &send, "/dev/null"]).stdin(std::process::Stdio::null());
    if let Ok(output) = script.output() {
        let said = Said::from(output);
        assert!(said.code == Some(1) && said.out.contains("is a terminal"), "{said:?}");
    }
    assert!(names(receiver.path()).is_empty());
    let null = std::fs::File::open("/dev/null").unwrap();
    let sent: Said = skyhaul(&["send", "-", &receiver.address]).stdin(null).output().unwrap().into();
    assert_eq!((sent.code, names(receiver.path())), (Some(0), vec!["stdin".to_string()]), "{sent:?}");
}

#[test]
fn times_of_modification_are_kept() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "old", b"content");
    let time = std::time::UNIX_EPOCH + Duration::new(1_000_000_000, 5);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(run(&["send", path.to_str().unwrap(), &receiver.address]).code, Some(0));
    let (_, folder) = receiver.wait();
    assert_eq!(std::fs::metadata(folder.path().join("old")).unwrap().modified().unwrap(), time);
}

#[test]
fn a_killed_receiver_leaves_nothing() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let args = ["send", path.to_str().unwrap(), &receiver.address, "--rate", "8M", "--give-up", "2s"];
    let _sender = Kept::new(skyhaul(&args).spawn().unwrap());
    until("a file under way", || receiver.holds_a_file());
    let Receiver { mut child, folder, .. } = receiver;
    child.kill().unwrap();
    child.wait().unwrap();
    if !names(folder.path()).is_empty() {
        skipped("the file system has no files without a name: the next receiver removes what is left");
    }
    let next = Receiver::start_in(folder, &[]);
    assert!(names(next.path()).is_empty(), "{:?}", names(next.path()));
}

#[test]
fn unfinished_files_that_nobody_holds_are_removed_at_the_start_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let name = |digits: &str| format!(".{digits}.skyhaul-part");
    file(folder.path(), &name("0123456789abcdef"), b"abandoned");
    let held = file(folder.path(), &name("fedcba9876543210"), b"held");
    let held = std::fs::File::open(held).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let receiver = Receiver::start_in(folder, &[]);
    assert_eq!(names(receiver.path()), [name("fedcba9876543210")]);
}

#[test]
fn hidden_and_disguised_names_are_refused_and_the_reason_says_what_allows_them() {
    let receiver = Receiver::start(&[]);
    let source = tempfile::tempdir().unwrap();
    let names_sent = [".bashrc", "line\nbreak", "photo\u{202e}gpj.sh"];
    for name in names_sent {
        let path = file(source.path(), name, b"x");
        let sent = run(&["send", "--json", path.to_str().unwrap(), &receiver.address]);
        assert!(sent.code == Some(1) && sent.err.contains("--any-name"), "{sent:?}");
        assert_eq!(sent.json()["error"]["code"], "name", "{sent:?}");
    }
    assert!(names(receiver.path()).is_empty());
}

/// A command that starts what follows it, and interrupts it after 4 s.
const FOR_4_S: [&str; 4] = ["timeout", "--signal", "INT", "4"];

/// `send`, started by the command `starter`, where the name `twice` has the addresses `::1` and 127.0.0.1, in
/// this order, or `None`, said aloud.
fn send_to_twice(folder: &Path, starter: &[&str], args: &[&str]) -> Option<Said> {
    let hosts = file(folder, "hosts", b"::1 twice\n127.0.0.1 localhost twice\n");
    let script = "mount --bind \"$0\" /etc/hosts && getent ahosts twice >\"$0.found\" && exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).arg(&hosts).args(starter);
    command.arg(env!("CARGO_BIN_EXE_skyhaul")).args(args);
    let output = command.stdin(std::process::Stdio::null()).output().ok();
    let found = std::fs::read_to_string(folder.join("hosts.found")).unwrap_or_default();
    let output = output.filter(|_| found.starts_with("::1 ") && found.contains("127.0.0.1 "));
    if output.is_none() {
        skipped("a name with two addresses needs root and `unshare`, to put another /etc/hosts in place");
    }
    output.map(Said::from)
}

#[test]
fn a_silent_address_of_a_name_costs_seconds_and_is_said() {
    let Ok(silent) = std::net::UdpSocket::bind("[::1]:0") else { return skipped("there is no ::1 here") };
    let port = silent.local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let receiver = Receiver::at(&address, tempfile::tempdir().unwrap(), &["--once", "--json"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "data.bin", &noise(10_000));
    let args = ["send", "--plain", "--json", path.to_str().unwrap(), &format!("twice:{port}")];
    let Some(sent) = send_to_twice(source.path(), &[], &args) else { return };
    assert_eq!((sent.code, receiver.wait().0.code), (Some(0), Some(0)), "{sent:?}");
    let said = format!("[::1]:{port} did not answer; trying {address}, which 'twice:{port}' means, too\n");
    assert!(sent.err.contains(&said), "{sent:?}");
    assert_eq!(sent.json()["peer"], address.as_str());
}

#[test]
fn the_only_address_is_asked_for_as_long_as_give_up_says_and_one_before_others_is_not() {
    let Ok(silent) = std::net::UdpSocket::bind("[::1]:0") else { return skipped("there is no ::1 here") };
    let port = silent.local_addr().unwrap().port();
    let _silent_too = std::net::UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "f", b"x");
    let with = |to: &str, more: &[&str]| {
        let args = ["send", "--plain", "--no-memory", path.to_str().unwrap(), to];
        [&args[..], more].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let only = format!("[::1]:{port}");
    for (more, patience) in
        [(&[][..], "30 s"), (&["--give-up", "5min"], "300 s"), (&["--give-up", "20s"], "20 s")]
    {
        let [timeout, rest @ ..] = FOR_4_S;
        let mut command = std::process::Command::new(timeout);
        command.args(rest).arg(env!("CARGO_BIN_EXE_skyhaul")).args(with(&only, more));
        let said = Said::from(command.output().unwrap());
        let text = format!(
            "[::1]:{port} has not answered yet; is the address right, and does `skyhaul receive` wait there? asking for {patience} in all (--give-up sets that)\n"
        );
        assert!(said.err.contains(&text), "{said:?}");
    }
    let two = with(&format!("twice:{port}"), &["--give-up", "5min"]);
    let two: Vec<&str> = two.iter().map(String::as_str).collect();
    let Some(said) = send_to_twice(source.path(), &FOR_4_S, &two) else { return };
    assert!(said.err.contains("asking for 30 s in all\n"), "{said:?}");
}

#[test]
fn a_receiver_at_every_address_takes_both_families() {
    let Ok(socket) = std::net::UdpSocket::bind("[::1]:0") else { return skipped("there is no ::1 here") };
    let port = socket.local_addr().unwrap().port();
    drop(socket);
    let receiver = Receiver::at(&format!("[::]:{port}"), tempfile::tempdir().unwrap(), &["--json"]);
    let source = tempfile::tempdir().unwrap();
    for (name, address) in [("four", "127.0.0.1"), ("six", "[::1]")] {
        let path = file(source.path(), name, &noise(10_000));
        let sent = run(&["send", "-q", path.to_str().unwrap(), &format!("{address}:{port}")]);
        assert_eq!(sent.code, Some(0), "{address}: {sent:?}");
    }
    assert_eq!(names(receiver.path()), ["four", "six"]);
}
