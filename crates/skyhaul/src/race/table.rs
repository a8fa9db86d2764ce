//! The result for people: tables, bars, who is first.

use std::fmt::Write as _;

use skyhaul_core::units::{show_bytes, show_rate};
use skyhaul_report::Table;

use super::judge::{First, judge};
use super::mode::Mode;
use super::outcome::{Quantity, Row, Run, Spread};
use super::plan::{Plan, REQUEST_BYTES, RESPONSE_BYTES};
use crate::wrap::wrapped;

/// Steps of the longest bar.
const BAR_STEPS: f64 = 60.0;

/// Everything.
pub(super) fn text(plan: &Plan, rows: &[Row], mode: &Mode) -> String {
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

/// What was run.
pub(super) fn headline(plan: &Plan, mode: &Mode) -> [String; 3] {
    let Plan { title, point, runs, seed, .. } = plan;
    let point =
        if point.is_empty() { String::new() } else { format!(" ({point}: the first point of the sweep)") };
    let seeds = match runs {
        1 => format!("1 run with seed {seed}"),
        n => format!("{n} runs each, seeds {seed} to {}: medians (least-most)", seed + u64::from(n - 1)),
    };
    let size = show_bytes(plan.payload_bytes);
    let (from, to) = (plan.host(plan.from), plan.host(plan.to));
    let declared = plan.rate_bps.filter(|_| plan.racers.iter().any(|racer| racer.is_declared()));
    let declared = declared.map_or_else(String::new, |bps| format!("; declared: {}", show_rate(bps as f64)));
    [
        format!("{title}{point}"),
        format!("{size} from {from} to {to}, {}", mode.words()),
        format!("{seeds}{declared}"),
    ]
}

/// A row for each racer.
pub(super) fn transfers(rows: &[Row]) -> Table {
    let (unit, scale) = rate_unit(rows);
    let rate = format!("#{unit}");
    let mut table = Table::new(&["", &rate, "#share", "#seconds", "#sent/byte", "#back/MB"]);
    for row in rows {
        let cell = |quantity, show: &dyn Fn(f64) -> String| {
            row.spread(quantity).map_or("-".into(), |s| ranged(s, show))
        };
        let late = if row.incomplete() > 0 { ">" } else { "" };
        let median = |quantity| row.spread(quantity).map(|spread| spread.median);
        table.push(vec![
            format!("{}{}", row.racer.name(), if row.incomplete() > 0 { " *" } else { "" }),
            cell(Quantity::Goodput, &|bps| digits(bps * scale)),
            cell(Quantity::Share, &|share| format!("{share:.3}")),
            format!("{late}{}", cell(Quantity::Elapsed, &digits)),
            median(Quantity::SentPerByte).map_or("-".into(), |quotient| format!("{quotient:.3}")),
            median(Quantity::ReturnedPerMb).map_or("-".into(), |bytes| show_bytes(bytes.round() as u64)),
        ]);
    }
    table
}

/// The unit in which the goodputs are shown, and the factor to it.
fn rate_unit(rows: &[Row]) -> (&'static str, f64) {
    let most = rows.iter().filter_map(|row| row.spread(Quantity::Goodput)).map(|s| s.max).fold(0.0, f64::max);
    if most >= 1e6 { ("Mbit/s", 1e-6) } else { ("kbit/s", 1e-3) }
}

/// Three digits and more.
fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// The median, with the range where there is one.
fn ranged(spread: Spread, show: &dyn Fn(f64) -> String) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(show);
    if min == max { median } else { format!("{median} ({min}-{max})") }
}

/// What the table cannot say.
fn remarks(plan: &Plan, rows: &[Row]) -> Vec<String> {
    rows.iter().flat_map(|row| remarks_on(plan, row)).collect()
}

fn remarks_on(plan: &Plan, row: &Row) -> impl Iterator<Item = String> {
    let (name, all) = (row.racer.name(), row.runs.len());
    let late: Vec<_> = row.runs.iter().filter(|run| !run.complete && run.error.is_none()).collect();
    let late = late.first().map(|run| {
        let (there, size) = (show_bytes(run.payload_bytes), show_bytes(plan.payload_bytes));
        let (times, seed, after) = (late.len(), run.seed, run.elapsed_s.unwrap_or(0.0));
        format!("* {name}: ended in {times} of {all} runs; with seed {seed} after {after:.0} s with {there} of {size}")
    });
    let failed = |what: &str, of: fn(&Run) -> Option<&str>| {
        let errors: Vec<&str> = row.runs.iter().filter_map(of).collect();
        let error = errors.first()?;
        Some(format!("* {name}: {what} failed in {} of {all} runs: {error}", errors.len()))
    };
    let transfers = failed("the transfer", |run| run.error.as_deref());
    let exchanges = failed("an exchange", |run| run.exchange_error.as_deref());
    [late, transfers, exchanges].into_iter().flatten()
}

/// How long small exchanges took.
pub(super) fn exchanges(rows: &[Row]) -> Table {
    let mut table = Table::new(&["", "#ms, fresh connections", "#ms, kept connection"]);
    for row in rows {
        let cell =
            |quantity| row.spread(quantity).map_or("-".into(), |s| ranged(s, &|ms| format!("{ms:.0}")));
        table.push(vec![row.racer.name().into(), cell(Quantity::Fresh), cell(Quantity::Kept)]);
    }
    table
}

/// Goodputs as bars beside what the link could have carried.
fn bars(rows: &[Row]) -> String {
    let goodput = |row: &Row| row.spread(Quantity::Goodput).map_or(0.0, |spread| spread.median);
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

/// By which quantities skyhaul is first, and who is before it where it is not.
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
