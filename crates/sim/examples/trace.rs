//! Prints the last events of a simulated transfer:
//! `cargo run -p skyhaul-sim --example trace -- LINK SEED BYTES [RATE] [LAST]`.

use skyhaul_core::{Instant, SECOND, units};
use skyhaul_link::preset;
use skyhaul_sim::{Source, Transfer};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let name = args.first().map_or("geo", String::as_str);
    let Some(link) = preset(name) else { return eprintln!("no link called {name}") };
    let mut transfer = Transfer::new(link, number(1, 1), number(2, 1_000_000));
    if let Some(rate_bps) = args.get(3).and_then(|r| units::parse_rate_bps(r).ok()) {
        transfer = transfer.with_rate(rate_bps);
    }
    transfer.max_ns = 1000 * SECOND;
    let mut events: Vec<(Instant, Source, skyhaul_core::Event)> = Vec::new();
    let result = transfer.run(&mut events);
    let last = number(4, 40) as usize;
    for (at, source, event) in &events[events.len().saturating_sub(last)..] {
        println!("{at:?} {source} {event:?}");
    }
    println!("{result:#?}");
}
