//! Shards become one file.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::sweep_tests::{sweep, text};
use super::*;

/// Folders with these runs.
fn shards(sweep: &Sweep, parts: &[&[usize]]) -> (TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let ids: Vec<RunId> = sweep.runs(None).collect();
    let mut folders = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let folder = dir.path().join(number.to_string());
        fs::create_dir(&folder).unwrap();
        let part: Vec<RunId> = part.iter().map(|&index| ids[index]).collect();
        fs::write(folder.join(RESULTS), text(sweep, &part, 1)).unwrap();
        folders.push(folder);
    }
    (dir, folders)
}

#[test]
fn merged_shards_are_the_whole_sweep_to_the_byte() {
    let sweep = sweep(1);
    let (dir, folders) = shards(&sweep, &[&[1, 3], &[0, 2]]);
    let out = dir.path().join("out");
    merge(&folders, &out).unwrap();
    let whole = text(&sweep, &sweep.runs(None).collect::<Vec<_>>(), 1);
    assert_eq!(fs::read_to_string(out.join(RESULTS)).unwrap(), whole);
    let again = merge(&folders, &out).unwrap_err();
    assert!(again.0.contains("results already"), "{again}");
}

#[test]
fn what_is_missing_or_double_is_told_by_number() {
    let sweep = sweep(1);
    let (dir, folders) = shards(&sweep, &[&[1], &[0]]);
    let error = merge(&folders, &dir.path().join("out")).unwrap_err();
    assert!(error.0.contains("no shard has: point 2 replication 0, point 3 replication 0"), "{error}");
    assert!(!dir.path().join("out").exists(), "nothing is written");
    let (dir, folders) = shards(&sweep, &[&[0, 1, 2], &[2, 3]]);
    let error = merge(&folders, &dir.path().join("out")).unwrap_err();
    assert!(error.0.contains("in two shards: point 2 replication 0 ("), "{error}");
    let path = folders[1].join(RESULTS);
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("\"elapsed_s\":", "\"elapsed_s\":9"))
        .unwrap();
    let error = merge(&folders, &dir.path().join("out")).unwrap_err();
    assert!(error.0.contains("different results") && error.0.contains("point 2 replication 0"), "{error}");
}

#[test]
fn shards_of_other_sweeps_or_incomplete_ones_are_refused() {
    let (one, other) = (sweep(1), sweep(2));
    let (dir, mut folders) = shards(&one, &[&[0, 1]]);
    let (_dir, others) = shards(&other, &[&[5]]);
    folders.extend(others);
    let error = merge(&folders, &dir.path().join("out")).unwrap_err();
    assert!(error.0.contains("different sweeps: replications (2 there, 1 here)"), "{error}");
    fs::rename(folders[0].join(RESULTS), folders[0].join(PARTIAL)).unwrap();
    let error = merge(&folders, &dir.path().join("out")).unwrap_err();
    assert!(error.0.contains("is not complete"), "{error}");
    let error = merge(&[dir.path().to_path_buf()], &dir.path().join("out")).unwrap_err();
    assert!(error.0.contains("no results.jsonl"), "{error}");
}
