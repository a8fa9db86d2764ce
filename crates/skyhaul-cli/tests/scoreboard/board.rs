//! Boards in virtual time.

use serde_json::Value;

use crate::common::{Said, names, run};

/// Two transfers and a flow beside another, twice each, by two of us.
const SMALL: [&str; 9] = [
    "scoreboard",
    "--scenarios",
    "geo-noisy,deep-queue,beside-bbr",
    "--with",
    "skyhaul,tcp-reno",
    "--runs",
    "2",
    "--size",
    "100kB",
];

fn small(extra: &[&str]) -> Said {
    let said = run(&[&SMALL[..], extra].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    said
}

fn metric(object: &Value, point: usize, name: &str) -> f64 {
    let metric = &object["points"][point]["metrics"][name]["median"];
    metric.as_f64().unwrap_or_else(|| panic!("{name} of {point}: {object}"))
}

#[test]
fn everybody_has_every_metric_and_the_same_ones_twice() {
    let first = small(&["--json"]);
    assert_eq!(first.out, small(&["--json", "--simulated"]).out);
    let object = first.json();
    assert_eq!((&object["runs"], &object["failed_runs"]), (&12.into(), &0.into()));
    let values = |axis: usize| object["axes"][axis]["values"].as_array().unwrap().clone();
    assert_eq!(values(0), ["geo-noisy", "deep-queue", "beside-bbr"]);
    assert_eq!(values(1), ["skyhaul", "tcp-reno"]);
    for transfer in 0..4 {
        assert!((0.0..1.2).contains(&metric(&object, transfer, "share")));
        assert!(metric(&object, transfer, "overhead") > 0.9);
        for name in ["returned_per_mb", "elapsed_s", "waiting_ms", "waiting_p95_ms"] {
            assert!(metric(&object, transfer, name) >= 0.0);
        }
    }
    for flow in 4..6 {
        assert!((0.5..=1.0).contains(&metric(&object, flow, "jain")));
        assert!((0.5..1.1).contains(&metric(&object, flow, "utilisation")));
        assert!(metric(&object, flow, "times_others") > 0.0 && metric(&object, flow, "waiting_ms") > 0.0);
    }
}

#[test]
fn tables_fit_and_the_folder_has_pictures_and_numbers_and_grows_with_more_runs() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("made/board");
    let place = out.to_str().unwrap();
    let said = small(&["--out", place]);
    assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
    for words in ["Share of what", "geo-noisy", "Jain's index", "beside-bbr", "medians of 2 runs"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert_eq!(names(&out), ["figures", "report.html", "report.md", "results.jsonl", "summary.csv"]);
    let pictures = names(&out.join("figures"));
    for id in ["beside", "completion", "fairness", "returned", "sent", "share", "waiting"] {
        for ending in ["csv", "png", "svg"] {
            assert!(pictures.contains(&format!("{id}.{ending}")), "{id}.{ending}: {pictures:?}");
        }
    }
    let more = run(&[&SMALL[..5], &["--size", "100kB", "--runs", "3", "--out", place]].concat());
    assert!(more.code == Some(0) && more.err.contains("12 of 18 runs are in"), "{more:?}");
}

#[test]
fn every_metric_is_documented() {
    let object = small(&["--json"]).json();
    let page = include_str!("../../../../docs/guide/scoreboard.md");
    let json = include_str!("../../../../docs/guide/json.md");
    for point in object["points"].as_array().unwrap() {
        for name in point["metrics"].as_object().unwrap().keys() {
            let quoted = format!("`{name}`");
            assert!(page.contains(&quoted) || json.contains(&quoted), "{name}");
        }
    }
}
