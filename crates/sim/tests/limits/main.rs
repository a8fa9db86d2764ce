//! What held transfers back, where that is known: others on the path, or nobody. Example `limits` prints it
//! for every path.

mod cells;
#[allow(dead_code, reason = "tests of verdicts use the rest")]
#[path = "../verdicts/neighbours.rs"]
mod neighbours;

use cells::{Cell, alone, shared, total_ms};
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
