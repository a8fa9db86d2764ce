//! Boards that are stopped, or run out of space, lose no finished run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Said, run, skyhaul, until};

const LONG: [&str; 9] = [
    "scoreboard",
    "--scenarios",
    "leo-passes",
    "--with",
    "skyhaul,tcp-cubic",
    "--runs",
    "100",
    "--size",
    "2MB",
];

fn finished(out: &Path) -> usize {
    let partial = std::fs::read_to_string(out.join("results.partial.jsonl"));
    partial.map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Goes on, and compares with a board that was not interrupted.
fn goes_on(out: &Path) {
    let said = run(&[&LONG[..], &["--out", out.to_str().unwrap()]].concat());
    assert!(said.code == Some(0) && said.err.contains("of 200 runs are in"), "{said:?}");
    let dir = tempfile::tempdir().unwrap();
    let whole = run(&[&LONG[..], &["--out", dir.path().to_str().unwrap()]].concat());
    assert_eq!((whole.code, whole.out), (Some(0), said.out));
    let results = |folder: &Path| std::fs::read(folder.join("results.jsonl")).unwrap();
    assert!(results(out) == results(dir.path()));
}

#[test]
fn one_that_is_stopped_shows_what_there_is_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    let child = skyhaul(&[&LONG[..], &["--out", out.to_str().unwrap()]].concat()).spawn().unwrap();
    until("some runs", || finished(out) >= 3);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("of 200 runs are finished") && said.err.contains("the same command goes on"),
        "{said:?}"
    );
    assert!(said.out.contains("Share of what") && said.out.contains("leo-passes"), "{said:?}");
    goes_on(out);
}

#[test]
fn a_full_disk_loses_no_finished_run() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    // Room for some runs in a file, and for the scenarios. In blocks of 512 or 1024 bytes, as the shell
    // likes.
    let script = "ulimit -f 24; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_skyhaul")])
        .args(LONG)
        .arg("--out")
        .arg(out)
        .stdin(Stdio::null());
    let said: Said = shell.output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    for words in
        ["results.partial.jsonl", "File too large", "finished before are kept", "the same command goes on"]
    {
        assert!(said.err.contains(words), "{words}: {said:?}");
    }
    assert!(finished(out) >= 3);
    goes_on(out);
}
