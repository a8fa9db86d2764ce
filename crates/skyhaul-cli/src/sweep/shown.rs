//! The results of a sweep as text.

use skyhaul_report::{Results, Table};

use super::args::ShownArgs;
use super::object::object;
use crate::failure::Failure;
use crate::output::print;

/// Metrics that the table shows unless the scenario asks for metrics.
const USUAL: [&str; 7] =
    ["goodput_bps", "share", "elapsed_s", "overhead_percent", "delay_ms.mean", "completed", "failed"];

/// Prints results.
pub(crate) fn show(results: &Results, how: ShownArgs) -> Result<(), Failure> {
    print(&match how {
        ShownArgs { json: true, .. } => object(results),
        ShownArgs { csv: true, .. } => Table::of_summaries(results, &[]).to_csv(),
        ShownArgs { .. } => for_people(results),
    })
}

fn for_people(results: &Results) -> String {
    let metrics = shown_metrics(results);
    let table = Table::of_statistics(results, &metrics).to_terminal();
    let left_out = results.metrics().len().saturating_sub(metrics.len());
    let more = match left_out {
        0 => String::new(),
        _ => format!(
            "{left_out} further metrics: --csv or --json, or name those you want in [metrics] wanted\n"
        ),
    };
    format!("{}\n\n{table}\n± is half the 95 % confidence interval of the mean\n{more}", headline(results))
}

/// Line that says what was run.
pub(super) fn headline(results: &Results) -> String {
    let header = &results.header;
    let points = if header.points == 1 { "1 point".to_string() } else { format!("{} points", header.points) };
    let seeds = match header.replications {
        1 => format!("seed {}", header.seed),
        n => format!("{n} replications each, seeds {} to {}", header.seed, header.seed + n as u64 - 1),
    };
    format!("{}: {points}, {seeds}", header.title)
}

/// Metrics that the scenario asks for, or else the usual ones.
pub(super) fn shown_metrics(results: &Results) -> Vec<String> {
    let all = results.metrics();
    let is_shown = |metric: &&str| !results.header.wanted.is_empty() || USUAL.contains(metric);
    let order = |metric: &&str| USUAL.iter().position(|usual| usual == metric).unwrap_or(USUAL.len());
    let mut shown: Vec<&str> = all.into_iter().filter(is_shown).collect();
    shown.sort_by_key(order);
    shown.into_iter().map(str::to_string).collect()
}
