//! Sweeps that are killed, stopped, or run out of space lose no finished run.

use std::process::{Child, Command, Stdio};

use crate::common::{Said, run, skyhaul, until};
use crate::scenario::Place;

/// Long enough not to be over at once.
const LONG: [&str; 6] = ["--replications", "15", "--set", "flows.file.workload.size=2MB", "--jobs", "1"];

fn long<'a>(place: &'a Place, out: &'a str) -> Vec<&'a str> {
    [&["simulate", place.file.as_str(), "--out", out], &LONG[..]].concat()
}

/// Starts a sweep and waits until some runs are finished.
fn under_way(place: &Place, out: &str) -> Child {
    let child = skyhaul(&long(place, out)).spawn().unwrap();
    until("some runs", || finished(place, "out") >= 3);
    child
}

fn finished(place: &Place, out: &str) -> usize {
    let partial = std::fs::read_to_string(place.path(out).join("results.partial.jsonl"));
    partial.map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Goes on, and compares with a sweep that was not interrupted.
fn goes_on(place: &Place, out: &str) {
    let said = run(&long(place, out));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("of 60 runs are in"), "{said:?}");
    let whole = run(&long(place, &place.at("whole")));
    assert_eq!((whole.code, whole.out), (Some(0), said.out));
    assert_eq!(place.read("out/results.jsonl"), place.read("whole/results.jsonl"));
    assert!(!place.path("out/results.partial.jsonl").exists());
}

#[test]
fn a_killed_sweep_goes_on() {
    let place = Place::new();
    let out = place.at("out");
    let mut child = under_way(&place, &out);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((3..60).contains(&finished(&place, "out")), "it was killed too late");
    goes_on(&place, &out);
}

#[test]
fn a_stopped_sweep_tells_what_it_has_and_goes_on() {
    let place = Place::new();
    let out = place.at("out");
    let child = under_way(&place, &out);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("of 60 runs are finished") && said.err.contains("the same command goes on"),
        "{said:?}"
    );
    assert!(said.out.contains("goodput_bps"), "{said:?}");
    let report = run(&["report", &out]);
    assert!(report.code == Some(0) && report.err.contains("of 60 runs are missing"), "{report:?}");
    goes_on(&place, &out);
}

#[test]
fn a_full_disk_loses_no_finished_run() {
    let place = Place::new();
    let out = place.at("out");
    // Room for some runs in a file, then writing fails. In blocks of 512 or 1024 bytes, as the shell likes.
    let script = "ulimit -f 24; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_skyhaul")]).args(long(&place, &out)).stdin(Stdio::null());
    let said: Said = shell.output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    for words in
        ["results.partial.jsonl", "File too large", "finished before are kept", "the same command goes on"]
    {
        assert!(said.err.contains(words), "{words}: {said:?}");
    }
    assert!(!place.path("out/results.jsonl").exists() && finished(&place, "out") >= 3);
    goes_on(&place, &out);
}
