//! Openings of TCP with data, and pairs with routers that say anything, beyond the corpus: files of it
//! joined, cut and changed, and drawn bytes.
//! `SKYHAUL_MUTATIONS=100000 cargo test --release -p skyhaul-fuzz-harness --test mutations` is a large dose.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use skyhaul_core::Stream;
use skyhaul_fuzz_harness as harness;

/// Runs of each target where nothing else is said.
const RUNS: u64 = 300;
const MAX_BYTES: usize = 1500;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).expect("the corpus is part of the repository");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("it can be read")).collect()
}

/// Parts of two files, or drawn bytes, with some bytes changed.
fn mutated(corpus: &[Vec<u8>], random: &mut Stream) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(3) {
        let file = &corpus[random.below(corpus.len() as u64) as usize];
        let from = if bytes.is_empty() { 0 } else { random.below(file.len() as u64 + 1) as usize };
        bytes.extend_from_slice(&file[from..]);
        if random.below(3) == 0 {
            bytes.extend((0..random.below(60)).map(|_| random.next_u64() as u8));
        }
    }
    bytes.truncate(MAX_BYTES);
    for _ in 0..random.below(bytes.len() as u64 / 8 + 2) {
        let at = random.below(bytes.len().max(1) as u64) as usize;
        if let Some(byte) = bytes.get_mut(at) {
            *byte = random.next_u64() as u8;
        }
    }
    bytes
}

fn run(target: &str, one: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    let runs = std::env::var("SKYHAUL_MUTATIONS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let corpus = corpus(target);
    let mut random = Stream::new(runs, target);
    for number in 0..runs {
        let bytes = mutated(&corpus, &mut random);
        assert!(catch_unwind(|| one(&bytes)).is_ok(), "run {number} of {target}: {bytes:02x?}");
    }
    println!("{runs} runs of {target} from {} files", corpus.len());
}

#[test]
fn tcp_openings() {
    run("tcp_openings", harness::tcp_openings);
}

#[test]
fn tcp_options() {
    run("tcp_options", harness::tcp_options);
}

#[test]
fn tcp_connection() {
    run("tcp_connection", harness::tcp_connection);
}

/// Words that routers say, and that others forge, keep nothing from arriving; some are believed.
#[test]
fn pairs_of_scps_tp_with_signals() {
    let believed = AtomicU64::new(0);
    run("tcp_connection", |bytes| {
        let (_, operations) = bytes.split_at(bytes.len().min(1));
        believed.fetch_add(harness::scps_pair(operations), Relaxed);
    });
    let believed = believed.into_inner();
    println!("{believed} words of routers were believed");
    assert!(believed > 0);
}
