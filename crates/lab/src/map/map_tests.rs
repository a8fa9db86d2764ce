//! The map: its sample, its bounds, its verdicts; its worst cells and some cheap ones with frozen results.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use serde_json::json;
use skyhaul_report::results::parse_results;
use skyhaul_report::{Results, Table};

use super::outcome::{CellOutcome, Verdict, outcomes};
use super::plan::{Map, MapOrder};
use super::{cells_table, report, run_map, tables};
use crate::sweep::SweepBacklog;

/// File of few and cheap cells.
const SMALL: &str = r#"
title = "A small map"
seed = 7
cells = 6
runs = 1
as_many = 0.5

[axes]
own = { from = 1, to = 3 }
hosts = ["one", "several"]
tcps = { from = 0, to = 2 }
kinds = ["reno", "cubic", "bbr"]
queue = { from = 0.5, to = 4 }
disciplines = ["droptail", "red"]
loss = [0, 0.01]
rtt = { from = "40ms", to = "300ms" }
rate = { from = "500kbit/s", to = "1Mbit/s" }

[[cell]]
own = 2
hosts = "one"
tcps = 1
kind = "cubic"
queue = 1
discipline = "droptail"
loss = 0.001
rtt = "300ms"
rate = "1Mbit/s"
"#;

fn ready() -> Map {
    Map::new(&MapOrder::default()).unwrap()
}

fn small() -> Map {
    Map::parse("small.toml", SMALL, &MapOrder::default()).unwrap()
}

fn run(map: &Map, jobs: usize) -> Results {
    let mut backlog = SweepBacklog::open(&map.header, map.header.runs().collect(), None).unwrap();
    let jobs = NonZeroUsize::new(jobs).unwrap();
    run_map(map, &mut backlog, jobs, &AtomicBool::new(false), &()).unwrap();
    backlog.conclude("results.jsonl".as_ref()).unwrap().results
}

/// Results of one run of the first cell of `map` with these metrics.
fn told(map: &Map, metrics: &[(&str, f64)]) -> Results {
    let metrics: serde_json::Map<_, _> =
        metrics.iter().map(|(name, value)| ((*name).to_string(), (*value).into())).collect();
    let header = json!({ "skyhaul_results": 1, "scenario": "map", "points": map.header.points, "replications": 1,
        "axes": [{ "key": "cell", "values": map.header.axes[0].values }] });
    let line = json!({ "point": 0, "replication": 0, "seed": 1, "metrics": metrics });
    parse_results(format!("{header}\n{line}\n").as_bytes(), "told").unwrap()
}

/// The only cell of `map` with these metrics.
fn judged<T>(change: (&str, &str), metrics: &[(&str, f64)], judge: impl Fn(&CellOutcome<'_>) -> T) -> T {
    let text = SMALL.replace("cells = 6", "cells = 1");
    let (head, cell) = text.split_once("[[cell]]").unwrap();
    assert!(cell.contains(change.0), "{}", change.0);
    let text = format!("{head}[[cell]]{}", cell.replace(change.0, change.1));
    let map = Map::parse("one.toml", &text, &MapOrder::default()).unwrap();
    judge(&outcomes(&map, &told(&map, metrics))[0])
}

#[test]
fn the_sample_is_the_committed_one() {
    let map = ready();
    let lines: Vec<String> = map.cells.iter().map(|(number, cell)| format!("{number:>3} {cell}")).collect();
    assert_eq!(lines.len(), map.all);
    insta::assert_snapshot!("sample", lines.join("\n"));
}

#[test]
fn the_sample_reaches_everywhere() {
    let map = ready();
    let share = |is: &dyn Fn(&super::Cell) -> bool| {
        map.cells.iter().filter(|(_, cell)| is(cell)).count() as f64 / map.cells.len() as f64
    };
    assert!(share(&|cell| cell.queue < 0.5) > 0.3 && share(&|cell| cell.queue > 4.0) > 0.1);
    assert!(share(&|cell| cell.loss == 0.0) > 0.3 && share(&|cell| cell.loss > 0.005) > 0.3);
    assert!(share(&|cell| cell.is_beside_as_many()) > 0.15);
    assert!(share(&|cell| cell.own > 4) > 0.2 && share(&|cell| cell.tcps == 0) > 0.15);
    assert!(
        share(&|cell| cell.rate_bps < 3_000_000) > 0.2 && share(&|cell| cell.rate_bps > 50_000_000) > 0.1
    );
}

#[test]
fn absurd_axes_end_with_an_error_that_names_them() {
    let absurd = [
        ("cells = 6", "cells = 1000000", "cells is 1000000; it may be 1 to 2000"),
        ("cells = 6", "cells = 0", "cells is 0"),
        ("runs = 1", "runs = 0", "runs is 0"),
        ("as_many = 0.5", "as_many = nan", "as_many is NaN"),
        ("own = { from = 1, to = 3 }", "own = { from = 1, to = 500 }", "axes.own is 500; it may be 1 to 16"),
        ("own = { from = 1, to = 3 }", "own = { from = 3, to = 1 }", "goes from 3 to 1"),
        ("own = { from = 1, to = 3 }", "own = { from = -1, to = 3 }", "-1"),
        ("queue = { from = 0.5, to = 4 }", "queue = { from = 0, to = 4 }", "axes.queue is 0; it may be 0.01"),
        ("queue = { from = 0.5, to = 4 }", "queue = { from = 1, to = inf }", "axes.queue is inf"),
        ("loss = [0, 0.01]", "loss = [0, 1]", "axes.loss is 1; it may be 0 to 0.2"),
        ("loss = [0, 0.01]", "loss = []", "axes.loss is an empty list"),
        ("to = \"300ms\"", "to = \"366days\"", "366days"),
        ("to = \"300ms\"", "to = \"10h\"", "axes.rtt (ns) is 36000000000000"),
        ("to = \"1Mbit/s\"", "to = \"1000Gbit/s\"", "axes.rate (bit/s) is 1000000000000; it may be"),
        ("kinds = [\"reno\"", "kinds = [\"renno\"", "renno"),
        ("own = 2", "own = 200", "[[cell]] number 1: own is 200"),
        ("seed = 7", "sead = 7", "sead"),
    ];
    for (from, to, words) in absurd {
        assert!(SMALL.contains(from), "{from}");
        let error =
            Map::parse("mine.toml", &SMALL.replacen(from, to, 1), &MapOrder::default()).err().unwrap();
        let text = error.to_string();
        assert!(text.starts_with("mine.toml: ") && text.contains(words), "{to}: {text}");
    }
}

#[test]
fn what_would_take_hours_or_too_much_memory_is_refused_before_it_runs() {
    let fast = SMALL.replace("to = \"1Mbit/s\"", "to = \"1Gbit/s\"");
    let long = fast.replace("cells = 6", "cells = 1000").replace("runs = 1", "runs = 20");
    let error = Map::parse("mine.toml", &long, &MapOrder::default()).err().unwrap().to_string();
    assert!(error.contains("packets; at most") && error.contains("fewer cells or runs"), "{error}");
    let deep =
        SMALL.replace("rtt = \"300ms\"", "rtt = \"5s\"").replace("rate = \"1Mbit/s\"", "rate = \"1Gbit/s\"");
    let error = Map::parse("mine.toml", &deep, &MapOrder::default()).err().unwrap().to_string();
    assert!(error.contains("MB under way and queued"), "{error}");
}

#[test]
fn a_cell_that_is_not_there() {
    let order = MapOrder { only: vec![3, 7], ..MapOrder::default() };
    let error = Map::parse("small.toml", SMALL, &order).err().unwrap().to_string();
    assert_eq!(error, "there is no cell 7; the map has the cells 1 to 6");
}

#[test]
#[allow(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime alone")]
fn use_is_asked_for_but_where_tcps_alone_leave_the_rest() {
    let of =
        |change, used, tcps| judged(change, &[("use", used), ("use_tcps", tcps)], |one| one.use_verdict());
    let no_loss = ("loss = 0.001", "loss = 0");
    assert_eq!(of(no_loss, 0.95, 0.99), Verdict::Met);
    assert_eq!(of(no_loss, 0.949, 0.99), Verdict::Missed);
    assert_eq!(of(no_loss, 0.90, 0.89), Verdict::Excused);
    assert_eq!(of(("loss = 0.001", "loss = 0.01"), 0.93, 0.99), Verdict::Met);
    assert_eq!(of(("loss = 0.001", "loss = 0.01"), 0.40, 0.1), Verdict::Missed, "we need not mind such loss");
    assert_eq!(of(("tcps = 1", "tcps = 0"), 0.90, 0.2), Verdict::Missed, "alone there is no excuse");
}

#[test]
#[allow(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime alone")]
fn goodput_is_judged_beside_as_many_tcps_and_common_queues() {
    let of = |change, ratio, kept| {
        let metrics = [("use", 1.0), ("ratio", ratio), ("kept", kept)];
        judged(change, &metrics, |one| one.ratio_verdict())
    };
    let as_many = ("own = 2", "own = 1");
    assert_eq!(of(as_many, 2.9, 0.4), Some(Verdict::Met));
    assert_eq!(of(as_many, 0.34, 1.4), Some(Verdict::Met));
    assert_eq!(of(as_many, 3.1, 0.4), Some(Verdict::Missed));
    assert_eq!(of(as_many, 3.1, 0.9), Some(Verdict::Excused), "TCPs get no more among TCPs");
    assert_eq!(of(as_many, 0.3, 1.7), Some(Verdict::Missed));
    assert_eq!(of(("own = 2", "own = 3"), 9.0, 0.1), None);
}

#[test]
fn the_distance_of_a_cell_is_that_of_what_it_missed_by_most() {
    let of = |metrics: &[(&str, f64)]| {
        judged(("own = 2", "own = 2"), metrics, |outcome| (outcome.distance(), outcome.missed()))
    };
    assert_eq!(of(&[("use", 0.95), ("jain_own", 0.95)]), (0.0, String::new()));
    let (distance, missed) = of(&[("use", 0.474), ("use_tcps", 0.9), ("jain_own", 0.81)]);
    assert!((distance - 0.5).abs() < 1e-9 && missed == "use, Jain", "{distance} {missed}");
}

#[test]
fn cheap_cells_come_out_as_they_did_whatever_the_number_of_jobs() {
    let map = small();
    let results = run(&map, 2);
    assert_eq!(results.failed().count(), 0);
    let shown = cells_table(&map, &results);
    insta::assert_snapshot!("cheap_cells", rounded(&shown).to_csv());
    assert_eq!(report(&map, &results).unwrap().figures.len(), 1);
    assert_eq!(tables(&map, &results).len(), 3);
    let first = Map::parse("small.toml", SMALL, &MapOrder { only: vec![1], ..MapOrder::default() }).unwrap();
    let again = run(&first, 1);
    assert_eq!(again.runs[0].metrics, results.runs[0].metrics);
}

/// The ten cells of the ready map that miss what is asked for by most (docs/guide/controller-map.md).
const WORST: [usize; 10] = [146, 33, 108, 279, 271, 82, 230, 8, 143, 258];

#[test]
fn the_worst_cells_come_out_as_they_did() {
    let order = MapOrder { only: WORST.to_vec(), runs: Some(1), ..MapOrder::default() };
    let map = Map::new(&order).unwrap();
    let results = run(&map, 2);
    assert_eq!(results.failed().count(), 0);
    insta::assert_snapshot!("worst_cells", rounded(&cells_table(&map, &results)).to_csv());
}

/// Table with four digits of each number: what a snapshot is read for.
fn rounded(table: &Table) -> Table {
    let short = |cell: &String| match cell.parse::<f64>() {
        Ok(value) if cell.contains('.') => format!("{value:.4}"),
        _ => cell.clone(),
    };
    Table {
        columns: table.columns.clone(),
        rows: table.rows.iter().map(|row| row.iter().map(short).collect()).collect(),
    }
}
