//! Transfers alone over jittered paths (`tests/jitter/cells.rs`): share of the path's rate, seconds by limit,
//! and the share of TCP with CUBIC. `cargo run -p skyhaul-sim --example jitter -- [--seeds N] [--rtt MS]
//! [--jitter MS] [--rate MBPS] [--cubic 1]`
#![allow(dead_code)]

#[path = "../tests/jitter/cells.rs"]
mod cells;
#[path = "../benches/support/mod.rs"]
mod support;

use cells::{Cell, Run};
use skyhaul_core::Limit;
use support::{argument, flag, median};

/// Limits that are shown.
const SHOWN: [Limit; 3] = [Limit::Neighbour, Limit::PathRate, Limit::Losses];

fn row(cell: &Cell, runs: &[Run], cubic: Option<f64>) {
    let of = |figure: &dyn Fn(&Run) -> f64| median(runs.iter().map(figure).collect());
    let part = |limit: Limit| of(&|run| run.limits.spent_ns(limit) as f64 / 1e6 / run.elapsed_ms as f64);
    let most = |limit: Limit| {
        let part = |run: &Run| run.limits.spent_ns(limit) as f64 / 1e6 / run.elapsed_ms as f64;
        runs.iter().map(part).fold(0.0, f64::max)
    };
    let least = runs.iter().map(|run| run.share).fold(f64::INFINITY, f64::min);
    let spent = SHOWN.map(|limit| format!("{:>6.3}", part(limit)));
    println!(
        "{:>4} {:>4} {:>3} {:<9} {:.3} {least:.3} cubic {} {} most {:.3} wait {:>6.1}",
        cell.rate_mbps,
        cell.rtt_ms,
        cell.jitter_ms,
        if cell.is_reordered { "reordered" } else { "" },
        of(&|run| run.share),
        cubic.map_or("-    ".to_string(), |share| format!("{share:.3}")),
        spent.join(" "),
        most(Limit::Neighbour),
        of(&|run| run.waited_ms),
    );
}

fn main() {
    let seeds: u64 = argument("--seeds").unwrap_or(5);
    let (rate, rtt, jitter) = (argument("--rate"), argument("--rtt"), argument("--jitter"));
    println!("Mbit/s RTT jitter ms, share, least, {SHOWN:?}, waiting ms");
    let is_wanted = |cell: &Cell| {
        rate.is_none_or(|rate| rate == u64::from(cell.rate_mbps))
            && rtt.is_none_or(|rtt| rtt == u64::from(cell.rtt_ms))
            && jitter.is_none_or(|jitter| jitter == u64::from(cell.jitter_ms))
    };
    for cell in cells::cells().filter(is_wanted) {
        let runs: Vec<Run> = (1..=seeds).map(|seed| cell.ours(seed)).collect();
        let cubic = || median((1..=seeds).map(|seed| cell.cubic(seed).share).collect());
        row(&cell, &runs, flag("--cubic").then(cubic));
    }
}
