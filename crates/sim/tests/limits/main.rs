//! What held transfers back, where that is known: others on the path, or nobody. Example `limits` prints it
//! for every path.

mod cells;
#[allow(dead_code, reason = "tests of verdicts use the rest")]
#[path = "../verdicts/neighbours.rs"]
mod neighbours;

use cells::{Cell, alone, shared, total_ms};
use neighbours::{Beside, Other};
use skyhaul_core::Limit;

/// Every so many-th of the paths is tried: that meets each neighbour on several.
const STRIDE: usize = 11;

/// Transfers that others held back, and those of them of which that is said.
fn named(cells: impl Iterator<Item = Cell>) -> (usize, usize, Vec<String>) {
    let (mut held, mut wrong) = (0, Vec::new());
    for cell in cells {
        let run = cell.beside.run(0, 1);
        if cell.is_held_back(&run) {
            held += 1;
            if run.first() != Limit::Neighbour {
                wrong.push(format!("{}: {run:?}", cell.name));
            }
        }
    }
    (held, held - wrong.len(), wrong)
}

#[test]
fn others_who_were_there_first_are_named_first_in_nine_cases_of_ten() {
    let (held, right, wrong) = named(shared().filter(|cell| cell.is_seen).step_by(STRIDE));
    assert!(held >= 15 && right * 10 >= held * 9, "{right} of {held}: {wrong:#?}");
}

#[test]
fn where_nobody_is_nobody_is_named() {
    let quiet = |cell: &Cell| cell.name.starts_with("clean") || cell.name.starts_with("1 %");
    for cell in alone().filter(quiet).step_by(STRIDE) {
        let run = cell.beside.run(0, 1);
        let neighbour_ms = run.spent_ms(Limit::Neighbour);
        assert_eq!(run.first(), Limit::PathRate, "{}: {run:?}", cell.name);
        assert!(neighbour_ms * 100 <= 3 * total_ms(&run), "{neighbour_ms} ms, {}: {run:?}", cell.name);
    }
}

/// Its own queue takes twice its length to empty, and trains of before show the rate of before.
#[test]
fn nobody_is_named_where_the_path_carries_a_tenth_of_what_it_did() {
    let near = [("50ms", "125000B"), ("50ms", "250000B"), ("10ms", "25000B")];
    let far = ["69000B", "687500B", "1375000B"].map(|queue| ("275ms", queue));
    for (delay, queue) in near.into_iter().chain(far) {
        let beside = Beside {
            rate_kbps: 10_000,
            delay,
            queue,
            noise: "",
            bytes: 7_000_000,
            start_ms: 0,
            other: Other::Nobody,
            other_ms: 0,
        };
        for seed in 1..=3 {
            let run = beside.run_falling(0, seed, Some((5_000, 1_000)));
            let (neighbour_ms, all_ms) = (run.spent_ms(Limit::Neighbour), total_ms(&run));
            assert!(neighbour_ms * 100 <= 3 * all_ms, "{neighbour_ms} ms, {delay} {queue}: {run:?}");
        }
    }
}
