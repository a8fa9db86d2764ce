//! How fast one stream is between two endpoints on this machine, without a link between them, what it
//! costs, and how that compares with the kernel's TCP under the same load. Each end has a thread and a
//! runtime of its own.
//!
//! `cargo bench -p skyhaul-net --bench loopback -- [--bytes 1GiB] [--runs 3] [--mtu 1500]`
//!
//! TCP's checksum and cutting into packets are left out by the kernel on loopback: the ratio is a
//! measure of distance, not a race between equals.

mod ends;
mod stp;
mod tcp;

use std::process::ExitCode;

use ends::{Cost, Plan};
use skyhaul_core::units::{parse_bytes, show_bytes};

fn main() -> ExitCode {
    let plan = match plan(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("{error}\nusage: loopback [--bytes 1GiB] [--runs 3] [--mtu 1500]");
            return ExitCode::from(2);
        }
    };
    println!("{} a run, packets of {} bytes", show_bytes(plan.bytes), plan.mtu_bytes);
    let runs = (1..=plan.runs).map(|run| (stp_run(run, plan), tcp_run(run, plan)));
    let (stp, tcp): (Vec<Cost>, Vec<Cost>) = runs.unzip();
    let (stp, tcp) = (medians(&stp), medians(&tcp));
    println!("median of {}: STP {}", plan.runs, show(plan, stp));
    println!("median of {}: TCP {}", plan.runs, show(plan, tcp));
    // The kernel does TCP's work at either end as it likes: only the sum can be compared.
    let cpu_s = |cost: Cost| cost.sender_cpu_s + cost.receiver_cpu_s;
    println!(
        "STP / TCP: speed {:.2}, CPU of both ends {:.1}",
        tcp.seconds / stp.seconds,
        cpu_s(stp) / cpu_s(tcp)
    );
    ExitCode::SUCCESS
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

fn stp_run(run: usize, plan: Plan) -> Cost {
    let (cost, stats, counters) = stp::transfer(plan);
    println!(
        "run {run}: STP {}; {:.1} datagrams a send call, {} sent again, {} waits",
        show(plan, cost),
        counters.sent_datagrams as f64 / counters.send_calls as f64,
        stats.retransmitted_packets,
        counters.send_waits,
    );
    cost
}

fn tcp_run(run: usize, plan: Plan) -> Cost {
    let cost = tcp::transfer(plan);
    println!("run {run}: TCP {}", show(plan, cost));
    cost
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

fn medians(runs: &[Cost]) -> Cost {
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
