//! Effects of probing: shares on links that come and go, how soon the end of an outage is found and
//! at what price, and how often the verdicts are right.
//! `cargo bench -p skyhaul-sim --bench probing [-- --seeds N --quick]`, in virtual time.

mod observer;
#[path = "../support/mod.rs"]
mod support;

use observer::{Observer, SentPacket};
use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{Conditions, Outage, preset};
use skyhaul_sim::{Outcome, Transfer};
use support::{argument, flag, median};

const RATE_BPS: u64 = 10_000_000;
const BYTES: u64 = 10_000_000;

/// One measured transfer and what became of its packets.
struct Run {
    outcome: Outcome,
    observer: Observer,
    outages: Vec<Outage>,
}

fn run(link: &str, seed: u64, bytes: u64, rate_bps: Option<u64>, probing: bool) -> Option<Run> {
    let config = preset(link)?;
    let mut transfer = Transfer::new(config.clone(), seed, bytes).with_probing(probing);
    if let Some(rate_bps) = rate_bps {
        transfer = transfer.with_rate(rate_bps);
    }
    let mut observer = Observer::default();
    match transfer.run(&mut observer) {
        Ok(outcome) => {
            let end = Instant::from_ns(outcome.confirmed_ns);
            let outages = Conditions::new(&config, seed).ok()?.outages(Instant::ZERO, end);
            Some(Run { outcome, observer, outages })
        }
        Err(error) => {
            println!("{link}: {error}");
            None
        }
    }
}

fn shares(link: &str, rate_bps: Option<u64>, seeds: u64) {
    for probing in [true, false] {
        let runs: Vec<Run> =
            (1..=seeds).filter_map(|seed| run(link, seed, BYTES, rate_bps, probing)).collect();
        let of = |f: &dyn Fn(&Outcome) -> f64| runs.iter().map(|r| f(&r.outcome)).collect::<Vec<f64>>();
        let shares = of(&|o| o.share().unwrap_or(0.0));
        let each: Vec<String> = shares.iter().map(|share| format!("{share:.3}")).collect();
        println!(
            "{link:<12} {} probing {}  share {:.3}  sent/payload {:.3}  back {:>5.0} B/MB  seeds {}",
            if rate_bps.is_some() { "declared  " } else { "undeclared" },
            if probing { "on " } else { "off" },
            median(shares.clone()),
            median(of(&|o| o.sender.sent_bytes as f64 / o.bytes as f64)),
            median(of(&|o| o.receiver.sent_bytes as f64 * 1e6 / o.bytes as f64)),
            each.join(" "),
        );
    }
}

/// Shorter contacts let no question and its answer through: the longest round trip of these links.
const ROUND_TRIP_NS: u64 = 300 * MS;

/// The ends of outages that had a use: new data was left to send, and the next outage did not begin within
/// a round trip.
fn ends(run: &Run) -> impl Iterator<Item = Instant> {
    let last_new = run.observer.sent.iter().rev().find(|s| s.is_new).map_or(Instant::ZERO, |s| s.at);
    let nexts = run.outages.iter().skip(1).map(|o| o.from).chain([Instant::MAX]);
    let contacts = run.outages.iter().map(|o| o.to).zip(nexts);
    contacts
        .filter(move |&(end, next)| end < last_new && next.since(end) >= ROUND_TRIP_NS)
        .map(|(end, _)| end)
}

/// How long after each of them a packet of this kind was first sent, in ms.
fn delays_ms(run: &Run, kind: impl Fn(&SentPacket) -> bool) -> Vec<f64> {
    let first = |end: Instant| run.observer.sent.iter().find(|s| s.at >= end && kind(s));
    ends(run).filter_map(|end| first(end).map(|s| s.at.since(end) as f64 / 1e6)).collect()
}

/// Bytes sent during outages: without and with data; and the seconds of outage.
fn spent(run: &Run) -> (f64, f64, f64) {
    let is_down = |at: Instant| run.outages.iter().any(|o| o.from <= at && at < o.to);
    let down: Vec<&SentPacket> = run.observer.sent.iter().filter(|s| is_down(s.at)).collect();
    let bytes =
        |data: bool| down.iter().filter(|s| s.has_data == data).map(|s| f64::from(s.wire_bytes)).sum();
    let seconds = run.outages.iter().map(|o| o.to.since(o.from) as f64 / SECOND as f64).sum();
    (bytes(false), bytes(true), seconds)
}

fn outages(link: &str, rate_bps: Option<u64>, seeds: u64) {
    for probing in [true, false] {
        let runs: Vec<Run> =
            (1..=seeds).filter_map(|seed| run(link, seed, BYTES, rate_bps, probing)).collect();
        let all = |kind: fn(&SentPacket) -> bool| {
            runs.iter().flat_map(|r| delays_ms(r, kind)).collect::<Vec<f64>>()
        };
        let (any, new) = (all(|s| s.has_data), all(|s| s.is_new));
        let total = runs.iter().map(spent).fold((0.0, 0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
        let longest = |delays: &[f64]| delays.iter().copied().fold(0.0, f64::max);
        let longests = (longest(&any), longest(&new));
        let count = any.len();
        println!(
            "{link:<12} {} probing {}  {:>5.0} s of outage; after {count:>3} that a contact of a round trip or more followed: first data after {:>4.0} ms (longest {:>5.0}), first new data after {:>5.0} ms (longest {:>5.0}); a minute of outage costs {:>6.1} kB of probes, {:>6.0} kB of data",
            if rate_bps.is_some() { "declared  " } else { "undeclared" },
            if probing { "on " } else { "off" },
            total.2,
            median(any),
            longests.0,
            median(new),
            longests.1,
            total.0 * 60.0 / total.2 / 1e3,
            total.1 * 60.0 / total.2 / 1e3,
        );
    }
}

fn verdicts(link: &str, bytes: u64, rate_bps: Option<u64>, seeds: u64) {
    let mut sum = [[0u64; 4]; 4];
    for run in (1..=seeds).filter_map(|seed| run(link, seed, bytes, rate_bps, true)) {
        for (into, from) in sum.iter_mut().flatten().zip(run.observer.confusion().iter().flatten()) {
            *into += from;
        }
    }
    let rate = rate_bps.map_or("undeclared".into(), |bps| format!("{} Mbit/s", bps / 1_000_000));
    for (observer, row) in ["congestion", "corruption", "outage", "not lost"].iter().zip(sum).enumerate() {
        let (name, row) = row;
        let total: u64 = row.iter().sum();
        if total == 0 {
            continue;
        }
        let right =
            if observer < 3 { format!("{:.3}", row[observer] as f64 / total as f64) } else { "-".into() };
        println!(
            "{link:<12} {rate:<11} {name:<11} {total:>7} packets, right {right:>5}; taken for congestion {}, corruption {}, outage {}, unknown {}",
            row[0], row[1], row[2], row[3]
        );
    }
}

fn main() {
    let seeds = argument("--seeds").unwrap_or(if flag("--quick") { 3 } else { 10 });
    for rate_bps in [Some(RATE_BPS), None] {
        for link in ["leo-handoff", "leo-passes"] {
            shares(link, rate_bps, seeds);
            outages(link, rate_bps, seeds);
        }
    }
    println!("\nverdicts, packets summed over {seeds} seeds");
    for link in ["geo", "geo-noisy", "thin-return", "leo-handoff", "leo-passes"] {
        for rate_bps in [Some(RATE_BPS), Some(RATE_BPS * 13 / 10), None] {
            let bytes = if link == "geo-noisy" && rate_bps.is_none() { BYTES / 10 } else { BYTES };
            verdicts(link, bytes, rate_bps, seeds);
        }
    }
}
