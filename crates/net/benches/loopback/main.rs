//! How fast one stream is between two endpoints on this machine, without a link between them, what it
//! costs plain and sealed, and how that compares with the kernel's TCP under the same load. Each end has a
//! thread and a runtime of its own; the ways take turns.
//!
//! `cargo bench -p skyhaul-net --bench loopback -- [--bytes 1GiB] [--runs 3] [--mtu 1500]`
//!
//! TCP's checksum and cutting into packets are left out by the kernel on loopback: the ratio is a
//! measure of distance, not a race between equals.

mod ends;
mod sealed;
mod stp;
mod tcp;

use std::process::ExitCode;

use ends::{Cost, Plan};
use skyhaul_core::Stats;
use skyhaul_core::units::{parse_bytes, show_bytes};
use skyhaul_net::Counters;

fn main() -> ExitCode {
    let plan = match plan(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("{error}\nusage: loopback [--bytes 1GiB] [--runs 3] [--mtu 1500]");
            return ExitCode::from(2);
        }
    };
    println!("{} a run, packets of {} bytes", show_bytes(plan.bytes), plan.mtu_bytes);
    let runs: Vec<_> = (1..=plan.runs).map(|run| WAYS.map(|way| way.run(run, plan))).collect();
    let medians: Vec<Cost> = (0..WAYS.len()).map(|way| medians(runs.iter().map(|run| run[way]))).collect();
    for (way, &cost) in WAYS.iter().zip(&medians) {
        println!("median of {}: {} {}", plan.runs, way.name, show(plan, cost));
    }
    // The kernel does TCP's work at either end as it likes: only the sum can be compared.
    let cpu_s = |cost: Cost| cost.sender_cpu_s + cost.receiver_cpu_s;
    let plain = medians[0];
    for (way, &cost) in WAYS.iter().zip(&medians).skip(1) {
        let (speed, cpu) = (plain.seconds / cost.seconds, cpu_s(cost) / cpu_s(plain));
        println!("{} / {}: speed {speed:.2}, CPU of both ends {cpu:.2}", way.name, WAYS[0].name);
    }
    ExitCode::SUCCESS
}

/// Way to carry the bytes.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// Cost of one run, and what else there is to tell.
    transfer: fn(Plan) -> (Cost, String),
}

const WAYS: [Way; 4] = [
    Way { name: "plain STP", transfer: |plan| told(stp::transfer(plan)) },
    Way { name: "sealed STP, AES-128-GCM", transfer: |plan| told(sealed::transfer(plan, true)) },
    Way { name: "sealed STP, ChaCha20-Poly1305", transfer: |plan| told(sealed::transfer(plan, false)) },
    Way { name: "TCP", transfer: |plan| (tcp::transfer(plan), String::new()) },
];

impl Way {
    fn run(self, run: usize, plan: Plan) -> Cost {
        let (cost, told) = (self.transfer)(plan);
        println!("run {run}: {} {}{told}", self.name, show(plan, cost));
        cost
    }
}

/// Cost of a run over STP, and what the sender counted.
fn told((cost, stats, counters): (Cost, Stats, Counters)) -> (Cost, String) {
    let told = format!(
        "; {:.1} datagrams a send call, {} sent again, {} waits",
        counters.sent_datagrams as f64 / counters.send_calls as f64,
        stats.retransmitted_packets,
        counters.send_waits,
    );
    (cost, told)
}

fn plan(arguments: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan { bytes: 1 << 30, runs: 3, mtu_bytes: 1500 };
    let mut arguments = arguments.filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u32>().map_err(|_| format!("{name} {value} is no number"));
        match name.as_str() {
            "--bytes" => plan.bytes = parse_bytes(&value)?.max(1),
            "--runs" => plan.runs = number()?.max(1) as usize,
            "--mtu" => plan.mtu_bytes = number()?,
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(plan)
}

fn show(plan: Plan, cost: Cost) -> String {
    let gigabytes = plan.bytes as f64 / 1e9;
    format!(
        "{:.2} Gbit/s, CPU-s/GB sender {:.2} receiver {:.2}",
        8.0 * gigabytes / cost.seconds,
        cost.sender_cpu_s / gigabytes,
        cost.receiver_cpu_s / gigabytes,
    )
}

fn medians(runs: impl Iterator<Item = Cost>) -> Cost {
    let runs: Vec<Cost> = runs.collect();
    let median = |value: fn(&Cost) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Cost {
        seconds: median(|run| run.seconds),
        sender_cpu_s: median(|run| run.sender_cpu_s),
        receiver_cpu_s: median(|run| run.receiver_cpu_s),
    }
}
