//! `send` and `receive` as they look: on a terminal, in a pipe, and when nothing but errors is wanted.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "screen/terminal.rs"]
mod terminal;

use std::net::UdpSocket;
use std::path::Path;

use common::{Kept, Receiver, Said, file, free_port, noise, run, skipped, skyhaul, until};
use terminal::{Screen, on_a_terminal};

/// So many small files in a folder.
fn many(folder: &Path, count: usize) -> Vec<String> {
    (0..count).map(|i| file(folder, &format!("f{i}"), &noise(100)).to_str().unwrap().to_string()).collect()
}

fn send_all(files: &[String], address: &str, more: &[&str]) -> Said {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(&[&["send"], more, &files, &[address]].concat())
}

/// Lines of progress that a terminal shows at some moment.
fn progress_lines(screen: &Screen) -> usize {
    screen.lines().filter(|line| line.contains(" % ")).count()
}

/// A receiver on a terminal, stopped when `during` is over; what the terminal showed.
fn receiver_on_a_terminal(address: &str, folder: &Path, during: impl FnOnce()) -> Option<String> {
    let dir = folder.to_str().unwrap();
    let shown = on_a_terminal(&["receive", "--dir", dir, "--listen", address])?;
    until("a receiver", || UdpSocket::bind(address).is_err());
    during();
    Some(shown.interrupt())
}

#[test]
fn two_transfers_at_once_share_one_line_that_sums_up() {
    let (inbox, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let address = format!("127.0.0.1:{}", free_port());
    let paths = ["a.bin", "b.bin"].map(|name| file(source.path(), name, &noise(2_000_000)));
    let shown = receiver_on_a_terminal(&address, inbox.path(), || {
        let send = |path: &Path| {
            let args = ["send", "-q", "--rate", "8M", path.to_str().unwrap(), &address];
            Kept::new(skyhaul(&args).spawn().unwrap())
        };
        let both = paths.each_ref().map(|path| send(path));
        for sender in both {
            let said: Said = sender.wait_with_output().into();
            assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""), "{said:?}");
        }
    });
    let Some(shown) = shown else { return skipped("there is no `script` here") };
    let mut screen = Screen::default();
    let mut summed = false;
    screen.show(&shown, |screen| {
        assert!(progress_lines(screen) <= 1, "{screen:?}");
        summed |= screen
            .lines()
            .any(|line| line.contains("of 4.0 MB") && line.contains("  2 transfers, file 2 of 2"));
    });
    assert!(summed, "{shown:?}");
    assert_eq!(progress_lines(&screen), 0, "{screen:?}");
    for name in ["a.bin  verified", "b.bin  verified"] {
        assert!(screen.lines().any(|line| line.contains(name)), "{name}: {screen:?}");
    }
    let width = screen.lines().map(|line| line.chars().count()).max();
    assert!(width <= Some(80), "{screen:?}");
}

#[test]
fn the_line_of_a_sender_names_file_count_peer_rate_and_time_left() {
    let receiver = Receiver::start(&["--once"]);
    let source = tempfile::tempdir().unwrap();
    let files = [("small", 10), ("report.pdf", 2_000_000), ("more", 1_000_000)];
    let paths =
        files.map(|(name, bytes)| file(source.path(), name, &noise(bytes)).to_str().unwrap().to_string());
    let args =
        [&["send", "--rate", "8M"], &paths.each_ref().map(String::as_str)[..], &[&receiver.address]].concat();
    let Some(shown) = on_a_terminal(&args) else { return skipped("there is no `script` here") };
    let shown = shown.wait();
    let wanted = [" % of 3.0 MB, ", " Mbit/s, ", " s left  ", "report.pdf, 2 of 3"];
    let mut lines = shown.split(['\r', '\n']);
    assert!(lines.any(|line| wanted.iter().all(|part| line.contains(part))), "{shown:?}");
    let mut screen = Screen::default();
    screen.show(&shown, |screen| assert!(progress_lines(screen) <= 1, "{screen:?}"));
    assert!(screen.lines().any(|line| line.contains("3, verified: they are what was sent")), "{screen:?}");
}

#[test]
fn three_hundred_files_take_few_lines_in_a_pipe_unless_all_are_asked_for() {
    let source = tempfile::tempdir().unwrap();
    let files = many(source.path(), 300);
    for (more, most) in [(&[][..], 13), (&["-v"], 700)] {
        let receiver = Receiver::for_people(&[&["--once"], more].concat());
        let sent = send_all(&files, &receiver.address, more);
        let (received, _inbox) = receiver.wait();
        for said in [&sent, &received] {
            // The sentence behind `held back by` has up to five lines, as this machine was held up meanwhile.
            let goes_on = |line: &&str| line.starts_with(&" ".repeat(20));
            let (further, lines): (Vec<&str>, Vec<&str>) =
                said.out.lines().chain(said.err.lines()).partition(goes_on);
            let lines = lines.len();
            assert!(said.code == Some(0) && lines <= most && further.len() <= 4, "{lines}: {said:?}");
            assert_eq!(said.out.contains("BLAKE3"), !more.is_empty(), "{said:?}");
        }
    }
}

#[test]
fn of_many_files_that_fail_a_bounded_number_is_named_and_the_reason_stands_once_at_the_end() {
    let (source, inbox) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = many(source.path(), 300);
    many(inbox.path(), 290);
    let receiver = Receiver::start_in(inbox, &["--once"]);
    let sent = send_all(&files, &receiver.address, &[]);
    receiver.wait();
    assert_eq!(sent.code, Some(1), "{sent:?}");
    assert!(sent.out.lines().count() <= 26 && sent.out.contains("280 more FAILED"), "{sent:?}");
    assert!(
        sent.err.contains("290 of 300 files failed. 'f0'") && sent.err.contains("exists already"),
        "{sent:?}"
    );
    assert_eq!(sent.err.lines().count(), 2, "with the warning that nothing is protected: {sent:?}");
}

#[test]
fn those_who_want_quiet_are_told_errors_alone() {
    let source = tempfile::tempdir().unwrap();
    let files = many(source.path(), 2);
    let inbox = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let receive = ["receive", "-q", "--dir", inbox.path().to_str().unwrap(), "--listen", &address];
    let receiver = Kept::new(skyhaul(&receive).spawn().unwrap());
    until("a receiver", || UdpSocket::bind(&address).is_err());
    let sent = send_all(&files, &address, &["--quiet"]);
    assert_eq!((sent.code, sent.out.as_str(), sent.err.as_str()), (Some(0), "", ""));
    let again = send_all(&files, &address, &["--quiet"]);
    assert_eq!((again.code, again.out.as_str()), (Some(1), ""));
    assert!(again.err.starts_with("skyhaul: ") && again.err.contains("exists already"), "{again:?}");
    let json = send_all(&files, &address, &["--quiet", "--json"]);
    assert_eq!(json.json()["error"]["code"], "exists", "{json:?}");
    std::process::Command::new("kill").args(["-INT", &receiver.id().to_string()]).status().unwrap();
    let received: Said = receiver.wait_with_output().into();
    assert_eq!((received.code, received.out.as_str()), (Some(0), ""));
    let errors: Vec<&str> = received.err.lines().collect();
    assert!(
        errors.len() == 2 && errors.iter().all(|line| line.starts_with("skyhaul: not every file from")),
        "{received:?}"
    );
}

#[test]
fn whoever_meets_nobody_sees_the_reason_alone() {
    let source = tempfile::tempdir().unwrap();
    let said = send_all(&many(source.path(), 3), &format!("127.0.0.1:{}", free_port()), &[]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
    let [warning, reason] = said.err.lines().collect::<Vec<_>>()[..] else { panic!("{said:?}") };
    assert!(
        warning.starts_with("WARNING: --plain: NOT protected") && reason.starts_with("skyhaul: sending to")
    );
}
