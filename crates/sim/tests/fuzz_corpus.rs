//! Replays what the fuzzers found interesting, so that an ordinary `cargo test` meets it, too.

use std::fs;
use std::path::Path;

use skyhaul_sim::fuzz;

/// Runs every file of a target's corpus; the names are printed so that a panic has one.
fn replay(target: &str, run: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&corpus).expect("the corpus is part of the repository");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    assert!(files.len() > 20, "{} files in {}", files.len(), corpus.display());
    for file in files {
        println!("{}", file.display());
        run(&fs::read(&file).expect("it can be read"));
    }
}

#[test]
fn segment_decode() {
    replay("segment_decode", fuzz::segment_decode);
}

#[test]
fn connection() {
    replay("connection", fuzz::connection);
}

#[test]
fn tcp_segment() {
    replay("tcp_segment", fuzz::tcp_segment);
}

#[test]
fn tcp_connection() {
    replay("tcp_connection", fuzz::tcp_connection);
}

#[test]
fn tcp_options() {
    replay("tcp_options", fuzz::tcp_options);
}
