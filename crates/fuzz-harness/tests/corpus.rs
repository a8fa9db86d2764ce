//! Replays what the fuzzers found interesting, so that an ordinary `cargo test` meets it, too.

use std::fs;
use std::path::Path;

use skyhaul_fuzz_harness as harness;
use skyhaul_net::Protection;

/// Files of a target's corpus in order; each name is printed, so that a panic has one.
fn corpus(target: &str) -> impl Iterator<Item = Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&corpus).expect("the corpus is part of the repository");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    files.into_iter().map(|file| {
        println!("{}", file.display());
        fs::read(&file).expect("it can be read")
    })
}

/// Runs every file of a target's corpus.
fn replay(target: &str, run: fn(&[u8])) {
    let files = corpus(target).map(|bytes| run(&bytes)).count();
    assert!(files > 20, "{files} files of {target}");
}

#[test]
fn segment_decode() {
    replay("segment_decode", harness::segment_decode);
}

#[test]
fn stpp_pdu() {
    replay("stpp_pdu", harness::stpp_pdu);
}

#[test]
fn utl() {
    replay("utl", harness::utl);
}

#[test]
fn connection() {
    replay("connection", harness::connection);
}

#[test]
fn tcp_segment() {
    replay("tcp_segment", harness::tcp_segment);
}

#[test]
fn tcp_connection() {
    replay("tcp_connection", harness::tcp_connection);
}

#[test]
fn tcp_openings() {
    replay("tcp_openings", harness::tcp_openings);
}

#[test]
fn tcp_options() {
    replay("tcp_options", harness::tcp_options);
}

#[test]
fn scps_compressed() {
    replay("scps_compressed", harness::scps_compressed);
}

#[test]
fn envelope() {
    let outcome = |mut bytes: Vec<u8>| {
        harness::envelope(&bytes);
        Protection::Plain.open(&mut bytes).map(|_| ()).map_err(|error| error.to_string())
    };
    let mut outcomes: Vec<_> = corpus("envelope").map(outcome).collect();
    outcomes.sort();
    outcomes.dedup();
    assert!(outcomes.len() >= 7, "a body and every kind of refusal: {outcomes:?}");
}

#[test]
fn coding() {
    replay("coding", harness::coding);
}

#[test]
fn file_records() {
    replay("file_records", harness::file_records);
}

#[test]
fn record() {
    replay("record", harness::record);
}

#[test]
fn pairing() {
    replay("pairing", harness::pairing);
}

#[test]
fn association() {
    replay("association", harness::association);
}
