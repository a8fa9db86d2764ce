//! Wrong usage and bad files: a message that says what, where and what to do.

use crate::common::{file, run};
use crate::scenario::Place;

fn check(args: &[&str], code: i32, words: &[&str]) {
    let said = run(args);
    assert_eq!(said.code, Some(code), "{args:?}: {said:?}");
    for word in words {
        assert!(said.err.contains(word), "{args:?} should mention '{word}': {}", said.err);
    }
    assert!(said.out.is_empty() && !said.err.contains("panicked"), "{said:?}");
}

#[test]
fn wrong_arguments() {
    let place = Place::new();
    let simulate = |extra: &[&str], words: &[&str]| {
        check(&[&["simulate", place.file.as_str()], extra].concat(), 2, words);
    };
    check(&["simulate"], 2, &["FILE"]);
    simulate(&["--shard", "3/2", "--out", "x"], &["--shard", "1/"]);
    simulate(&["--shard", "1/2"], &["--out"]);
    simulate(&["--plot", "goodput_bps"], &["--out"]);
    simulate(&["--jobs", "0"], &["--jobs"]);
    simulate(&["--json", "--csv"], &["--csv"]);
    simulate(&["--set", "rate"], &["links.space.forward.rate=2Mbit/s"]);
    simulate(&["--set", "links.space.forward.rat=1Mbit/s"], &["--set links.space.forward.rat", "rate"]);
    simulate(&["--set", "links.space.forward.rate=1"], &["--set links.space.forward.rate=1"]);
    simulate(
        &["--set", r#"links.space.forward.rate="1 x""#],
        &[r#": --set links.space.forward.rate="1 x": links.space.forward.rate: found "1 x"; allowed"#],
    );
    simulate(&["--replications", "0"], &["replications", "0"]);
    simulate(&["--replications", "many"], &["many"]);
    let out = place.at("out");
    simulate(&["--plot", "goodput_bps", "--out", &out, "--set", "sweep={}"], &["one point", "axis"]);
    simulate(&["--plot", "goodput_bps", "--out", &out, "--set", "metrics.wanted=[\"share\"]"], &["wanted"]);
    simulate(&["--plot", "goodputt", "--out", &out], &["goodputt", "no such metric", "metrics.md"]);
    assert!(!place.path("out").exists());
    check(&["merge", "a"], 2, &["--out"]);
    check(&["report", "x", "--figures", "f"], 2, &["--out"]);
    check(&["report", "x", "--markdown", "--json"], 2, &["--json"]);
}

#[test]
fn missing_and_bad_files() {
    let place = Place::new();
    check(&["simulate", "/no/such.toml"], 1, &["/no/such.toml", "No such file"]);
    check(&["simulate", "/dev"], 1, &["cannot read the scenario '/dev'", "directory"]);
    check(&["simulate", "/dev/zero"], 1, &["/dev/zero"]);
    let binary = file(place.dir.path(), "binary", &[0xff; 9]);
    check(&["simulate", binary.to_str().unwrap()], 1, &["binary", "no text in UTF-8"]);
    check(&["simulate", "src"], 1, &["cannot read the scenario 'src'", "directory"]);
    check(&["simulate", "goe"], 2, &["no ready scenario is called that; did you mean `geo`?"]);
    let bad = file(place.dir.path(), "bad.toml", b"[run]\nduration = \"60\"\n");
    let bad = bad.to_str().unwrap();
    check(&["simulate", bad], 1, &["bad.toml:2:", "run.duration", "60"]);
    check(&["simulate", &place.file, "--out", "/proc/x"], 1, &["/proc/x"]);
    check(&["simulate", &place.file, "--out", &place.file], 1, &["short.toml"]);
    check(&["merge", "/no/such", "--out", &place.at("m")], 1, &["/no/such", "results.jsonl"]);
    check(&["report", "/no/such"], 1, &["/no/such"]);
    check(&["report", place.dir.path().to_str().unwrap()], 1, &["no results.jsonl", "--out"]);
    check(&["report", &place.file], 1, &["short.toml:1"]);
}

#[test]
fn a_folder_with_other_results_is_left_alone() {
    let place = Place::new();
    let out = place.at("out");
    assert_eq!(run(&["simulate", &place.file, "--out", &out]).code, Some(0));
    let before = place.read("out/results.jsonl");
    let other = ["simulate", &place.file, "--out", &out, "--seed", "9"];
    check(&other, 1, &["first seed (1 there, 9 here)", "another --out"]);
    assert_eq!(before, place.read("out/results.jsonl"));
    let more = run(&["simulate", &place.file, "--out", &out, "--replications", "4"]);
    assert_eq!(more.code, Some(0), "{more:?}");
    assert!(more.err.contains("12 of 16 runs are in"), "{more:?}");
}

#[test]
fn a_figure_that_cannot_be_drawn_keeps_the_results() {
    let place = Place::new();
    let said = run(&["simulate", &place.file, "--out", &place.at("out"), "--plot", "utl_rtt_s.max"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("utl_rtt_s.max") && said.err.contains("no run has it"), "{said:?}");
    assert!(place.path("out/results.jsonl").exists() && !said.out.is_empty());
}

#[test]
fn a_wanted_metric_that_no_run_has_is_told_and_one_that_they_have_is_not() {
    let place = Place::new();
    let wanted = "metrics.wanted=[\"gooodput_bps\", \"links.*\"]";
    let said = run(&["simulate", &place.file, "--set", wanted, "--replications", "1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("no run has a metric 'gooodput_bps'"), "{}", said.err);
    assert!(!said.err.contains("'links.*'"), "{}", said.err);
}
