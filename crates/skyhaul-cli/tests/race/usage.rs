//! Wrong usage and files that nobody can race over: a message that says what, where and what to do.

use crate::common::run;
use crate::scenario::Place;

fn check(args: &[&str], code: i32, words: &[&str]) {
    let said = run(&[&["race", "--simulated"], args].concat());
    assert_eq!(said.code, Some(code), "{args:?}: {said:?}");
    for word in words {
        assert!(said.err.contains(word), "{args:?} should mention '{word}': {}", said.err);
    }
    assert!(said.out.is_empty() && !said.err.contains("panicked"), "{said:?}");
}

#[test]
fn wrong_arguments() {
    let place = Place::new();
    let race = |extra: &[&str], words: &[&str]| check(&[&[place.file.as_str()], extra].concat(), 2, words);
    check(&[], 2, &["FILE"]);
    race(&["--with", "xtsp"], &["xtsp", "did you mean `xstp`?", "tcp-bbr"]);
    race(&["--with", "quic"], &["quic", "nobody is called that; there are skyhaul"]);
    race(&["--with", ""], &["--with"]);
    race(&["--runs", "0"], &["--runs"]);
    race(&["--size", "0"], &["--size 0"]);
    race(&["--rate", "fast"], &["fast", "10M"]);
    race(
        &["--set", "links.space.forward.rat=1Mbit/s"],
        &["--set links.space.forward.rat", "did you mean `rate`?"],
    );
    race(&["--set", "flows.file.workload={kind=\"bulk\"}", "--set", "run.goal=\"time\""], &["run.goal"]);
}

#[test]
fn missing_and_unfit_files() {
    check(&["/no/such.toml"], 1, &["/no/such.toml", "No such file"]);
    check(&["/dev"], 1, &["cannot read the scenario '/dev'", "directory"]);
    check(&["starlnik"], 2, &["no ready scenario is called that; did you mean `starlink`?", "geo-noisy"]);
    let talk = Place::with(|text| text.split("[flows.file]").next().unwrap().to_string());
    check(&[&talk.file], 1, &["short.toml", "no bulk flow", "kind = \"bulk\""]);
    let endless = Place::with(|text| text.replace(", size = \"300kB\"", ""));
    check(&[&endless.file], 2, &["flow 'file' has no size", "--size"]);
    let fast = Place::with(|text| text.replace("rate = \"4Mbit/s\", ", ""));
    check(&[&fast.file], 2, &["no link on the way has a rate", "--rate"]);
}
