//! Races in virtual time.

use serde_json::Value;

use crate::common::{Said, names, run, skyhaul};
use crate::scenario::Place;

fn race(place: &Place, extra: &[&str]) -> Value {
    let said = run(&[&["race", "--simulated", "--json", place.file.as_str()], extra].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    said.json()
}

#[test]
fn a_ready_scenario_is_raced_by_its_name() {
    let args = [
        "race",
        "geo",
        "--simulated",
        "--runs",
        "1",
        "--requests",
        "0",
        "--size",
        "200kB",
        "--with",
        "skyhaul",
    ];
    let folder = tempfile::tempdir().unwrap();
    let said: Said =
        skyhaul(&[&args[..], &["--json"]].concat()).current_dir(folder.path()).output().unwrap().into();
    assert_eq!((said.code, &said.json()["payload_bytes"]), (Some(0), &200_000.into()), "{said:?}");
}

#[test]
fn a_race_is_the_same_twice_and_has_everybody() {
    let place = Place::new();
    let first = race(&place, &[]);
    assert_eq!(first, race(&place, &[]));
    let names: Vec<&str> =
        first["racers"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    let stp = ["skyhaul", "xstp-declared", "xstp-undeclared", "stp-declared", "stp-undeclared"];
    assert_eq!(names, [&stp[..], &["tcp-cubic", "tcp-bbr", "tcp-reno"]].concat());
    assert_eq!(first["payload_bytes"], 300_000);
    assert_eq!(first["declared_rate_bps"], 4_000_000);
    assert_eq!((&first["from"], &first["to"], &first["seed"]), (&"west".into(), &"east".into(), &7.into()));
    let judged = first["first"].as_array().unwrap();
    assert_eq!(judged.len(), 5);
    for judged in judged {
        let before = judged["before_skyhaul"].as_array().unwrap();
        assert_eq!(judged["skyhaul_wins"].as_bool(), Some(before.is_empty()), "{judged}");
        assert_eq!(judged["first"] == "skyhaul", before.is_empty(), "{judged}");
    }
    for racer in first["racers"].as_array().unwrap() {
        let runs = racer["runs"].as_array().unwrap();
        let seeds: Vec<u64> = runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect();
        assert_eq!(seeds, [7, 8, 9]);
        for run in runs {
            assert_eq!(run["payload_bytes"], 300_000, "{run}");
            assert_eq!(run["complete"], true);
            assert!(
                run["share"].as_f64().unwrap() < 1.1 && run["goodput_bps"].as_f64().unwrap() > 1e5,
                "{run}"
            );
            assert!(run["forward"]["bytes"].as_u64().unwrap() > 300_000, "{run}");
            assert_eq!(run["fresh_ms"].as_array().unwrap().len(), 5);
            assert_eq!(run["kept_ms"].as_array().unwrap().len(), 5);
            assert!(run["kept_ms"][0].as_f64().unwrap() > 40.0, "{run}");
        }
    }
}

#[test]
fn a_single_one_of_another_size_without_exchanges() {
    let place = Place::new();
    let race = race(
        &place,
        &["--with", "xstp-undeclared,tcp-reno,tcp-reno", "--runs", "1", "--requests", "0", "--size", "50kB"],
    );
    assert_eq!(race["racers"].as_array().unwrap().len(), 2, "named twice, there once: {race}");
    let run = &race["racers"][0]["runs"][0];
    assert_eq!(run["payload_bytes"], 50_000);
    assert_eq!(
        (run["fresh_ms"].as_array().unwrap().len(), &race["racers"][0]["fresh_ms"]),
        (0, &Value::Null)
    );
    assert_eq!(run["declared_rate_bps"], Value::Null);
}

#[test]
fn a_run_that_takes_too_long_is_told_not_fatal() {
    let place = Place::new();
    let args =
        ["race", "--simulated", &place.file, "--time-limit", "200ms", "--with", "tcp-reno", "--runs", "2"];
    let said = run(&args);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("tcp-reno *") && said.out.contains("ended in 2 of 2 runs"), "{}", said.out);
}

#[test]
fn the_table_fits_and_the_folder_has_pictures_and_numbers() {
    let place = Place::new();
    let out = place.path("out");
    let said = run(&["race", "--simulated", &place.file, "--out", out.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
    assert!(!said.out.contains(|c: char| c.is_control() && c != '\n'), "{}", said.out);
    assert_eq!(names(&out), ["figures", "report.html", "report.md", "results.jsonl", "summary.csv"]);
    assert_eq!(names(&out.join("figures")), ["race.csv", "race.pdf", "race.png", "race.svg"]);
    let picture = std::fs::read_to_string(out.join("figures/race.svg")).unwrap();
    let (panels, named) = (picture.matches(">Goodput<").count(), picture.matches(">skyhaul<").count());
    assert!(
        panels == 1 && named >= 10,
        "its name stands below each bar and at the mark of each panel: {named}"
    );
    let again = run(&["report", out.to_str().unwrap(), "--csv"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(again.out, std::fs::read_to_string(out.join("summary.csv")).unwrap());
    // The race again takes its own place, and another one that of nobody.
    let again = ["race", "--simulated", &place.file, "--out", out.to_str().unwrap()];
    let results = || std::fs::read_to_string(out.join("results.jsonl")).unwrap();
    assert_eq!(run(&again).code, Some(0));
    let before = results();
    let other = run(&[&again[..], &["--runs", "2"]].concat());
    assert!(
        other.code == Some(1) && other.err.contains("there are other results already; choose another"),
        "{other:?}"
    );
    std::fs::write(out.join("results.jsonl"), "of somebody else\n").unwrap();
    assert_eq!(run(&again).code, Some(1));
    assert!(results() == "of somebody else\n" && before.contains("transport"));
}

#[test]
fn the_first_point_of_a_sweep_is_raced_and_named() {
    let place = Place::with(|text| {
        format!("{text}\n[sweep]\n\"links.space.forward.rate\" = [\"2Mbit/s\", \"3Mbit/s\"]\n")
    });
    let race = race(&place, &["--with", "xstp-declared", "--runs", "1"]);
    assert_eq!(race["declared_rate_bps"], 2_000_000);
    assert!(race["point"].as_str().unwrap().contains("links.space.forward.rate"), "{race}");
    let other = run(&["race", "--simulated", "--json", &place.file, "--runs", "1", "--set", "sweep={}"]);
    assert_eq!(other.json()["declared_rate_bps"], 4_000_000, "{other:?}");
}

/// Every name in an object and what is inside it.
fn keys(value: &Value, all: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            all.extend(fields.keys().cloned());
            fields.values().for_each(|value| keys(value, all));
        }
        Value::Array(items) => items.iter().for_each(|value| keys(value, all)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    let mut all = std::collections::BTreeSet::new();
    keys(&race(&Place::new(), &[]), &mut all);
    let page = include_str!("../../../../docs/guide/json.md");
    let missing: Vec<&String> = all.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(all.len() > 40 && missing.is_empty(), "{missing:?}");
}
