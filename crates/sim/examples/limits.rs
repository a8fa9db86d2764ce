//! What held transfers back, over the paths of `tests/limits/cells.rs`, beside others and alone: seconds by
//! limit. `cargo run -p skyhaul-sim --example limits -- [--only TEXT] [--wrong 1] [--part N --of M]`.
//! `--wrong`: only where others are not first, or where nobody is and others are named; `--part`: every
//! M-th of the paths.
#![allow(dead_code)]

#[path = "../tests/limits/cells.rs"]
mod cells;
#[path = "../tests/verdicts/neighbours.rs"]
mod neighbours;
#[path = "../benches/support/mod.rs"]
mod support;

use cells::Cell;
use neighbours::Run;
use skyhaul_core::Limit;
use support::{argument, flag, text};

/// Limits that a transfer without end may have.
const SHOWN: [Limit; 9] = [
    Limit::Neighbour,
    Limit::PathRate,
    Limit::Losses,
    Limit::Overflow,
    Limit::Opening,
    Limit::Outage,
    Limit::Drained,
    Limit::PeerWindow,
    Limit::SendBuffer,
];

fn row(name: &str, run: &Run) {
    let spent = SHOWN.map(|limit| format!("{:>6.2}", run.spent_ms(limit) as f64 / 1e3));
    let total_s = cells::total_ms(run) as f64 / 1e3;
    let first = format!("{:?}", run.first());
    println!("{name:<44} {first:<10} {} {total_s:>6.2} {:?}", spent.join(" "), run.confusion[0]);
}

fn sweep(cells: impl Iterator<Item = Cell>, are_shared: bool) {
    let only = text("--only").unwrap_or_default();
    let (part, of) = (argument("--part").unwrap_or(0), argument("--of").unwrap_or(1));
    let (mut all, mut first) = (0, 0);
    for (_, cell) in (0..).zip(cells).filter(|(at, _)| at % of == part) {
        if !cell.name.contains(&only) {
            continue;
        }
        let run = cell.beside.run(0, 1);
        if are_shared && !cell.is_held_back(&run) {
            continue;
        }
        let is_first = run.first() == Limit::Neighbour;
        (all, first) = (all + 1, first + u32::from(is_first));
        let is_wrong = if are_shared { !is_first } else { run.spent_ms(Limit::Neighbour) > 0 };
        if is_wrong || !flag("--wrong") {
            row(&cell.name, &run);
        }
    }
    println!("others are first in {first} of {all}");
}

fn main() {
    println!("{:<44} {:<10} {}", "", "first", SHOWN.map(|limit| format!("{limit:?}")).join(" "));
    if !flag("--alone") {
        sweep(cells::shared(), true);
    }
    if !flag("--shared") {
        sweep(cells::alone(), false);
    }
}
