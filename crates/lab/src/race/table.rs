//! Tables of a race.

use skyhaul_core::units::{show_bytes, show_rate};
use skyhaul_report::Table;

use super::mode::RaceMode;
use super::outcome::{MedianRange, Quantity, RacerRuns};
use super::plan::RacePlan;

/// Lines that say what was run: the scenario, what was sent, how often.
pub fn headline(plan: &RacePlan, mode: &RaceMode) -> [String; 3] {
    let RacePlan { title, point, runs, seed, .. } = plan;
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

/// Table of the transfers: a row for each racer, medians with their range.
pub fn transfers(rows: &[RacerRuns]) -> Table {
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

/// Unit in which the goodputs are shown, and the factor to it.
fn rate_unit(rows: &[RacerRuns]) -> (&'static str, f64) {
    let most = rows.iter().filter_map(|row| row.spread(Quantity::Goodput)).map(|s| s.max).fold(0.0, f64::max);
    if most >= 1e6 { ("Mbit/s", 1e-6) } else { ("kbit/s", 1e-3) }
}

/// Number with three digits or more.
fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Median, with the range where there is one.
fn ranged(spread: MedianRange, show: &dyn Fn(f64) -> String) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(show);
    if min == max { median } else { format!("{median} ({min}-{max})") }
}

/// Table of the small exchanges' durations.
pub fn exchanges(rows: &[RacerRuns]) -> Table {
    let mut table = Table::new(&["", "#ms, fresh connections", "#ms, kept connection"]);
    for row in rows {
        let cell =
            |quantity| row.spread(quantity).map_or("-".into(), |s| ranged(s, &|ms| format!("{ms:.0}")));
        table.push(vec![row.racer.name().into(), cell(Quantity::Fresh), cell(Quantity::Kept)]);
    }
    table
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
