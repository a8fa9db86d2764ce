//! Sweeps that are interrupted and go on.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::sweep_tests::{file, jobs, sweep, text};
use super::*;

/// Runs these in `path`; whether all of the sweep is there decides about the end.
fn run_in(path: &Path, sweep: &Sweep, todo: &[RunId]) -> Result<usize, SweepError> {
    let mut folder = Folder::open(path, sweep.header())?;
    let missing: Vec<RunId> = todo.iter().copied().filter(|id| !folder.runs().contains(*id)).collect();
    run(sweep, &missing, jobs(2), &AtomicBool::new(false), |batch| folder.add(batch))?;
    if sweep.runs(None).all(|id| folder.runs().contains(id)) {
        folder.complete()?;
    }
    Ok(missing.len())
}

fn all(sweep: &Sweep) -> Vec<RunId> {
    sweep.runs(None).collect()
}

#[test]
fn a_sweep_goes_on_where_it_was_and_comes_to_the_same_bytes() {
    let (sweep, dir) = (sweep(3), tempfile::tempdir().unwrap());
    let ids = all(&sweep);
    assert_eq!(run_in(dir.path(), &sweep, &ids[2..7]).unwrap(), 5);
    assert!(dir.path().join(PARTIAL).exists() && !dir.path().join(RESULTS).exists());
    assert_eq!(run_in(dir.path(), &sweep, &ids).unwrap(), ids.len() - 5);
    assert_eq!(fs::read_to_string(dir.path().join(RESULTS)).unwrap(), text(&sweep, &ids, 1));
    assert!(!dir.path().join(PARTIAL).exists());
    assert_eq!(run_in(dir.path(), &sweep, &ids).unwrap(), 0, "nothing is run again");
}

#[test]
fn a_torn_last_line_is_run_again() {
    let (sweep, dir) = (sweep(2), tempfile::tempdir().unwrap());
    let ids = all(&sweep);
    run_in(dir.path(), &sweep, &ids[..4]).unwrap();
    let partial = dir.path().join(PARTIAL);
    let whole = fs::read(&partial).unwrap();
    fs::write(&partial, &whole[..whole.len() - 10]).unwrap();
    assert_eq!(run_in(dir.path(), &sweep, &ids).unwrap(), ids.len() - 3);
    assert_eq!(fs::read_to_string(dir.path().join(RESULTS)).unwrap(), text(&sweep, &ids, 1));
}

#[test]
fn a_file_that_ends_in_its_header_holds_nothing() {
    let (sweep, dir) = (sweep(1), tempfile::tempdir().unwrap());
    for start in ["", "{\"skyhaul_res"] {
        fs::write(dir.path().join(PARTIAL), start).unwrap();
        assert_eq!(Folder::open(dir.path(), sweep.header()).unwrap().runs().len(), 0);
    }
    let ids = all(&sweep);
    run_in(dir.path(), &sweep, &ids).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join(RESULTS)).unwrap(), text(&sweep, &ids, 1));
}

#[test]
fn more_replications_add_to_those_that_are_there() {
    let (few, many, dir) = (sweep(1), sweep(3), tempfile::tempdir().unwrap());
    run_in(dir.path(), &few, &all(&few)).unwrap();
    run_in(dir.path(), &many, &all(&many)[..2]).unwrap();
    assert_eq!(run_in(dir.path(), &many, &all(&many)).unwrap(), 4 * 2 - 1);
    assert_eq!(fs::read_to_string(dir.path().join(RESULTS)).unwrap(), text(&many, &all(&many), 1));
    let error = Folder::open(dir.path(), few.header()).unwrap_err();
    assert!(error.0.contains("3 replications, 1 are asked for"), "{error}");
}

#[test]
fn results_of_another_sweep_are_kept_and_the_difference_told() {
    let (own, dir) = (sweep(1), tempfile::tempdir().unwrap());
    run_in(dir.path(), &own, &all(&own)).unwrap();
    let before = fs::read(dir.path().join(RESULTS)).unwrap();
    for (key, value, words) in [
        ("run.seed", "6", "first seed (5 there, 6 here)"),
        ("links.space.forward.delay", "30ms", "what the scenario says"),
        ("sweep.\"links.space.forward.loss\"", "[0, 0.03]", "axes ("),
        ("metrics.wanted", "[\"events\"]", "metrics ( there, events here)"),
    ] {
        let other = Sweep::new(file(1).with(&[(key.into(), value.into())]).unwrap()).unwrap();
        let error = Folder::open(dir.path(), other.header()).unwrap_err();
        assert!(error.0.contains(words) && error.0.contains("another --out"), "{error}");
    }
    assert_eq!(fs::read(dir.path().join(RESULTS)).unwrap(), before);
}

#[test]
fn a_folder_in_use_is_refused() {
    let (sweep, dir) = (sweep(1), tempfile::tempdir().unwrap());
    let first = Folder::open(dir.path(), sweep.header()).unwrap();
    let error = Folder::open(dir.path(), sweep.header()).unwrap_err();
    assert!(error.0.contains("another sweep is writing"), "{error}");
    drop(first);
    assert!(Folder::open(dir.path(), sweep.header()).is_ok());
}

#[test]
fn damaged_files_are_named_with_the_line() {
    let (sweep, dir) = (sweep(1), tempfile::tempdir().unwrap());
    let header = sweep.header().line();
    let run = "{\"point\":0,\"replication\":0}\n";
    for (text, words) in [
        (format!("{header}rubbish\n"), "line 2: this is no run"),
        (format!("{header}{run}{run}"), "line 3: point 0 replication 0 stands there twice"),
        (
            format!("{header}{{\"point\":9,\"replication\":0}}\n"),
            "point 9 replication 0 is no run of this sweep",
        ),
        ("hello\n".to_string(), "line 1: this is no header"),
        (header.replace("results\":1", "results\":2"), "line 1: this is no header"),
    ] {
        fs::write(dir.path().join(PARTIAL), text).unwrap();
        let error = Folder::open(dir.path(), sweep.header()).unwrap_err();
        assert!(error.0.contains(words) && error.0.contains(PARTIAL), "{error}");
    }
}

#[test]
fn time_series_and_ladders_have_a_file_for_each_run() {
    let every = [("metrics.series", "50ms"), ("metrics.ladder", "true")];
    let every = every.map(|(key, value)| (key.to_string(), value.to_string()));
    let (sweep, dir) = (Sweep::new(file(1).with(&every).unwrap()).unwrap(), tempfile::tempdir().unwrap());
    run_in(dir.path(), &sweep, &all(&sweep)).unwrap();
    let path = dir.path().join(SERIES).join("point-2-replication-0.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["point"], &first["t_s"]), (&2.into(), &0.05.into()));
    assert!(first["metrics"]["flows.file.goodput_bps"].is_number(), "{first}");
    let ladder = dir.path().join(LADDERS).join("point-3-replication-0.jsonl");
    assert!(fs::read_to_string(ladder).unwrap().contains("\"arrived_s\":"));
}
