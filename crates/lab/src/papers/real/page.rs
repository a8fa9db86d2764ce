//! Page about a reproduction in real time, for the report and for the guide: a table for each item.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skyhaul_report::results::Run;
use skyhaul_report::{
    AxisValue, Definitions, Figure, FigureDefinition, ReportError, ReportPage, Results, Table,
};

use super::item::WHO;
use super::{RealItem, RealReproduction};
use crate::papers::PaperError;
use crate::race::RaceMode;

/// Lateness from which on a run does not say what it should, in ms: a hundredth of the shortest round trip.
const LATE_MS: f64 = 1.0;

pub(super) fn report(all: &RealReproduction, results: &[Results]) -> Result<ReportPage, PaperError> {
    let figures = figures(all, results)?;
    Ok(ReportPage {
        title: all.definition.title.clone(),
        introduction: introduction(all, results),
        figures,
        tables: tables(all, results),
        notes: NOTES.map(String::from).to_vec(),
        ..ReportPage::default()
    })
}

/// Figures of the items that there are.
fn figures(all: &RealReproduction, results: &[Results]) -> Result<Vec<Figure>, ReportError> {
    let place = format!("papers/{}/real-figures.toml", all.paper.name);
    let named: BTreeMap<&str, Results> =
        all.items.iter().map(|item| item.name.as_str()).zip(results.iter().cloned()).collect();
    let definitions = Definitions::parse(all.figures, &place)?.figures;
    let is_there = |definition: &&FigureDefinition| named.contains_key(definition.id.as_str());
    let definitions = definitions.iter().filter(is_there);
    definitions.map(|definition| Figure::from_named_results(definition, &named)).collect()
}

/// Page of the guide.
pub(super) fn guide(all: &RealReproduction, results: &[Results]) -> String {
    let mut text = format!("# {}\n\n", all.definition.title);
    for paragraph in introduction(all, results) {
        let _ = writeln!(text, "{paragraph}\n");
    }
    for (title, table) in tables(all, results) {
        let _ = writeln!(text, "## {title}\n\n{}", table.to_markdown());
    }
    for note in NOTES {
        let _ = writeln!(text, "{note}\n");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Meaning of the numbers.
const NOTES: [&str; 2] = [
    "Payload in kbit/s, from asking for the connection to the last octet: mean of the runs, with the least and the most in brackets where they differ. A star: a run was ended by the limit of time, and what was there by then counts. An exclamation mark: a run failed and does not count.",
    "Real over simulated: quotient of the means of SCPS-TP.",
];

fn introduction(all: &RealReproduction, results: &[Results]) -> Vec<String> {
    let amount = all.definition.amount(all.order.quick);
    let (mode, version) = (RaceMode::real_time(), env!("CARGO_PKG_VERSION"));
    let kernel = mode.kernel().unwrap_or("?");
    let runs = results.iter().flat_map(|results| &results.runs);
    let (late, live) = runs.fold((0, 0), |(late, live), run| match run.metric("late_p99_ms") {
        Some(ms) => (late + usize::from(ms > LATE_MS), live + 1),
        None => (late, live),
    });
    let mut paragraphs = all.definition.introduction.clone();
    paragraphs.push(format!(
        "Made by `{}` of skyhaul {version}, kernel {kernel}; {} run(s) a point, transfers by the kernel ended after {} s. Of {live} runs in \
         real time, {late} had one packet in a hundred more than {LATE_MS} ms late.",
        all.command(),
        amount.runs,
        amount.kernel_limit_ns / 1_000_000_000,
    ));
    paragraphs
}

fn tables(all: &RealReproduction, results: &[Results]) -> Vec<(String, Table)> {
    let titled = |(item, results)| (title(item), table(item, results));
    all.items.iter().zip(results).map(titled).collect()
}

fn title(item: &RealItem) -> String {
    format!("{}: {}", item.name, item.title)
}

/// A row for each point, a column for each contestant.
fn table(item: &RealItem, results: &Results) -> Table {
    let axes: Vec<&str> =
        item.header.axes.iter().map(|axis| axis.key.as_str()).filter(|&key| key != WHO).collect();
    let shown: Vec<&str> = axes.iter().copied().filter(|axis| is_varied(item, axis)).collect();
    let names: Vec<String> = item.who.iter().map(|one| format!("#{}", one.name)).collect();
    let last_word = |axis: &str| axis.rsplit('.').next().unwrap_or_default().to_string();
    let axes: Vec<String> = shown.iter().map(|axis| last_word(axis)).collect();
    let headings = axes.iter().chain(&names).map(String::as_str).chain(["#real over simulated"]);
    let mut table = Table::new(&headings.collect::<Vec<_>>());
    for point in 0..item.points() {
        let coordinates = results.coordinates(point);
        let at = shown.iter().map(|&axis| coordinates.get(axis).map_or("-".into(), label));
        let of = |one: usize| results.runs_of(one * item.points() + point);
        let cells = (0..item.who.len()).map(|one| cell(of(one)));
        let quotient = quotient(item, of);
        table.push(at.chain(cells).chain([quotient]).collect());
    }
    table
}

/// Value of an axis, small numbers as people write them.
fn label(value: &AxisValue) -> String {
    match value {
        AxisValue::Number(number) if (f64::MIN_POSITIVE..1e-3).contains(number) => format!("{number:e}"),
        other => other.to_string(),
    }
}

fn is_varied(item: &RealItem, axis: &str) -> bool {
    item.header.axes.iter().any(|one| one.key == axis && one.values.len() > 1)
}

/// Throughputs of runs that did not fail, in kbit/s.
fn throughputs(runs: &[Run]) -> Vec<f64> {
    let good = runs.iter().filter(|run| run.error.is_none());
    good.filter_map(|run| run.metric("goodput_bps")).map(|bps| bps / 1000.0).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn cell(runs: &[Run]) -> String {
    let values = throughputs(runs);
    let failed = if runs.iter().any(|run| run.error.is_some()) { "!" } else { "" };
    let Some(mean) = mean(&values) else { return format!("-{failed}") };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let range = if most - least < 0.05 { String::new() } else { format!(" ({least:.1} to {most:.1})") };
    let is_late = runs.iter().any(|run| run.error.is_none() && run.ended.as_deref() == Some("out-of-time"));
    format!("{mean:.1}{range}{}{failed}", if is_late { "*" } else { "" })
}

/// Mean of the first contestant in real time over that of the first one that is simulated.
fn quotient<'a>(item: &RealItem, of: impl Fn(usize) -> &'a [Run]) -> String {
    let first = |is_simulated| {
        let place = item.who.iter().position(|one| one.is_simulated == is_simulated)?;
        mean(&throughputs(of(place)))
    };
    match (first(false), first(true)) {
        (Some(real), Some(simulated)) if simulated > 0.0 => format!("{:.3}", real / simulated),
        _ => "-".to_string(),
    }
}
