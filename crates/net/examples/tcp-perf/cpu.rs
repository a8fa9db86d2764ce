//! Cost of a gigabyte through a TUN device.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use skyhaul_core::units::show_bytes;

use crate::ends::{Amount, Transfer};
use crate::lab::{self, Middle, Outcome};
use crate::numbers::median;
use crate::stacks::Tcp;
use crate::usage::Cpu;

/// Ends of a connection, with or without a relay.
#[derive(Clone, Copy)]
struct Case {
    sender: Tcp,
    receiver: Tcp,
    relayed: bool,
}

const fn case(sender: Tcp, receiver: Tcp, relayed: bool) -> Case {
    Case { sender, receiver, relayed }
}

/// The first is what the others are measured by.
const CASES: [Case; 6] = [
    case(Tcp::Kernel, Tcp::Kernel, true),
    case(Tcp::Ours, Tcp::Kernel, true),
    case(Tcp::Kernel, Tcp::Ours, true),
    case(Tcp::Ours, Tcp::Kernel, false),
    case(Tcp::Kernel, Tcp::Ours, false),
    case(Tcp::Ours, Tcp::Ours, false),
];
/// A run that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// Plan of a measurement.
pub(crate) struct Plan {
    pub(crate) bytes: u64,
    pub(crate) repeats: u64,
    pub(crate) controller: &'static str,
    pub(crate) mtu_bytes: u32,
    pub(crate) json: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { bytes: 1_000_000_000, repeats: 5, controller: "cubic", mtu_bytes: 1500, json: false }
    }
}

/// Medians of the runs of a case.
struct Row {
    case: Case,
    goodput_bps: f64,
    /// CPU seconds a gigabyte.
    all: f64,
    sender: Cpu,
    receiver: Cpu,
    relay: Cpu,
    machine: f64,
}

pub(crate) fn run(plan: &Plan) -> io::Result<()> {
    let mut outcomes: [Vec<Outcome>; CASES.len()] = Default::default();
    for _ in 0..plan.repeats {
        for (case, outcomes) in CASES.into_iter().zip(&mut outcomes) {
            let outcome = once(plan, case)?;
            eprintln!(
                "{}: {:.2} s, CPU {:.2} s, machine {:.2} s, {} sent again",
                show_case(case),
                outcome.received.seconds,
                all_s(&outcome),
                outcome.machine_s,
                outcome.sent.retransmitted.map_or_else(|| "-".into(), |count| count.to_string()),
            );
            outcomes.push(outcome);
        }
    }
    let rows: Vec<Row> =
        CASES.into_iter().zip(&outcomes).map(|(case, outcomes)| row(plan, case, outcomes)).collect();
    if plan.json {
        println!("{}", as_json(plan, &rows));
    } else {
        print(plan, &rows);
    }
    Ok(())
}

fn once(plan: &Plan, case: Case) -> io::Result<Outcome> {
    let transfer = Transfer {
        sender: case.sender,
        receiver: case.receiver,
        controller: plan.controller,
        mtu_bytes: plan.mtu_bytes,
        amount: Amount::Bytes(plan.bytes, PATIENCE),
        log: None,
    };
    let outcome = lab::run(&transfer, if case.relayed { &Middle::Relay } else { &Middle::Nothing })?;
    if outcome.received.bytes == plan.bytes {
        return Ok(outcome);
    }
    let text = format!("{}: only {} bytes arrived", show_case(case), outcome.received.bytes);
    Err(io::Error::other(text))
}

fn all_s(outcome: &Outcome) -> f64 {
    outcome.sent.cpu.total_s() + outcome.received.cpu.total_s() + outcome.relay.total_s()
}

fn row(plan: &Plan, case: Case, outcomes: &[Outcome]) -> Row {
    let gigabytes = plan.bytes as f64 / 1e9;
    let middle = |value: &dyn Fn(&Outcome) -> f64| median(outcomes.iter().map(value)) / gigabytes;
    let cpu = |which: fn(&Outcome) -> Cpu| Cpu {
        user_s: middle(&|outcome| which(outcome).user_s),
        system_s: middle(&|outcome| which(outcome).system_s),
    };
    Row {
        case,
        goodput_bps: median(outcomes.iter().map(|o| 8.0 * o.received.bytes as f64 / o.received.seconds)),
        all: middle(&all_s),
        sender: cpu(|outcome| outcome.sent.cpu),
        receiver: cpu(|outcome| outcome.received.cpu),
        relay: cpu(|outcome| outcome.relay),
        machine: middle(&|outcome| outcome.machine_s),
    }
}

fn show_case(Case { sender, receiver, relayed }: Case) -> String {
    format!("{} to {}{}", sender.name(), receiver.name(), if relayed { ", relayed" } else { "" })
}

fn show_cpu(cpu: Cpu) -> String {
    format!("{:.2} + {:.2}", cpu.user_s, cpu.system_s)
}

fn print(plan: &Plan, rows: &[Row]) {
    println!(
        "CPU seconds a gigabyte (user + system): {} a run, MTU {}, {}, median of {}",
        show_bytes(plan.bytes),
        plan.mtu_bytes,
        plan.controller,
        plan.repeats
    );
    println!("| sender to receiver | Gbit/s | sender | receiver | relay | all three | / kernels | machine |");
    println!("|---|---|---|---|---|---|---|---|");
    for row in rows {
        println!(
            "| {} | {:.2} | {} | {} | {} | {:.2} | {:.2} | {:.2} |",
            show_case(row.case),
            row.goodput_bps / 1e9,
            show_cpu(row.sender),
            show_cpu(row.receiver),
            show_cpu(row.relay),
            row.all,
            row.all / rows[0].all,
            row.machine,
        );
    }
}

fn as_json(plan: &Plan, rows: &[Row]) -> Value {
    let cpu = |cpu: Cpu| json!({ "user_s_per_gb": cpu.user_s, "system_s_per_gb": cpu.system_s });
    let rows_json = rows.iter().map(|row| {
        json!({
            "sender": row.case.sender.name(),
            "receiver": row.case.receiver.name(),
            "relayed": row.case.relayed,
            "goodput_bps": row.goodput_bps,
            "sender_cpu": cpu(row.sender),
            "receiver_cpu": cpu(row.receiver),
            "relay_cpu": cpu(row.relay),
            "cpu_s_per_gb": row.all,
            "ratio": row.all / rows[0].all,
            "machine_s_per_gb": row.machine,
        })
    });
    json!({
        "mode": "cpu",
        "payload_bytes": plan.bytes,
        "mtu_bytes": plan.mtu_bytes,
        "controller": plan.controller,
        "repeats": plan.repeats,
        "rows": rows_json.collect::<Vec<_>>(),
    })
}
