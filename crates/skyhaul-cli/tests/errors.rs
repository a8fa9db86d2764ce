//! Errors of `send` and `receive` for programs: each has its code, in the object on standard output.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::net::UdpSocket;

use common::{Receiver, Said, file, free_port, noise, run, skyhaul, until};
use serde_json::Value;

/// The error of a command that failed: its message stands on standard error, too.
fn error(args: &[&str]) -> Value {
    let said = run(&[args, &["--json"]].concat());
    checked(&said)
}

fn checked(said: &Said) -> Value {
    let error = said.json()["error"].clone();
    assert!(error.is_object(), "{said:?}");
    assert_eq!(error["exit_code"].as_i64(), said.code.map(i64::from), "{said:?}");
    assert!(said.err.contains(error["message"].as_str().unwrap()), "{said:?}");
    assert!(!error["advice"].as_str().unwrap().is_empty(), "{said:?}");
    error
}

#[test]
fn what_fails_before_a_transfer_has_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "f", b"x");
    let (path, here) = (path.to_str().unwrap(), folder.path().to_str().unwrap());
    let nobody = format!("127.0.0.1:{}", free_port());
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["send", path], "usage"),
        (&["send", path, &nobody, "--rate", "fast"], "usage"),
        (&["send", path, "127.0.0.1"], "usage"),
        (&["send", path, path, &nobody], "usage"),
        (&["receive"], "usage"),
        (&["send", "/no/such/file", &nobody], "source-missing"),
        (&["send", here, &nobody], "source-not-a-file"),
        (&["send", path, "no-such-host.invalid:4700"], "address-unknown"),
        (&["send", path, &nobody], "peer-absent"),
        (&["send", path, &taken, "--give-up", "1s"], "no-answer"),
        (&["send", path, &nobody, "--capture", path], "capture-failed"),
        (&["receive", "--dir", "/no/such/dir"], "destination-unusable"),
        (&["receive", "--dir", "/proc"], "destination-unusable"),
        (&["receive", "--dir", here, "--listen", &taken], "cannot-listen"),
        (
            &["send", path, &nobody, "--transport", "tcp", "--tun", "none9", "--address", "10.9.9.9"],
            "device-failed",
        ),
    ];
    for (args, code) in cases {
        assert_eq!(error(args)["code"], *code, "{args:?}");
    }
    let stdin = std::fs::File::open(folder.path()).unwrap();
    let said = skyhaul(&["send", "--json", "-", &nobody]).stdin(stdin).output().unwrap().into();
    assert_eq!(checked(&said)["code"], "stdin-failed");
}

#[test]
fn what_nobody_answered_was_held_back_by_the_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "f", b"x");
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (nobody, taken) = (format!("127.0.0.1:{}", free_port()), taken.local_addr().unwrap().to_string());
    for address in [&nobody, &taken] {
        let said =
            run(&["send", path.to_str().unwrap(), address, "--json", "--no-memory", "--give-up", "1s"]);
        let by = said.json()["limited_by"].clone();
        assert!(by["opening"].as_f64() > Some(0.0), "{said:?}");
        for other in ["receiver_disk", "confirmation", "path_rate", "outage"] {
            assert_eq!(by[other], 0.0, "{said:?}");
        }
    }
}

#[test]
fn a_file_that_is_refused_gives_its_code_to_both_ends() {
    for (receiver, code) in [(&["--once"][..], "exists"), (&["--once", "--max-size", "1kB"], "too-large")] {
        let inbox = tempfile::tempdir().unwrap();
        if code == "exists" {
            file(inbox.path(), "data", b"old");
        }
        let receiver = Receiver::start_in(inbox, receiver);
        let source = tempfile::tempdir().unwrap();
        let path = file(source.path(), "data", &noise(2000));
        let sent = run(&["send", path.to_str().unwrap(), &receiver.address, "--json"]);
        let (received, _inbox) = receiver.wait();
        for said in [sent, received] {
            assert_eq!(checked(&said)["code"], code);
            let json = said.json();
            assert_eq!(json["files"][0]["error_code"], code, "{json}");
            assert!(json["files"][0]["error"].is_string() && json["files"][0]["path"].is_null(), "{json}");
        }
    }
}

#[test]
fn an_interrupted_command_and_one_whose_peer_went_say_so() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let path = file(source.path(), "cut", &noise(20_000_000));
    let args = ["send", path.to_str().unwrap(), &receiver.address, "--rate", "8M", "--json"];
    let sender = skyhaul(&args).spawn().unwrap();
    until("a file under way", || receiver.holds_a_file());
    std::process::Command::new("kill").args(["-INT", &sender.id().to_string()]).status().unwrap();
    let sent: Said = sender.wait_with_output().unwrap().into();
    assert_eq!(checked(&sent)["code"], "interrupted");
    assert_eq!(sent.json()["files"][0]["error_code"], "unfinished");
    until("the end of its session", || !receiver.holds_a_file());
    std::process::Command::new("kill").args(["-INT", &receiver.child.id().to_string()]).status().unwrap();
    let (received, _inbox) = receiver.wait();
    let said = received.err.clone();
    assert!(
        said.contains("failed: the peer aborted the connection; the sender must send again\n"),
        "{received:?}"
    );
    let (first, last) = received.out.trim_end().split_once('\n').unwrap();
    for (out, code) in [(first, "peer-aborted"), (last, "interrupted")] {
        let received = Said { code: Some(1), out: out.into(), err: said.clone() };
        assert_eq!(checked(&received)["code"], code);
    }
    assert_eq!(received.code, Some(1), "{received:?}");
}

/// A moment as JSON has it, like `2026-11-23T05:32:25.123Z`: of equal lengths, text compares as time does.
fn moment(value: &Value) -> &str {
    let text = value.as_str().unwrap_or_else(|| panic!("no moment: {value}"));
    assert!(text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T', "{text}");
    text
}

/// Sixty-five thousand refused names of a peer made an object of 19 MB.
#[test]
fn an_object_of_a_receiver_leaves_out_failures_behind_the_tenth() {
    for (switches, listed, left_out) in
        [(&["--once"][..], 11, Some(240)), (&["--once", "--verbose"], 251, None)]
    {
        let receiver = Receiver::start(switches);
        let source = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..251).map(|i| file(source.path(), &format!("f{i}"), b"content")).collect();
        for path in &paths[1..] {
            file(receiver.folder.path(), path.file_name().unwrap().to_str().unwrap(), b"there");
        }
        let paths = paths.iter().map(|path| path.to_str().unwrap());
        let args: Vec<&str> =
            ["send", "--json"].into_iter().chain(paths).chain([&receiver.address[..]]).collect();
        let sent = run(&args).json();
        assert_eq!(sent["files"].as_array().unwrap().len(), 251, "{sent}");
        let received = receiver.wait().0.json();
        assert_eq!(received["files"].as_array().unwrap().len(), listed, "{received}");
        assert_eq!(received["files"][0]["digest"], sent["files"][0]["digest"], "{received}");
        assert_eq!(received["files_left_out"].as_u64(), left_out, "{received}");
    }
}

#[test]
fn a_receiver_tells_peer_time_and_place_of_each_session_and_file() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let paths = ["a", "b c"].map(|name| file(source.path(), name, &noise(3000)));
    let [a, b] = paths.each_ref().map(|path| path.to_str().unwrap());
    let sent = run(&["send", a, b, &receiver.address, "--json"]);
    let address = receiver.address.clone();
    let (received, inbox) = receiver.wait();
    let (sent, received) = (sent.json(), received.json());
    assert_eq!(sent["peer"], address.as_str());
    assert!(received["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{received}");
    let inbox = inbox.path().canonicalize().unwrap();
    assert_eq!(received["dir"], inbox.to_str().unwrap());
    assert!(sent["dir"].is_null() && sent["error"].is_null() && received["error"].is_null());
    for json in [&sent, &received] {
        let (start, end) = (moment(&json["started_at"]), moment(&json["ended_at"]));
        assert!(start <= end, "{json}");
        for file in json["files"].as_array().unwrap() {
            let settled = moment(&file["settled_at"]);
            assert!(start <= settled && settled <= end, "{json}");
        }
    }
    for (i, name) in ["a", "b c"].into_iter().enumerate() {
        let stored = received["files"][i]["path"].as_str().unwrap();
        assert_eq!(stored, inbox.join(name).to_str().unwrap());
        assert_eq!(std::fs::read(stored).unwrap(), noise(3000));
    }
}
