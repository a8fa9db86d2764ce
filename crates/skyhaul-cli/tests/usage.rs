//! Wrong usage and bad surroundings: a clear message, the right exit code, no panic.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]

mod common;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use common::{Receiver, file, free_port, run, skyhaul};

/// (arguments, exit code, what the message must contain)
fn check(args: &[&str], code: i32, words: &[&str]) {
    let said = run(args);
    assert_eq!(said.code, Some(code), "{args:?}: {said:?}");
    for word in words {
        assert!(said.err.contains(word), "{args:?} should mention '{word}': {}", said.err);
    }
    assert!(!said.err.contains("panicked"), "{said:?}");
}

/// A kilobyte that somebody pasted at the wrong place does not hide what was wrong with it.
#[test]
fn a_long_wrong_value_is_named_by_its_ends() {
    let long = "x".repeat(5_000);
    for args in [&["send", "f", "127.0.0.1:9", "--rate", &long][..], &["demo", "--link", &long], &[&long]] {
        let said = run(args);
        assert!(said.code == Some(2) && said.err.contains("..."), "{said:?}");
        assert!(said.err.len() < 1_000, "{}", said.err.len());
    }
    check(&["demo", "--rate", "99999999999999999999999k"], 2, &["too large"]);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    check(&["demo", "--link", "moon"], 2, &["moon", "geo-noisy"]);
    check(&["demo", "--rate", "fast"], 2, &["fast", "10M"]);
    check(&["demo", "--rate", "0"], 2, &["at least 1 bit/s"]);
    check(&["demo", "--rate", "8"], 2, &["'8' has no unit", "8M"]);
    check(&["demo", "--size", "-5"], 2, &["none is negative"]);
    check(&["send", "file", "127.0.0.1:9", "--rate", "-8M"], 2, &["'-8'", "none is negative"]);
    check(&["emulate", "--", "true"], 2, &["skyhaul emulate geo", "--rate 10M --delay 275ms"]);
    check(&["demo", "--size", "1MB", "--file", "x"], 2, &["--size", "--file"]);
    check(&["demo", "--size", "9GiB"], 2, &["4GiB"]);
    check(&["demo", "--probing", "maybe"], 2, &["maybe", "--probing", "on, off"]);
    check(
        &["demo", "--controller", "tahoe"],
        2,
        &["no such controller", "model, p-xcp, xcp", "of TCP", "cubic"],
    );
    // What is wrong is told before a device is asked for.
    check(
        &["send", "Cargo.toml", "127.0.0.1:9", "--transport", "tcp", "--controller", "p-xcp"],
        2,
        &["--controller p-xcp is STP's", "cubic"],
    );
    check(&["simulate", "geo", "--capture", "-"], 2, &["--capture", "standard output", "mkfifo"]);
    check(&["demo", "--controller", "cubic"], 2, &["--controller cubic is for --transport tcp", "p-xcp"]);
    check(&["demo", "--controller", "p-xcp", "--rate", "10M"], 2, &["--rate", "--controller", "one of them"]);
    check(&["send", "--probing", "file", "127.0.0.1:9"], 2, &["--probing", "on, off"]);
    check(&["receive", "--dir", ".", "--probing", "on"], 2, &["--probing"]);
    check(&["demo", "--unknown"], 2, &["--unknown"]);
    check(
        &["send", "--memory", "paths", "--no-memory", "file", "127.0.0.1:9"],
        2,
        &["--memory", "--no-memory"],
    );
    check(&["send"], 2, &["<FILE>...", "<NAME>"]);
    check(&["send", "-q", "-v", "file", "127.0.0.1:9"], 2, &["--quiet", "--verbose"]);
    check(&["receive"], 2, &["--dir"]);
    check(&["receive", "--dir", ".", "--listen", "here"], 2, &["here", "127.0.0.1:4700"]);
    check(&["receive", "--dir", ".", "--listen", "127.0.0.1"], 2, &["ADDRESS:PORT"]);
    check(&["receive", "--dir", ".", "--mtu", "12"], 2, &["296"]);
    check(&["send", "Cargo.toml", "127.0.0.1:9", "--mtu", "90"], 2, &["--mtu: '90' is no", "296"]);
    check(&["demo", "--mtu", "90"], 2, &["--mtu: '90' is no largest packet: it has 296 to 65535"]);
    let least = "it has 296 to 65535 bytes, by --transport scps-tp 90 at least";
    for (transport, bytes) in [("scps-tp", "80"), ("scps-tp", "60"), ("tcp", "90")] {
        let own = ["--transport", transport, "--mtu", bytes, "--tun", "sky0"];
        let words = format!("'{bytes}' is no largest packet: {least}");
        check(&[&["send", "Cargo.toml", "127.0.0.1:9"], &own[..]].concat(), 2, &[&words]);
    }
    // SCPS-TP takes it: what is missing is told.
    check(
        &["send", "Cargo.toml", "127.0.0.1:9", "--transport", "scps-tp", "--mtu", "90", "--tun", "sky0"],
        2,
        &["needs --address"],
    );
    for too_short in ["0s", "1ns", "999ms"] {
        check(&["send", "Cargo.toml", "127.0.0.1:9", "--give-up", too_short], 2, &["the least is 1s"]);
        check(&["receive", "--dir", ".", "--give-up", too_short], 2, &["the least is 1s"]);
    }
    check(
        &["receive", "--dir", ".", "--mtu", "12B"],
        2,
        &["'12B' is no largest packet: it has 296 to 65535"],
    );
    check(&["teleport"], 2, &["teleport"]);
}

#[test]
fn addresses_without_sense_are_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "f", b"x");
    let path = path.to_str().unwrap();
    check(&["send", path, "127.0.0.1"], 2, &["no port"]);
    check(&["send", path, "127.0.0.1:99999"], 2, &["99999"]);
    check(&["send", path, "127.0.0.1:0"], 2, &["port 0"]);
    check(&["send", path, "::1:4700"], 2, &["[::1]:4700"]);
    check(&["send", "127.0.0.1:4700", path], 2, &["'127.0.0.1:4700'", "last"]);
    check(&["send", path, ":4700"], 2, &[":4700"]);
    check(&["send", path, "2001:db8::7"], 2, &["no port", "[2001:db8::7]:4700"]);
    check(&["send", path, "::1:2:3:4:5:6:7:4700"], 2, &["[::1:2:3:4:5:6:7]:4700"]);
}

#[test]
fn who_names_no_file_or_no_address_is_told_which_is_missing() {
    let no_address = ["the receiver is missing", "`skyhaul send FILE ship`"];
    check(&["send", "f1k"], 2, &[&["'f1k' stands alone"], &no_address[..]].concat());
    check(&["send", "--rate", "8M", "--", "-f"], 2, &[&["'-f'"], &no_address[..]].concat());
    let no_file = ["no file to send", "`skyhaul send --plain FILE 192.0.2.9:4711`"];
    check(&["send", "192.0.2.9:4711", "-q"], 2, &no_file);
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| file(folder.path(), name, b"x").to_str().unwrap().to_string());
    check(&["send", &a, &b], 2, &[&[b.as_str(), "is a file"], &no_address[..]].concat());
    let said = run(&["send", "f1k", "--json"]);
    assert_eq!((said.code, &said.json()["error"]["code"]), (Some(2), &"usage".into()), "{said:?}");
    assert!(said.json()["error"]["message"].as_str().unwrap().starts_with(no_address[0]), "{said:?}");
}

#[test]
fn files_that_cannot_be_sent_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    check(&["send", "/no/such/file", "127.0.0.1:9"], 1, &["/no/such/file", "No such file"]);
    check(&["send", here, "127.0.0.1:9"], 1, &[here, "directory", "pack it: tar c"]);
    check(&["send", "/dev/null", "127.0.0.1:9"], 1, &["/dev/null"]);
    check(&["demo", "--file", "/no/such/file"], 1, &["/no/such/file"]);
    let fifo = folder.path().join("fifo");
    std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    check(&["send", fifo.to_str().unwrap(), "127.0.0.1:9"], 1, &["fifo"]);
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    std::fs::create_dir(&a).unwrap();
    std::fs::create_dir(&b).unwrap();
    let (a, b) = (file(&a, "same", b"1"), file(&b, "same", b"2"));
    check(&["send", a.to_str().unwrap(), b.to_str().unwrap(), "127.0.0.1:9"], 2, &["same"]);
}

#[test]
fn a_receiver_needs_a_folder_and_a_free_port() {
    check(&["receive", "--dir", "/no/such/dir"], 1, &["/no/such/dir", "make it first"]);
    check(&["receive", "--dir", "/dev/null"], 1, &["/dev/null"]);
    let elsewhere = ["receive", "--dir", "/tmp", "--listen", "192.0.2.7:4700"];
    check(&elsewhere, 1, &["192.0.2.7 is no address of this machine", "--listen '[::]:4700'"]);
    check(&["receive", "--dir", "/proc"], 1, &["cannot write to the destination '/proc'"]);
    let mut receiver = Receiver::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let address = receiver.address.clone();
    check(&["receive", "--dir", dir.path().to_str().unwrap(), "--listen", &address], 1, &["port", &address]);
    receiver.child.kill().unwrap();
    receiver.child.wait().unwrap();
}

#[test]
fn a_folder_with_somebodys_own_page_is_refused_before_anything_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let page = file(folder.path(), "report.html", b"<html>my thesis</html>");
    let out = folder.path().to_str().unwrap();
    for command in [
        &["reproduce", "stp"][..],
        &["race", "geo", "--simulated"],
        &["scoreboard", "--simulated"],
        &["map"],
        &["simulate", "geo", "--plot", "goodput_bps", "--set", r#"sweep."links.geo.forward.loss"=[0, 0.01]"#],
    ] {
        let begun = Instant::now();
        let args = [command, &["--out", out]].concat();
        check(&args, 1, &["report.html is there, and no report of skyhaul"]);
        assert!(begun.elapsed() < Duration::from_secs(20), "{args:?}");
    }
    assert_eq!(std::fs::read(page).unwrap(), b"<html>my thesis</html>");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was begun");
}

#[test]
fn nobody_there_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "f", b"x");
    let start = Instant::now();
    let address = format!("127.0.0.1:{}", free_port());
    let advice = format!("skyhaul receive --plain --dir DIR --listen {address}");
    check(&["send", path.to_str().unwrap(), &address], 1, &[&address, "nothing receives", &advice]);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_silent_peer_is_given_up() {
    let mute = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = mute.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "f", b"x");
    check(
        &["send", path.to_str().unwrap(), &address, "--give-up", "2s"],
        1,
        &["did not answer", "firewalls"],
    );
}

#[test]
fn a_transfer_that_failed_was_never_confirmed_and_has_no_speed() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "f", b"x");
    let address = format!("127.0.0.1:{}", free_port());
    let said = run(&["send", path.to_str().unwrap(), &address, "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let json = said.json();
    assert!(json["confirmed_s"].is_null() && json["goodput_bps"].is_null(), "{json}");
    let said = run(&["send", path.to_str().unwrap(), &address]);
    assert!(!said.out.contains("confirmed") && !said.out.contains("speed"), "{said:?}");
}

#[test]
fn no_control_characters_outside_of_a_terminal() {
    let said = run(&["demo", "--size", "300kB", "--rate", "10M"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let text = said.out + &said.err;
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn help_begins_with_what_most_people_need() {
    for (command, first, later) in [
        ("send", ["<FILE>...", "--rate", "--quiet", "--json"], "--probing"),
        ("receive", ["--dir", "--listen", "--once", "--json"], "--profile"),
        ("emulate", ["--rate", "--delay", "--run", "--duration"], "--device"),
        ("race", ["--with", "--runs", "--simulated", "--out"], "--time-limit"),
        ("simulate", ["--out", "--set", "--replications", "--plot"], "--shard"),
    ] {
        let said = run(&[command, "-h"]);
        let at =
            |text: &str| said.out.find(text).unwrap_or_else(|| panic!("{command}: {text}: {}", said.out));
        let (heading, options) = (at("\nMore options:"), at("\nOptions:"));
        assert!(options < heading && first.iter().all(|text| at(text) < heading), "{}", said.out);
        assert!(said.out.rfind(later).is_some_and(|place| place > heading), "{later}: {}", said.out);
        assert!(!said.out.contains("[FILE]..."), "{}", said.out);
    }
}

#[test]
fn help_has_no_marks_of_its_source() {
    for command in ["send", "receive", "demo", "simulate", "merge", "report", "race"] {
        let said = run(&[command, "--help"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!said.out.contains("`["), "{}", said.out);
    }
}

#[test]
fn a_receiver_without_protection_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let listen = format!("0.0.0.0:{}", free_port());
    let mut child =
        skyhaul(&["receive", "--dir", dir.path().to_str().unwrap(), "--listen", &listen]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    let said: common::Said = child.wait_with_output().unwrap().into();
    assert!(said.err.contains("WARNING: --plain: NOT protected: anyone can send files here"), "{said:?}");
}

#[test]
fn a_closed_standard_output_is_no_panic() {
    let mut child = skyhaul(&["demo", "--size", "1B", "--json"]).spawn().unwrap();
    drop(child.stdout.take());
    let said: common::Said = child.wait_with_output().unwrap().into();
    assert!(!said.err.contains("panicked"), "{said:?}");
    assert_eq!(said.code, Some(0), "{said:?}");
}

#[test]
fn a_full_standard_output_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let said: common::Said =
        skyhaul(&["demo", "--size", "1B", "--json"]).stdout(full).output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("standard output"), "{said:?}");
}

#[test]
fn a_version_that_cannot_be_printed_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let said: common::Said = skyhaul(&["--version"]).stdout(full).output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
}

#[test]
fn manual_pages_and_completions_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man");
    let said = run(&["man", "--dir", dir.to_str().unwrap()]);
    let written = common::names(&dir).len();
    let told = format!("{written} manual pages are in '{0}' now: man -l {0}/skyhaul.1\n", dir.display());
    assert_eq!((said.code, said.err.as_str()), (Some(0), told.as_str()), "{said:?}");
    for command in ["send", "receive", "emulate", "simulate", "race", "demo"] {
        let page = folder.path().join(format!("man/skyhaul-{command}.1"));
        let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page:?}: {error}"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains("\\fB\\-\\-help\\fR"), "{page}");
    }
    let page = std::fs::read_to_string(folder.path().join("man/skyhaul-send.1")).unwrap();
    assert!(page.contains("\nskyhaul send [OPTIONS] <FILE>... <NAME>\n.SH DESCRIPTION"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        let said = run(&["completions", shell]);
        assert!(said.out.contains("receive") && said.out.contains("listen"), "{shell}: {said:?}");
    }
    check(&["completions", "cmd"], 2, &["bash", "fish"]);
    let blocked = file(folder.path(), "f", b"x");
    check(&["man", "--dir", blocked.to_str().unwrap()], 1, &["cannot write manual pages", "f"]);
}

#[test]
fn shells_can_read_their_completions() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let said = run(&["completions", shell]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let script = file(folder.path(), shell, said.out.as_bytes());
        let Ok(output) = std::process::Command::new(shell).arg(check).arg(&script).output() else {
            common::skipped(&format!("completions for {shell} are read by nobody: it is not installed"));
            continue;
        };
        let read: common::Said = output.into();
        assert!(read.code == Some(0) && read.err.is_empty(), "{shell}: {read:?}");
    }
}
