//! Wrong usage, files of absurd axes, and the scenario file of a cell.

use crate::common::{Said, file, run};

fn check(args: &[&str], code: i32, words: &[&str]) -> Said {
    let said = run(&[&["map"], args].concat());
    assert_eq!(said.code, Some(code), "{args:?}: {said:?}");
    for word in words {
        assert!(said.err.contains(word), "{args:?} should mention '{word}': {}", said.err);
    }
    assert!(said.out.is_empty() && !said.err.contains("panicked"), "{said:?}");
    said
}

#[test]
fn wrong_arguments() {
    check(&["--cells", "0"], 2, &["no cell 0", "1 to 300"]);
    check(&["--scenario", "301"], 2, &["no cell 301"]);
    check(&["--scenario", "1", "--out", "x"], 2, &["--scenario", "--out"]);
    check(&["--runs", "0"], 2, &["--runs"]);
    check(&["--quick", "--runs", "2"], 2, &["--quick"]);
    check(&["nowhere.toml"], 1, &["cannot read the map 'nowhere.toml'"]);
}

#[test]
fn absurd_axes_end_at_once_with_what_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let ready = include_str!("../../../../maps/controller.toml");
    for (from, to, words) in [
        ("to = \"100Mbit/s\"", "to = \"900Gbit/s\"", "axes.rate (bit/s) is 900000000000; it may be 16000 to"),
        ("to = \"600ms\"", "to = \"1h\"", "axes.rtt (ns) is 3600000000000"),
        ("runs = 3", "runs = 100", "packets; at most"),
        ("own = { from", "owm = { from", "owm"),
    ] {
        let text = ready.replacen(from, to, 1);
        assert_ne!(text, ready, "{from}");
        let path = file(dir.path(), "mine.toml", text.as_bytes());
        check(&[path.to_str().unwrap()], 1, &["mine.toml", words]);
    }
}

#[test]
fn the_scenario_of_a_cell_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let said = run(&["map", "--scenario", "2"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let path = file(dir.path(), "cell.toml", said.out.as_bytes());
    let short = ["--set", "run.duration=3s", "--set", "run.warm_up=1s", "--csv", "--quiet"];
    let said = run(&[&["simulate", path.to_str().unwrap()], &short[..]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    for name in ["skyhaul", "cubic", "flows.own3.goodput_bps", "flows.tcp1.goodput_bps"] {
        assert!(said.out.contains(name), "{name}");
    }
}
