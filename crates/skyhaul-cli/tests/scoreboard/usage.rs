//! Wrong usage, and places that nothing can be written to.

use crate::common::{Said, file, run};

fn check(args: &[&str], code: i32, words: &[&str]) -> Said {
    let said = run(&[&["scoreboard"], args].concat());
    assert_eq!(said.code, Some(code), "{args:?}: {said:?}");
    for word in words {
        assert!(said.err.contains(word), "{args:?} should mention '{word}': {}", said.err);
    }
    assert!(said.out.is_empty() && !said.err.contains("panicked"), "{said:?}");
    said
}

#[test]
fn wrong_arguments() {
    check(&["--scenarios", "geo-nosy"], 2, &["geo-nosy", "did you mean `geo-noisy`?", "deep-queue"]);
    check(&["--scenarios", "mine.toml"], 2, &["mine.toml", "no ready scenario", "skyhaul race"]);
    check(&["--scenarios", "geo,"], 2, &["--scenarios"]);
    check(&["--with", "tcp-cubci"], 2, &["did you mean `tcp-cubic`?", "xstp-declared"]);
    check(&["--with", "quic"], 2, &["nobody is called that; there are skyhaul"]);
    check(&["--runs", "0"], 2, &["--runs"]);
    check(&["--size", "0", "--scenarios", "geo"], 2, &["--size 0"]);
    check(&["--real", "--simulated"], 2, &["--real", "--simulated"]);
    check(&["--real", "--scenarios", "geo,joining"], 2, &["'joining' has several", "--simulated"]);
    check(&["--json", "--csv"], 2, &["--json"]);
}

#[test]
fn places_that_nothing_can_be_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let occupied = file(dir.path(), "occupied", b"something else");
    let small = ["--scenarios", "deep-queue", "--with", "skyhaul", "--runs", "1", "--size", "1kB", "--out"];
    let at = |out: &str, words: &[&str]| drop(check(&[&small[..], &[out]].concat(), 1, words));
    at(occupied.to_str().unwrap(), &["occupied", "cannot"]);
    at("/proc/board", &["/proc/board", "cannot make the folder"]);
}

#[test]
fn a_folder_with_results_of_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let with = |name: &str| {
        ["--scenarios", "deep-queue", "--runs", "1", "--size", "1kB", "--out", out, "--with", name]
            .map(String::from)
    };
    let first = with("skyhaul");
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    assert_eq!(run(&[&["scoreboard"], &first[..]].concat()).code, Some(0));
    let before = std::fs::read(dir.path().join("results.jsonl")).unwrap();
    let other = with("stp");
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    check(&other, 1, &["results of another sweep", "axes", "choose another --out"]);
    assert_eq!(std::fs::read(dir.path().join("results.jsonl")).unwrap(), before);
    std::fs::write(dir.path().join("results.jsonl"), "my own notes\n").unwrap();
    check(&first, 1, &["results.jsonl", "line 1", "no header"]);
}
