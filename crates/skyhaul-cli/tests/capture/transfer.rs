//! `send --capture` and `receive --capture`, and what happens where the capture cannot be written.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Receiver, Said, file, noise, run, skipped, skyhaul};
use crate::tshark::{columns, is_missing, tshark};

/// Sends 300 kB with a capture at this place.
fn send(receiver: &Receiver, capture: &str) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), "data", &noise(300_000));
    run(&["send", file.to_str().unwrap(), &receiver.address, "--json", "--no-memory", "--capture", capture])
}

#[test]
fn both_ends_capture_a_transfer_with_right_checksums_and_comments() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = ["send.pcapng", "receive.pcapng"].map(|name| folder.path().join(name));
    let waiting = Receiver::start(&["--once", "--capture", receiver.to_str().unwrap()]);
    let sent = send(&waiting, sender.to_str().unwrap());
    let (received, _folder) = waiting.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    if is_missing() {
        return;
    }
    let checked = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];
    for path in [&sender, &receiver] {
        let wrong = "ip.checksum.status == 0 || udp.checksum.status == 0 || !skystp || skystp.damaged";
        assert_eq!(tshark(path, &[&checked[..], &["-Y", wrong]].concat()), "");
        assert_eq!(columns(path, "skyfiles.name == \"data\"", &["skystp.dstport"]), [["4"]]);
    }
    let outbound = "frame.packet_flags_direction == 2";
    let packets = sent.json()["forward"]["packets"].as_u64().unwrap();
    assert!(columns(&sender, outbound, &["frame.number"]).len() as u64 >= packets, "each packet is there");
    let states = columns(&sender, "frame.comment contains \"to ESTABLISHED\"", &["skystp.types"]);
    assert!(states.len() == 1 && states[0][0].contains("BGNAK"), "it stands with its cause: {states:?}");
}

#[test]
fn a_capture_replaces_no_file_and_nothing_is_sent_then() {
    let folder = tempfile::tempdir().unwrap();
    let there = file(folder.path(), "there.pcapng", b"precious");
    let nowhere = folder.path().join("none/x.pcapng");
    let receiver = Receiver::start(&[]);
    for (place, why) in [
        (there.to_str().unwrap(), "replaces nothing"),
        (nowhere.to_str().unwrap(), "No such file"),
        (folder.path().to_str().unwrap(), "Is a directory"),
    ] {
        let said = send(&receiver, place);
        assert!(said.code == Some(1) && said.err.contains(why) && said.err.contains(place), "{said:?}");
    }
    assert_eq!(fs::read(there).unwrap(), b"precious");
    assert!(fs::read_dir(receiver.path()).unwrap().next().is_none());
}

/// The message stands there once, and the transfer is complete.
fn assert_undisturbed(sent: &Said, received: &Said, why: &str) {
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert_eq!(sent.err.matches("the capture").count(), 1, "{sent:?}");
    assert!(sent.err.contains(why) && sent.err.contains("everything else goes on"), "{sent:?}");
    assert_eq!(sent.json()["payload_bytes"], 300_000);
}

#[test]
fn a_device_that_is_full_ends_the_capture_alone() {
    let receiver = Receiver::start(&["--once"]);
    let sent = send(&receiver, "/dev/full");
    assert_undisturbed(&sent, &receiver.wait().0, "No space left on device");
}

#[test]
fn a_disk_that_fills_up_ends_the_capture_at_a_whole_packet() {
    let folder = tempfile::tempdir().unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=200k", "skyhaul-test", folder.path().to_str().unwrap()];
    let mounted = Command::new("mount").args(mount).stderr(Stdio::null()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return skipped("mounting a small tmpfs needs root");
    }
    let path = folder.path().join("x.pcapng");
    let receiver = Receiver::start(&["--once"]);
    let sent = send(&receiver, path.to_str().unwrap());
    let received = receiver.wait().0;
    let kept = tempfile::tempdir().unwrap();
    let copy = kept.path().join("x.pcapng");
    fs::copy(&path, &copy).unwrap();
    Command::new("umount").arg(folder.path()).status().unwrap();
    assert_undisturbed(&sent, &received, "No space left on device");
    if !is_missing() {
        // tshark fails where a file ends within a packet.
        let packets = tshark(&copy, &[]).lines().count();
        assert!(sent.err.contains(&format!(" with {packets} packets")), "{packets}: {sent:?}");
    }
}

#[test]
fn a_pipe_that_nobody_reads_yet_is_waited_for_and_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let [pipe, data] = ["pipe", "data"].map(|name| folder.path().join(name));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::write(&data, noise(300_000)).unwrap();
    let receiver = Receiver::start(&["--once"]);
    let args = ["send", data.to_str().unwrap(), &receiver.address, "--no-memory", "--capture"];
    let mut sending = skyhaul(&[&args[..], &[pipe.to_str().unwrap()]].concat()).spawn().unwrap();
    let mut told = BufReader::new(sending.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("waits until somebody reads that pipe") {
        assert!(told.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let read = fs::read(&pipe).unwrap();
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert!(sending.wait().unwrap().success(), "{rest}");
    assert!(read.len() > 300_000 && read.starts_with(&[0x0A, 0x0D, 0x0D, 0x0A]), "{}", read.len());
}

#[test]
fn a_pipe_that_nobody_ever_reads_is_no_place_for_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut simulating = skyhaul(&["simulate", "geo", "--capture", pipe.to_str().unwrap()]).spawn().unwrap();
    let begin = Instant::now();
    while simulating.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(100));
    }
    simulating.kill().unwrap();
    let said: Said = simulating.wait_with_output().unwrap().into();
    assert!(said.code == Some(1) && said.err.contains("nobody reads that pipe"), "{said:?}");
}

#[test]
fn a_pipe_is_written_to_while_packets_come() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reading = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    let receiver = Receiver::start(&["--once"]);
    let sent = send(&receiver, pipe.to_str().unwrap());
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let read = reading.join().unwrap();
    assert!(read.len() > 300_000 && read.starts_with(&[0x0A, 0x0D, 0x0D, 0x0A]), "{}", read.len());
}
