//! Verdicts of a sender beside what the links really did, over the paths of `tests/verdicts/matrix.rs`:
//! packets judged lost by cause, and the share of those with a verdict that have the right one.
//! `cargo run --release -p skyhaul-sim --example verdicts -- [--seeds N] [--seconds N] [--keys TOML]
//! [--wrong PERCENT]`. `--keys`: of the transport, as `rate = "10Mbit/s"`; `--wrong`: only rows with a
//! lower share; `--only TEXT`: rows whose name contains it.

#[path = "../tests/verdicts/matrix.rs"]
mod matrix;
#[path = "../benches/support/mod.rs"]
mod support;

use matrix::{Cell, NOISES, PATHS, RIVALS, STARTS, score, sum};
use skyhaul_sim::Confusion;
use support::{argument, text};

/// Queues, in percent of the bandwidth-delay product.
const QUEUES: [u32; 3] = [10, 100, 300];

fn row(name: &str, confusion: &Confusion) {
    let (judged, right, unknown) = score(confusion);
    let cause = |row: &[u64; 4]| format!("{:>6} {:>6} {:>5} {:>6}", row[0], row[1], row[2], row[3]);
    println!(
        "{name:<34} {:.3} of {judged:>6}, unknown {unknown:>6} | {} | {} | {}",
        right as f64 / judged.max(1) as f64,
        cause(&confusion[0]),
        cause(&confusion[1]),
        cause(&confusion[3]),
    );
}

fn main() {
    let (seeds, seconds) = (argument("--seeds").unwrap_or(1), argument("--seconds").unwrap_or(60) as u32);
    let keys: &'static str = text("--keys").unwrap_or_default().leak();
    let below = argument("--wrong").unwrap_or(101) as f64 / 100.0;
    let only = text("--only");
    let columns = "right of those judged, unknown | full queue: congestion, corruption, outage, unknown";
    println!("{:<34} {columns} | damage | not lost", "");
    for noise in NOISES {
        let mut all = Confusion::default();
        for path in PATHS {
            for rivals in RIVALS {
                for queue_percent in QUEUES {
                    for start in STARTS {
                        if rivals.2 == 0 && start != "0s" {
                            continue;
                        }
                        let cell = Cell { path, noise, rivals, queue_percent, start, keys };
                        let name =
                            format!("{} {} {} {queue_percent} % {start}", path.name, noise.0, rivals.0);
                        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                            continue;
                        }
                        let runs = (1..=seeds).map(|seed| cell.confusion(seed, seconds));
                        let found = runs.fold(Confusion::default(), |all, one| sum(all, &one));
                        let (judged, right, _) = score(&found);
                        if (right as f64) < below * judged as f64 {
                            row(&name, &found);
                        }
                        all = sum(all, &found);
                    }
                }
            }
        }
        row(&format!("all, {}", noise.0), &all);
    }
}
