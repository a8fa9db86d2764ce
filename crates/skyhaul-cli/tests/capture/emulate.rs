//! `emulate --capture`: what crosses emulated links, whoever sent it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Said, run, skipped};
use crate::tshark::{columns, is_missing, tshark};

/// Output of `emulate` with a command at `near`, unless it cannot be here.
fn emulate(capture: &Path, link: &[&str], command: &str) -> Option<Said> {
    let own = ["emulate", "--quiet", "--capture", capture.to_str().unwrap(), "--duration", "20s"];
    let said = run(&[&own[..], link, &["--", "sh", "-c", command]].concat());
    let reasons = ["need root, or user namespaces", "/dev/net/tun", "command `ip`"];
    if reasons.iter().any(|reason| said.err.contains(reason)) {
        skipped("network namespaces with TUN devices need root or user namespaces, /dev/net/tun and `ip`");
        assert!(!capture.exists(), "what did not begin left a capture");
        return None;
    }
    Some(said)
}

#[test]
fn foreign_packets_are_captured_with_drops_and_icmp() {
    if is_missing() {
        return;
    }
    let curl = Command::new("curl").arg("--version").stdout(Stdio::null()).status();
    if curl.is_err() {
        return skipped("there is no `curl` here");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    // Nobody answers at this port: a SYN goes, a RST comes.
    let command = "curl -s -m 5 http://gateway:9/; exit 0";
    let Some(said) = emulate(&path, &["--rate", "10M", "--delay", "20ms"], command) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    let names = columns(&path, "ip && tcp.flags.syn == 1 && tcp.dstport == 9", &["frame.interface_name"]);
    assert_eq!(names, [["link at near"], ["link at far"]]);
    let times = columns(&path, "ip && tcp.flags.syn == 1 && tcp.dstport == 9", &["frame.time_epoch"]);
    let seconds: Vec<f64> = times.iter().map(|time| time[0].parse().unwrap()).collect();
    assert!((0.0195..0.1).contains(&(seconds[1] - seconds[0])), "the delay: {seconds:?}");
    assert_eq!(columns(&path, "ip && tcp.flags.reset == 1", &["ip.src"]).len(), 2);

    let path = folder.path().join("lost.pcapng");
    let said = emulate(&path, &["--rate", "10M", "--loss", "1"], "curl -s -m 1 http://gateway:9/; exit 0");
    assert_eq!(said.unwrap().code, Some(0));
    let lost = columns(&path, "tcp.dstport == 9", &["frame.interface_name", "frame.comment"]);
    assert!(!lost.is_empty(), "the SYN went in");
    assert!(
        lost.iter().all(|row| row[0] == "link at near" && row[1].starts_with("dropped: random loss")),
        "{lost:?}"
    );
}

#[test]
fn a_packet_that_is_too_large_and_the_message_to_its_sender_are_there() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    let big = folder.path().join("big");
    std::fs::write(&big, vec![7; 1400]).unwrap();
    let skyhaul = env!("CARGO_BIN_EXE_skyhaul");
    // The first packets of a transfer are of 1280 octets.
    let command =
        format!("{skyhaul} send --plain --no-memory --give-up 1s {} gateway:4700; exit 0", big.display());
    let Some(said) = emulate(&path, &["--rate", "10M", "--mtu", "1000"], &command) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    let large =
        columns(&path, "skystp && frame.comment contains \"larger than the link takes\"", &["frame.len"]);
    assert!(!large.is_empty() && large.iter().all(|row| row[0].parse::<u32>().unwrap() > 1000), "{large:?}");
    let told = columns(&path, "icmp.type == 3 && icmp.code == 4", &["icmp.mtu", "frame.interface_name"]);
    assert!(!told.is_empty() && told.iter().all(|row| row == &["1000", "link at near"]), "{told:?}");
    assert_eq!(tshark(&path, &["-Y", "_ws.malformed"]), "");
}
