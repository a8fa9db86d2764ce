//! Races in real time, between network namespaces: skipped, aloud, where there can be none.

use std::process::Command;

use serde_json::Value;

use crate::common::{Said, run, skipped, skyhaul, until};
use crate::scenario::Place;

/// Output of `race`, unless namespaces are not permitted here.
fn race(place: &Place, extra: &[&str]) -> Option<Said> {
    let said = run(&[&["race", place.file.as_str(), "--runs", "1"], extra].concat());
    possible(said)
}

pub fn possible(said: Said) -> Option<Said> {
    if said.code == Some(1) && said.err.contains("needs nothing of that: --simulated") {
        skipped(
            "an emulation between network namespaces needs root (or user namespaces), /dev/net/tun and `ip`",
        );
        return None;
    }
    Some(said)
}

#[test]
fn a_race_against_the_kernel_is_timed_checked_and_set_beside_the_limit() {
    let place = Place::new();
    let Some(said) = race(
        &place,
        &["--json", "--requests", "2", "--with", "skyhaul,xstp-declared,stp-undeclared,tcp-cubic,tcp-reno"],
    ) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    assert_eq!(json["mode"], "real-time");
    assert!(!json["kernel"].as_str().unwrap().is_empty());
    for racer in json["racers"].as_array().unwrap() {
        let run = &racer["runs"][0];
        let number = |field: &Value| field.as_f64().unwrap_or_else(|| panic!("{run}"));
        assert_eq!((&run["complete"], &run["payload_bytes"]), (&true.into(), &300_000.into()), "{run}");
        assert!(
            number(&run["elapsed_s"]) > 0.02 && number(&run["confirmed_s"]) > number(&run["elapsed_s"]),
            "{run}"
        );
        assert!(number(&run["share"]) > 0.0 && number(&run["share"]) < 1.2, "{run}");
        assert!(
            number(&run["forward"]["bytes"]) > 300_000.0 && number(&run["reverse"]["bytes"]) > 0.0,
            "{run}"
        );
        for kind in ["fresh_ms", "kept_ms"] {
            let times = run[kind].as_array().unwrap();
            assert!(times.len() == 2 && times.iter().all(|ms| number(ms) >= 40.0), "{run}");
        }
        assert!(run["lateness"]["p99_ms"].is_number() && run["error"].is_null(), "{run}");
        let (name, kernel) = (&racer["name"], racer["name"].as_str().unwrap().starts_with("tcp"));
        assert_eq!(run["protection"], if name == "skyhaul" { "encrypted" } else { "plain" }, "{run}");
        assert_eq!(
            (run["probing"].is_null(), run["retransmitted_packets"].is_number()),
            (kernel, true),
            "{run}"
        );
    }
}

/// Each end of SCPS-TP stands on a device of its own, and exchanges and files cross the link.
#[test]
fn scps_tp_and_the_tcp_of_its_paper_race_in_real_time() {
    let place = Place::new();
    let names = "scps-tp,scps-tp-declared,scps-tp-of-file,tcp-regular";
    let Some(said) = race(&place, &["--json", "--requests", "2", "--with", names]) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    for racer in json["racers"].as_array().unwrap() {
        let run = &racer["runs"][0];
        assert_eq!((&run["complete"], &run["error"]), (&true.into(), &Value::Null), "{run}");
        assert_eq!(run["protection"], "plain", "{run}");
        assert_eq!(run["fresh_ms"].as_array().unwrap().len(), 2, "{run}");
        assert!(run["retransmitted_packets"].is_number() && run["share"].as_f64().unwrap() > 0.02, "{run}");
    }
}

#[test]
fn a_run_in_real_time_that_takes_too_long_is_told_not_fatal() {
    let place = Place::new();
    let args =
        ["--requests", "0", "--with", "tcp-reno,xstp-undeclared", "--size", "5MB", "--time-limit", "500ms"];
    let Some(said) = race(&place, &args) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    for racer in ["tcp-reno", "xstp-undeclared"] {
        assert!(said.out.contains(&format!("* {racer}: ended in 1 of 1 runs")), "{}", said.out);
    }
}

#[test]
fn an_interrupted_race_shows_what_there_is() {
    let place = Place::new();
    if race(&place, &["--requests", "0", "--with", "tcp-reno", "--size", "10kB"]).is_none() {
        return;
    }
    let out = place.path("out");
    let args = [
        "race",
        &place.file,
        "--requests",
        "0",
        "--with",
        "tcp-reno",
        "--runs",
        "500",
        "--out",
        out.to_str().unwrap(),
    ];
    let child = skyhaul(&args).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(4));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("interrupted: ") && said.err.contains(" of 500 runs"), "{said:?}");
    until("the numbers", || out.join("results.jsonl").exists());
}
