//! Runs of a sweep do not depend on how they are run.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use skyhaul_scenario::File;

/// A short transfer over a lossy link, at two losses and two rates.
pub(super) fn file(replications: u32) -> File {
    let text = include_str!("sweep_tests.toml");
    let own = [("run.replications".to_string(), replications.to_string())];
    File::load(&crate::standard(), "short.toml", text, &own).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn sweep(replications: u32) -> Sweep {
    Sweep::new(file(replications)).unwrap()
}

pub(super) fn jobs(jobs: usize) -> NonZeroUsize {
    NonZeroUsize::new(jobs).unwrap()
}

/// The result file, from these runs alone.
pub(super) fn text(sweep: &Sweep, todo: &[RunId], threads: usize) -> String {
    let mut runs = Runs::default();
    let result: Result<(), SweepError> = run(sweep, todo, jobs(threads), &AtomicBool::new(false), |batch| {
        for finished in batch {
            runs.add(finished);
        }
        Ok(())
    });
    result.unwrap();
    runs.text(sweep.header())
}

#[test]
fn a_result_file_has_its_runs_in_order_with_what_each_point_sets() {
    let sweep = sweep(2);
    let all: Vec<RunId> = sweep.runs(None).collect();
    let text = text(&sweep, &all, 2);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1 + 4 * 2);
    assert_eq!(
        (&lines[0]["points"], &lines[0]["replications"], &lines[0]["seed"]),
        (&4.into(), &2.into(), &5.into())
    );
    for (number, line) in lines[1..].iter().enumerate() {
        assert_eq!((&line["point"], &line["replication"]), (&(number / 2).into(), &(number % 2).into()));
        assert_eq!(line["seed"], 5 + number as u64 % 2);
        assert_eq!(line["set"]["links.space.forward.loss"], if number < 4 { 0.0 } else { 0.02 });
        assert_eq!(line["set"]["rate"], if number / 2 % 2 == 0 { "slow" } else { "fast" });
        assert_eq!(line["ended"], "done");
        assert!(line["metrics"]["goodput_bps"].as_f64().unwrap() > 1e5, "{line}");
    }
    let set = text.lines().nth(1).unwrap();
    assert!(
        set.contains(r#""set":{"links.space.forward.loss":0,"rate":"slow"}"#),
        "axes in their order: {set}"
    );
}

#[test]
fn threads_and_order_do_not_change_the_bytes() {
    let sweep = sweep(3);
    let mut all: Vec<RunId> = sweep.runs(None).collect();
    let one = text(&sweep, &all, 1);
    assert_eq!(one, text(&sweep, &all, 3));
    all.reverse();
    assert_eq!(one, text(&sweep, &all, 2));
}

#[test]
fn shards_take_every_run_once() {
    let sweep = sweep(5);
    let mut dealt: Vec<RunId> =
        ["1/3", "2/3", "3/3"].iter().flat_map(|s| sweep.runs(s.parse().ok())).collect();
    assert_eq!(sweep.runs("1/3".parse().ok()).count(), 7);
    dealt.sort();
    assert_eq!(dealt, sweep.runs(None).collect::<Vec<_>>());
    for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "1/20000", "-1/2"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn only_wanted_metrics_are_kept() {
    let wanted = [("metrics.wanted".to_string(), r#"["goodput_bps", "links.*.utilisation"]"#.to_string())];
    let sweep = Sweep::new(file(1).with(&wanted).unwrap()).unwrap();
    let text = text(&sweep, &[RunId { point: 0, replication: 0 }], 1);
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let names: Vec<&String> = line["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["goodput_bps", "links.space.forward.utilisation", "links.space.reverse.utilisation"]);
}

#[test]
fn a_run_with_too_many_events_says_so_and_the_others_go_on() {
    let few = [("run.max_events".to_string(), "50".to_string())];
    let sweep = Sweep::new(file(1).with(&few).unwrap()).unwrap();
    let all: Vec<RunId> = sweep.runs(None).collect();
    let text = text(&sweep, &all, 2);
    assert_eq!(text.lines().count(), 5);
    for line in text.lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["ended"], "out-of-events");
        let error = line["error"].as_str().unwrap();
        assert!(error.contains("after 50 events") && error.contains("--max-events"), "{error}");
        assert_eq!(line["metrics"]["events"], 50.0, "what there is is told");
    }
}

#[test]
fn a_stop_ends_the_sweep_after_the_runs_under_way() {
    let sweep = sweep(10);
    let all: Vec<RunId> = sweep.runs(None).collect();
    let stop = AtomicBool::new(false);
    let mut finished = 0;
    let result: Result<(), SweepError> = run(&sweep, &all, jobs(2), &stop, |batch| {
        finished += batch.len();
        stop.store(true, Ordering::Relaxed);
        Ok(())
    });
    assert!(result.is_ok());
    // Those of the first batch, those that waited, and one under way in each thread.
    assert!((1..=all.len() / 2).contains(&finished), "{finished}");
}

#[test]
fn an_error_of_the_taker_ends_the_sweep() {
    let sweep = sweep(10);
    let all: Vec<RunId> = sweep.runs(None).collect();
    let mut calls = 0;
    let result = run(&sweep, &all, jobs(2), &AtomicBool::new(false), |_| {
        calls += 1;
        Err(SweepError("full".to_string()))
    });
    assert_eq!((result, calls), (Err(SweepError("full".to_string())), 1));
}

#[test]
fn too_many_runs_are_refused() {
    let many = [("run.replications".to_string(), "250001".to_string())];
    match file(1).with(&many) {
        Ok(file) => {
            let error = Sweep::new(file).unwrap_err();
            assert!(error.0.contains("1000004 runs") && error.0.contains("1000000"), "{error}");
        }
        Err(error) => assert!(error.to_string().contains("250001"), "{error}"),
    }
}
