//! The rows as a table, or as an object.

use serde_json::{Value, json};
use skyhaul_core::US;
use skyhaul_link::Drops;
use skyhaul_sim::VERDICTS;

use crate::arguments::{Form, Plan};
use crate::cells::Bound;
use crate::outcome::{CYCLES, Outcome};
use crate::row::{Row, Run, Verdict};

const COLUMNS: [&str; 12] = [
    "cell",
    "runs",
    "round trips",
    "simulated Mbit/s",
    "emulated Mbit/s",
    "difference %",
    "bound %",
    "simulated, 0.1 ms more each way %",
    "sent again: simulated / emulated",
    "lost on the links: simulated / emulated",
    "late, 99 % / most",
    "disturbed: repeated / kept",
];

pub(crate) fn show(plan: &Plan, rows: &[Row]) {
    match plan.form {
        Form::Json => println!("{}", json!({ "cells": rows.iter().map(object).collect::<Vec<_>>() })),
        Form::Markdown => print!("{}", markdown(rows)),
        Form::Text => rows.iter().for_each(|row| print!("{}", text(row))),
    }
    for row in rows {
        match row.verdict() {
            Verdict::Agrees => {}
            Verdict::Differs => {
                eprintln!("{} DIFFERS: {:+.2} %, allowed is {}", row.name, row.difference(), bound(row));
            }
            Verdict::Unknown => eprintln!(
                "NOTE: nothing is known of {}: {:+.2} %, but the machine disturbed what decides it, as often as it was tried ({})",
                row.name,
                row.difference(),
                row.runs.iter().find_map(|run| run.emulated.disturbance.as_deref()).unwrap_or_default(),
            ),
        }
    }
}

pub(crate) fn markdown(rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&COLUMNS.map(str::to_string)) + "|" + &"---|".repeat(COLUMNS.len()) + "\n";
    text.extend(rows.iter().map(|row| line(&cells(row))));
    text
}

fn text(row: &Row) -> String {
    let lines = COLUMNS.iter().zip(cells(row)).map(|(column, cell)| format!("  {column:<40} {cell}\n"));
    format!("{}\n{}", row.name, lines.skip(1).collect::<String>())
}

fn cells(row: &Row) -> [String; COLUMNS.len()] {
    let mbit = |of: &dyn Fn(&Run) -> f64| format!("{:.3}", row.median(of) / 1e6);
    let counts = |of: &dyn Fn(&Outcome) -> u64| {
        let [simulated, emulated] = both(row, of);
        format!("{simulated} / {emulated}")
    };
    let p99 = row.median(|run| run.emulated.lateness.p99_ns as f64);
    let most = row.runs.iter().map(|run| run.emulated.lateness.max_ns).max().unwrap_or_default();
    [
        row.name.clone(),
        row.runs.len().to_string(),
        format!("{:.0}", row.median(|run| run.length)),
        mbit(&|run| run.simulated.goodput_bps()),
        mbit(&|run| run.emulated.outcome.goodput_bps()),
        format!("{:+.2}", row.difference()),
        bound(row),
        format!("{:+.2}", row.sensitivity()),
        counts(&|outcome| outcome.sent_again),
        losses(row),
        format!("{:.0} / {} us", p99 / US as f64, most / US),
        format!("{} / {}", row.repeats(), row.disturbed()),
    ]
}

fn bound(row: &Row) -> String {
    match row.bound {
        Bound::Each(percent) => format!("{percent}"),
        Bound::Medians(percent) => format!("{percent} of medians"),
    }
}

/// Medians of a count, simulated and emulated.
fn both(row: &Row, of: impl Fn(&Outcome) -> u64) -> [u64; 2] {
    let of = |outcome: &Outcome| of(outcome) as f64;
    [row.median(|run| of(&run.simulated)), row.median(|run| of(&run.emulated.outcome))]
        .map(|count| count.round() as u64)
}

/// A cause, and what its packets are.
type Cause = (&'static str, fn(&Drops) -> u64);

const CAUSES: [Cause; 4] = [
    ("queue", Drops::congestion),
    ("random", |drops| drops.random_loss),
    ("bit errors", |drops| drops.bit_error),
    ("outage", |drops| drops.outage),
];

/// By cause, those that there were.
fn losses(row: &Row) -> String {
    let mut parts = Vec::new();
    for (way, name) in ["", "back: "].into_iter().enumerate() {
        for (cause, of) in CAUSES {
            let counts = both(row, |outcome| of(&outcome.drops[way]));
            if counts != [0, 0] {
                parts.push(format!("{name}{cause} {} / {}", counts[0], counts[1]));
            }
        }
    }
    if parts.is_empty() { "-".into() } else { parts.join(", ") }
}

fn object(row: &Row) -> Value {
    json!({
        "cell": row.name,
        "bound": bound(row),
        "difference_percent": row.difference(),
        "difference_of_slower_percent": row.sensitivity(),
        "verdict": match row.verdict() {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
            Verdict::Unknown => "unknown",
        },
        "runs": row.runs.iter().map(run).collect::<Vec<_>>(),
    })
}

fn run(run: &Run) -> Value {
    let lateness = &run.emulated.lateness;
    json!({
        "seed": run.seed,
        "round_trips": run.length,
        "simulated": outcome(&run.simulated),
        "emulated": outcome(&run.emulated.outcome),
        "difference_percent": run.difference(),
        "late_p50_ns": lateness.p50_ns,
        "late_p99_ns": lateness.p99_ns,
        "late_max_ns": lateness.max_ns,
        "stall_ns": run.emulated.stall_ns,
        "repeats": run.repeats,
        "disturbance": run.emulated.disturbance,
    })
}

fn outcome(outcome: &Outcome) -> Value {
    let drops = outcome.drops.map(|drops| {
        CAUSES
            .iter()
            .map(|(cause, of)| ((*cause).to_string(), json!(of(&drops))))
            .collect::<serde_json::Map<_, _>>()
    });
    json!({
        "goodput_bps": outcome.goodput_bps(),
        "elapsed_ns": outcome.elapsed_ns,
        "sent_again": outcome.sent_again,
        "rtt_min_ns": outcome.rtt_min_ns,
        "verdicts": named(VERDICTS, outcome.verdicts),
        "probing": named(CYCLES, outcome.cycles),
        "lost_forward": drops[0],
        "lost_reverse": drops[1],
    })
}

fn named(names: [&str; 4], counts: [u64; 4]) -> serde_json::Map<String, Value> {
    names.iter().zip(counts).map(|(name, count)| ((*name).to_string(), json!(count))).collect()
}
