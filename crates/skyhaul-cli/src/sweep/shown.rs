//! The results of a sweep as text.

use skyhaul_report::{Results, Table};

use super::args::ShownArgs;
use super::object::object;
use crate::failure::Failure;
use crate::output::print;

/// Metrics that the table shows unless the scenario asks for metrics.
const USUAL: [&str; 8] =
    [GOODPUT, JAIN, "share", "elapsed_s", "overhead_percent", "delay_ms.mean", "completed", "failed"];
const GOODPUT: &str = "goodput_bps";
/// Jain's index of fairness; of a single flow it says nothing.
const JAIN: &str = "jain";

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

/// Metrics that the scenario asks for, or else the usual ones: with several flows also how evenly they share,
/// with several groups of them also the goodput of each.
pub(super) fn shown_metrics(results: &Results) -> Vec<String> {
    let all = results.metrics();
    let is_wanted = !results.header.wanted.is_empty();
    let has_several = has_several_flows(results);
    let is_usual = |metric: &str| usual_place(metric).is_some() && (has_several || metric != JAIN);
    let mut shown: Vec<&str> = all.into_iter().filter(|metric| is_wanted || is_usual(metric)).collect();
    shown.sort_by_key(|metric| usual_place(metric).unwrap_or(usize::MAX));
    shown.into_iter().map(str::to_string).collect()
}

/// True if there are groups of flows, or flows of one group that did not get the very same.
fn has_several_flows(results: &Results) -> bool {
    let has_groups = results.metrics().iter().any(|metric| metric.starts_with("flows."));
    let uneven = |point| results.summary(point, JAIN).is_some_and(|jain| jain.min < 1.0);
    has_groups || (0..results.points()).any(uneven)
}

/// Place of a usual metric in the table. Those of each group of flows stand where the one of all does.
fn usual_place(metric: &str) -> Option<usize> {
    let of_group = metric.strip_prefix("flows.").and_then(|rest| rest.split_once('.'));
    let goodput = USUAL.iter().position(|usual| *usual == GOODPUT);
    match of_group {
        Some((_, GOODPUT)) => goodput,
        _ => USUAL.iter().position(|usual| *usual == metric),
    }
}
