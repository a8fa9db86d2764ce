//! quinn beside skyhaul's endpoints on loopback, in one process, by turns: packets of 1500 octets, the same
//! ends, the same bytes. Each end has a thread and a runtime of its own.
//!
//! `cargo run --release --manifest-path rivals/quinn/Cargo.toml -- [--bytes 1GiB] [--runs 3]`
//!
//! quinn has what its users get: CUBIC and its default pacing, windows that are no limit here, no path MTU
//! search (skyhaul has none here either).

#[path = "../../../crates/net/benches/loopback/ends.rs"]
mod ends;
mod quic;
#[path = "../../../crates/net/benches/loopback/sealed.rs"]
mod sealed;
#[path = "../../../crates/net/benches/loopback/stp.rs"]
mod stp;

use std::process::ExitCode;

use ends::{Cost, Plan};
use quic::Suite;
use skyhaul_core::units::{parse_bytes, show_bytes};

/// Way to carry the bytes.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    transfer: fn(Plan) -> Cost,
}

/// All of them; the last two are what the others are set beside, each for its AEAD.
const WAYS: [Way; 5] = [
    Way { name: "skyhaul, plain", transfer: |plan| stp::transfer(plan).0 },
    Way { name: "skyhaul, AES-128-GCM", transfer: |plan| sealed::transfer(plan, true).0 },
    Way { name: "skyhaul, ChaCha20-Poly1305", transfer: |plan| sealed::transfer(plan, false).0 },
    Way { name: "quinn, AES-128-GCM", transfer: |plan| quic::transfer(plan, Suite::Aes) },
    Way { name: "quinn, ChaCha20-Poly1305", transfer: |plan| quic::transfer(plan, Suite::ChaCha) },
];

/// Rows to compare: ours, and what it is set beside.
const PAIRS: [(usize, usize); 4] = [(1, 3), (2, 4), (1, 0), (0, 3)];

fn main() -> ExitCode {
    let plan = match plan(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("{error}\nusage: skyhaul-rival-quinn [--bytes 1GiB] [--runs 3]");
            return ExitCode::from(2);
        }
    };
    println!(
        "{} a run, packets of {} bytes, medians of {}",
        show_bytes(plan.bytes),
        plan.mtu_bytes,
        plan.runs
    );
    let runs: Vec<_> = (0..plan.runs).map(|_| WAYS.map(|way| (way.transfer)(plan))).collect();
    let cpu_s = |way: usize| median(runs.iter().map(|run| run[way].sender_cpu_s + run[way].receiver_cpu_s));
    let seconds = |way: usize| median(runs.iter().map(|run| run[way].seconds));
    let gigabytes = plan.bytes as f64 / 1e9;
    for (way, Way { name, .. }) in WAYS.iter().enumerate() {
        let cpu_s_per_gb = cpu_s(way) / gigabytes;
        println!(
            "{name:<27} {:>6.2} Gbit/s  {cpu_s_per_gb:>5.2} CPU-s/GB of both ends  {:>6.2} Gbit/s per core",
            8.0 * gigabytes / seconds(way),
            8.0 / cpu_s_per_gb,
        );
    }
    for (ours, other) in PAIRS {
        println!(
            "{} / {}: per core {:.2}, speed {:.2}",
            WAYS[ours].name,
            WAYS[other].name,
            cpu_s(other) / cpu_s(ours),
            seconds(other) / seconds(ours),
        );
    }
    ExitCode::SUCCESS
}

fn plan(mut arguments: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan { bytes: 1 << 30, runs: 3, mtu_bytes: 1500 };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        match name.as_str() {
            "--bytes" => plan.bytes = parse_bytes(&value)?.max(1),
            "--runs" => {
                let runs: u32 = value.parse().map_err(|_| format!("{name} {value} is no number"))?;
                plan.runs = runs.max(1) as usize;
            }
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(plan)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
