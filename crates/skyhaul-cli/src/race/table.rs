//! Result of a race for people: tables, bars, who is first.

use std::fmt::Write as _;

use skyhaul_core::units::{show_bytes, show_rate};
use skyhaul_lab::race::{
    First, Quantity, REQUEST_BYTES, RESPONSE_BYTES, RaceMode, RacePlan, RaceRun, RacerRuns, exchanges,
    headline, judge, transfers,
};

use crate::wrap::wrapped;

/// Steps of the longest bar.
const BAR_STEPS: f64 = 60.0;

/// Everything that a race prints.
pub(super) fn text(plan: &RacePlan, rows: &[RacerRuns], mode: &RaceMode) -> String {
    let mut out = String::new();
    for line in headline(plan, mode) {
        let _ = writeln!(out, "{}", wrapped(&line, 0));
    }
    let _ = write!(out, "\n{}", transfers(rows).to_terminal());
    for line in remarks(plan, rows) {
        let _ = writeln!(out, "{}", wrapped(&line, 2).trim_start());
    }
    if plan.requests > 0 {
        let bytes = format!("{REQUEST_BYTES} B there, {RESPONSE_BYTES} B back");
        let _ = write!(
            out,
            "\n{} small exchanges a run, {bytes}\n{}",
            plan.requests,
            exchanges(rows).to_terminal()
        );
    }
    let _ = write!(out, "\n{}\n{}", bars(rows), firsts(&judge(rows)));
    out
}

/// Remarks on what the table cannot say.
fn remarks(plan: &RacePlan, rows: &[RacerRuns]) -> Vec<String> {
    rows.iter().flat_map(|row| remarks_on(plan, row)).collect()
}

fn remarks_on(plan: &RacePlan, row: &RacerRuns) -> impl Iterator<Item = String> {
    let (name, all) = (row.racer.name(), row.runs.len());
    let late: Vec<_> = row.runs.iter().filter(|run| !run.complete && run.error.is_none()).collect();
    let late = late.first().map(|run| {
        let (there, size) = (show_bytes(run.payload_bytes), show_bytes(plan.payload_bytes));
        let (times, seed, after) = (late.len(), run.seed, run.elapsed_s.unwrap_or(0.0));
        format!("* {name}: ended in {times} of {all} runs; with seed {seed} after {after:.0} s with {there} of {size}")
    });
    let failed = |what: &str, of: fn(&RaceRun) -> Option<&str>| {
        let errors: Vec<&str> = row.runs.iter().filter_map(of).collect();
        let error = errors.first()?;
        Some(format!("* {name}: {what} failed in {} of {all} runs: {error}", errors.len()))
    };
    let transfers = failed("the transfer", |run| run.error.as_deref());
    let exchanges = failed("an exchange", |run| run.exchange_error.as_deref());
    [late, transfers, exchanges].into_iter().flatten()
}

/// Goodputs as bars beside what the link could have carried.
fn bars(rows: &[RacerRuns]) -> String {
    let goodput = |row: &RacerRuns| row.spread(Quantity::Goodput).map_or(0.0, |spread| spread.median);
    let limits = rows.iter().flat_map(|row| &row.runs).filter_map(|run| run.limit_bps);
    let most = limits.chain(rows.iter().map(goodput)).fold(0.0, f64::max);
    let mut out = String::from("Goodput\n");
    for row in rows {
        let steps = if most > 0.0 { (goodput(row) / most * BAR_STEPS).round() as usize } else { 0 };
        let (name, rate) = (row.racer.name(), show_rate(goodput(row)));
        let _ = writeln!(out, "{name:<15}  {}{}{rate}", "#".repeat(steps), if steps > 0 { " " } else { "" });
    }
    if rows.iter().flat_map(|row| &row.runs).any(|run| run.limit_bps.is_some()) {
        let _ = writeln!(
            out,
            "{:<15}  {} {}",
            "(link, at most)",
            "-".repeat(BAR_STEPS as usize),
            show_rate(most)
        );
    }
    out
}

/// Verdicts: by which quantities skyhaul is first, and who is before it where it is not.
pub(super) fn firsts(judged: &[First]) -> String {
    let mut out = String::new();
    for first in judged {
        let words = format!("{}:", first.words);
        let _ = writeln!(out, "{words:<24}{}", wrapped(&verdict(first), 24));
    }
    out
}

fn verdict(First { first, skyhaul_wins, before_skyhaul, .. }: &First) -> String {
    let before = before_skyhaul.iter().map(|&(racer, times)| {
        let times =
            times.map_or("skyhaul did not finish".into(), |times| format!("{times:.2} times skyhaul's"));
        let told = if racer.is_declared() { "; told the rate" } else { "" };
        format!("{} ({times}{told})", racer.name())
    });
    match skyhaul_wins {
        None => first.name().into(),
        Some(true) => format!("{} wins", first.name()),
        Some(false) => format!("behind {}", before.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
