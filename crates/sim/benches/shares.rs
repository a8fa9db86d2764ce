//! Share of the physical limit on the built-in links, medians over seeds, in virtual time:
//! `cargo bench -p skyhaul-sim --bench shares [-- --seeds N --quick]`. The figures of docs/guide/results.md
//! come from here.

mod support;

use skyhaul_core::NullSink;
use skyhaul_link::preset;
use skyhaul_sim::{Outcome, Transfer};
use support::{argument, flag, median};

const RATE_BPS: u64 = 10_000_000;

fn row(link: &str, bytes: u64, rate: Option<u64>, seeds: u64) {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for seed in 1..=seeds {
        let Some(config) = preset(link) else { panic!("no link called {link}") };
        let mut transfer = Transfer::new(config, seed, bytes);
        if let Some(rate_bps) = rate {
            transfer = transfer.with_rate(rate_bps);
        }
        match transfer.run(&mut NullSink) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => println!("{link} seed {seed}: {error}"),
        }
    }
    if outcomes.is_empty() {
        return;
    }
    let of = |figure: &dyn Fn(&Outcome) -> f64| median(outcomes.iter().map(figure).collect());
    let whole = |o: &Outcome| {
        // The stricter reading: the last one-way delay counts, too.
        o.share().unwrap_or(0.0) * (o.elapsed_ns as f64 - 275e6) / o.elapsed_ns as f64
    };
    let lowest = outcomes.iter().filter_map(Outcome::share).fold(f64::MAX, f64::min);
    println!(
        "{link:<15} {:>4} MB {:<9} share {:.3} (min {lowest:.3}, with the last one-way delay {:.3})  goodput {:>5.2} Mbit/s  sent/payload {:.3}  back {:>6.0} B/MB  repeats {:.0}",
        bytes / 1_000_000,
        if rate.is_some() { "declared" } else { "-" },
        of(&|o| o.share().unwrap_or(0.0)),
        of(&whole),
        of(&|o| o.goodput_bps() / 1e6),
        of(&|o| o.sender.sent_bytes as f64 / o.bytes as f64),
        of(&|o| o.receiver.sent_bytes as f64 * 1e6 / o.bytes as f64),
        of(&|o| o.sender.idle_repeats as f64),
    );
}

fn main() {
    let quick = flag("--quick");
    let seeds = argument("--seeds").unwrap_or(if quick { 3 } else { 10 });
    for link in ["geo", "geo-noisy", "thin-return", "geo-noisy-thin"] {
        for megabytes in [20, 100] {
            if !(quick && megabytes == 100) {
                row(link, megabytes * 1_000_000, Some(RATE_BPS), seeds);
            }
        }
    }
    for link in ["geo", "geo-noisy", "thin-return"] {
        let bytes = if link == "geo-noisy" && quick { 2_000_000 } else { 20_000_000 };
        row(link, bytes, None, seeds.min(10));
    }
}
