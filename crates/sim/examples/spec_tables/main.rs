//! Prints the measurements of `docs/spec/stp-reasons.md`, sections 6.4, 6.5 and 13: medians over 10 seeds in
//! virtual time. `cargo run --release -p skyhaul-sim --example spec_tables` (`-- --tail`, `-- --probing`:
//! only these).

mod elsewhere;
#[path = "../../benches/probing/observer.rs"]
#[expect(dead_code, reason = "of the times of packets only the benchmark speaks")]
mod observer;
mod probing;

use skyhaul_core::NullSink;
use skyhaul_link::preset;
use skyhaul_sim::{Outcome, Transfer};
use skyhaul_stp::Config;

/// Change of a run's configuration.
type Change = fn(&mut Config);

const RATE_BPS: u64 = 10_000_000;
const SEEDS: u64 = 10;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

/// One transfer for each seed: both ends with `change`, the return channel at `return_bps` if given.
fn outcomes(link: &str, bytes: u64, return_bps: Option<u64>, change: Change) -> Vec<Outcome> {
    let one = |seed| {
        let mut config = preset(link).ok_or_else(|| format!("no link called {link}"))?;
        config.reverse.rate_bps = return_bps.or(config.reverse.rate_bps);
        let mut transfer = Transfer::new(config, seed, bytes).with_rate(RATE_BPS);
        change(&mut transfer.sender);
        change(&mut transfer.receiver);
        transfer.run(&mut NullSink).map_err(|e| e.to_string())
    };
    (1..=SEEDS).filter_map(|seed| one(seed).map_err(|why| println!("{why}")).ok()).collect()
}

fn share(outcomes: &[Outcome]) -> f64 {
    median(outcomes.iter().filter_map(Outcome::share).collect())
}

fn sent_per_payload(outcomes: &[Outcome]) -> f64 {
    median(outcomes.iter().map(|o| o.sender.sent_bytes as f64 / o.bytes as f64).collect())
}

fn tail() {
    println!(
        "| link | payload | share, off | repeats | coded | sent / payload, off | repeats | coded | symbols |"
    );
    for link in ["geo-noisy", "geo-noisy-thin"] {
        for megabytes in [1, 10, 20, 100] {
            let of = |change: Change| outcomes(link, megabytes * 1_000_000, None, change);
            let off = of(|config| (config.idle_repeat, config.coded_tail) = (false, false));
            let repeats = of(|config| config.coded_tail = false);
            let coded = of(|_| ());
            let symbols = median(coded.iter().map(|o| o.sender.repair_packets as f64).collect());
            println!(
                "| {link} | {megabytes} MB | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {symbols:.0} |",
                share(&off),
                share(&repeats),
                share(&coded),
                sent_per_payload(&off),
                sent_per_payload(&repeats),
                sent_per_payload(&coded),
            );
        }
    }
}

/// Table of the tail where nothing is declared, down to short exchanges.
fn undeclared_tail() {
    println!(
        "| payload | share, repeats | coded | sent / payload, repeats | coded | took, repeats | coded |"
    );
    for kilobytes in [10, 100, 1_000, 10_000, 20_000] {
        let of = |change: Change| outcomes("geo-noisy", kilobytes * 1000, None, change);
        let repeats = of(|config| (config.rate_bps, config.coded_tail) = (None, false));
        let coded = of(|config| config.rate_bps = None);
        let took = |all: &[Outcome]| median(all.iter().map(|o| o.elapsed_ns as f64 / 1e9).collect());
        println!(
            "| {kilobytes} kB | {:.3} | {:.3} | {:.3} | {:.3} | {:.2} s | {:.2} s |",
            share(&repeats),
            share(&coded),
            sent_per_payload(&repeats),
            sent_per_payload(&coded),
            took(&repeats),
            took(&coded),
        );
    }
}

fn thin_return() {
    println!("| return | parameters | share | octets back per MB |");
    let rows: [(&str, Change); 7] = [
        ("`default`", |_| ()),
        ("`incremental_stats` false", |config| config.incremental_stats = false),
        ("`spares_ustats` false", |config| config.spares_ustats = false),
        ("the same, no USTAT budget", |config| {
            config.spares_ustats = false;
            config.ustats_per_poll = None;
        }),
        ("`spares_stats` false", |config| config.spares_stats = false),
        ("`polls_per_slow_rtt` 3", |config| config.polls_per_slow_rtt = 3),
        ("none of them", |config| {
            (config.incremental_stats, config.spares_ustats, config.spares_stats) = (false, false, false);
            config.ustats_per_poll = None;
            config.polls_per_slow_rtt = 3;
        }),
    ];
    let returns =
        [10_000, 4_000, 1_000].into_iter().flat_map(|bps| rows.map(|(name, change)| (bps, name, change)));
    for (return_bps, name, change) in returns {
        let all = outcomes("geo-noisy-thin", 20_000_000, Some(return_bps), change);
        let back = median(all.iter().map(|o| o.receiver.sent_bytes as f64 * 1e6 / o.bytes as f64).collect());
        println!("| {} kbit/s | {name} | {:.3} | {back:.0} |", return_bps / 1000, share(&all));
    }
}

fn main() {
    if std::env::args().any(|arg| arg == "--tail") {
        tail();
        return undeclared_tail();
    }
    if std::env::args().any(|arg| arg == "--thin") {
        return thin_return();
    }
    if !std::env::args().any(|arg| arg == "--probing") {
        tail();
        undeclared_tail();
        thin_return();
    }
    probing::print();
    elsewhere::print();
}
