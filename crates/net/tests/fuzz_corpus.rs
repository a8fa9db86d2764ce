//! Replays what the fuzz target `envelope` starts from, so that an ordinary `cargo test` meets it, too.

use std::fs;
use std::path::Path;

use skyhaul_net::{Protection, fuzz};

#[test]
fn envelope() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/envelope");
    let entries = fs::read_dir(&corpus).expect("the corpus is part of the repository");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    let mut outcomes = Vec::new();
    for file in files {
        println!("{}", file.display());
        let mut bytes = fs::read(&file).expect("it can be read");
        fuzz::envelope(&bytes);
        let outcome = Protection::Plain.open(&mut bytes).map(|_| ()).map_err(|error| error.to_string());
        outcomes.push(outcome);
    }
    outcomes.sort();
    outcomes.dedup();
    assert!(outcomes.len() >= 7, "a body and every kind of refusal: {outcomes:?}");
}
