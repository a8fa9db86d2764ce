//! Tables and picture of the map.

use std::collections::BTreeMap;

use serde_json::json;
use skyhaul_core::units::show_rate;
use skyhaul_report::results::parse_results;
use skyhaul_report::stats::percentile;
use skyhaul_report::{Definitions, Figure, FigureDefinition, ReportError, ReportPage, Results, Table};

use super::cell::{Cell, percent};
use super::outcome::{CellOutcome, Verdict, outcomes};
use super::plan::Map;

/// The picture.
const FIGURES: &str = include_str!("figures.toml");
/// Cells in the table of the worst.
const WORST: usize = 20;
/// Cells in the table of those whose goodput is furthest apart.
const APART: usize = 10;

/// Page about the map.
///
/// # Errors
/// The results make no picture.
pub fn report(map: &Map, results: &Results) -> Result<ReportPage, ReportError> {
    Ok(ReportPage {
        title: map.title.clone(),
        introduction: introduction(map, results),
        figures: figures(map, results)?,
        tables: tables(map, results),
        notes: NOTES.map(String::from).to_vec(),
        ..ReportPage::default()
    })
}

/// What the tables mean.
const NOTES: [&str; 4] = [
    "Use: share of the bottleneck's rate that carried packets, of all flows together; in brackets with TCPs in the place of our connections. Asked for is 0.95, less two hundredths for each percent of random loss; beside TCPs, without random loss, less is excused where TCPs alone do no better.",
    "TCPs keep: their goodput beside us, of that beside TCPs in our place.",
    "Ours over TCP's: goodput of one of our connections over that of one TCP. Judged beside as many TCPs, with queues of 0.5 to 4 products: a third to three times; more is excused where the TCPs keep 0.8 of what they get among TCPs.",
    "Jain: evenness among our own connections; asked for is 0.9. Sent again: share of our packets, most of them dropped by the queue.",
];

/// Line that says what was run.
pub fn introduction(map: &Map, results: &Results) -> Vec<String> {
    let (runs, seed) = (map.header.replications, map.header.seed);
    let runs = match runs {
        1 => format!("1 run with seed {seed}"),
        n => format!("medians of {n} runs, seeds {seed} to {}", seed + u64::from(n - 1)),
    };
    let missing = match results.missing() {
        0 => String::new(),
        n => format!(" {n} runs are missing."),
    };
    vec![format!("{}: {} of {} cells, {runs}.{missing}", map.title, map.cells.len(), map.all)]
}

/// Tables with their titles: the worst cells, those whose goodput is furthest apart, groups of cells.
pub fn tables(map: &Map, results: &Results) -> Vec<(String, Table)> {
    let outcomes = outcomes(map, results);
    vec![
        ("Worst cells".to_string(), worst(&outcomes)),
        ("Goodput furthest apart, where it is not judged".to_string(), apart(&outcomes)),
        ("Groups of cells".to_string(), groups(&outcomes)),
    ]
}

/// Cells that missed most, and what they missed.
fn worst(outcomes: &[CellOutcome<'_>]) -> Table {
    let mut missed: Vec<&CellOutcome<'_>> =
        outcomes.iter().filter(|outcome| !outcome.missed().is_empty()).collect();
    missed.sort_by(|a, b| b.distance().total_cmp(&a.distance()).then(a.number.cmp(&b.number)));
    table_of(missed.into_iter().take(WORST))
}

/// Cells in which ours and TCPs get the most different goodput, of those in which that is not judged.
fn apart(outcomes: &[CellOutcome<'_>]) -> Table {
    let apart =
        |outcome: &CellOutcome<'_>| outcome.median("ratio").map_or(1.0, |ratio| ratio.max(1.0 / ratio));
    let mut open: Vec<&CellOutcome<'_>> =
        outcomes.iter().filter(|outcome| outcome.ratio_verdict().is_none() && apart(outcome) > 3.0).collect();
    open.sort_by(|a, b| apart(b).total_cmp(&apart(a)).then(a.number.cmp(&b.number)));
    table_of(open.into_iter().take(APART))
}

fn table_of<'a>(outcomes: impl Iterator<Item = &'a CellOutcome<'a>>) -> Table {
    let mut table = Table::new(&[
        "#cell",
        "own",
        "TCPs",
        "rate",
        "#RTT ms",
        "queue",
        "#loss %",
        "missed",
        "#use (TCPs alone)",
        "#ours over TCP's",
        "#TCPs keep",
        "#Jain",
        "#sent again",
        "#wait ms",
    ]);
    for outcome in outcomes {
        let cell = outcome.cell;
        let shown = |metric: &str| outcome.median(metric).map_or("-".into(), |value| digits(value, 2));
        table.push(vec![
            outcome.number.to_string(),
            own(cell),
            if cell.tcps == 0 { "-".into() } else { format!("{} {}", cell.tcps, cell.kind.name()) },
            show_rate(cell.rate_bps as f64),
            digits(cell.rtt_ns as f64 / 1e6, 1),
            format!("{} {}", cell.queue, cell.discipline.name()),
            percent(cell.loss).to_string(),
            outcome.missed(),
            format!("{} ({})", shown("use"), shown("use_tcps")),
            shown("ratio"),
            shown("kept"),
            shown("jain_own"),
            shown("repeated"),
            shown("wait_ms"),
        ]);
    }
    table
}

fn own(cell: &Cell) -> String {
    match cell.own {
        1 => "1".to_string(),
        n => format!("{n}, {}", if cell.hosts.name() == "one" { "one host" } else { "several hosts" }),
    }
}

/// A way to divide the cells: what the group of a cell is called.
type Grouping = (&'static str, fn(&Cell) -> String);

const GROUPINGS: [Grouping; 8] = [
    ("all", |_| String::new()),
    ("beside", |cell| rival(cell).to_string()),
    ("own", |cell| match cell.own {
        1 => "1".to_string(),
        _ => format!("2 and more, {}", if cell.hosts.name() == "one" { "one host" } else { "several hosts" }),
    }),
    ("queue", |cell| {
        let ends = [0.5, 1.0, 2.0, 4.0];
        let names = ["to 0.5 products", "0.5 to 1", "1 to 2", "2 to 4", "from 4"];
        names[ends.iter().filter(|&&end| cell.queue >= end).count()].to_string()
    }),
    ("discipline", |cell| cell.discipline.name().to_string()),
    ("loss", |cell| format!("{} %", percent(cell.loss))),
    ("round trip", |cell| {
        let names = ["to 60 ms", "60 to 200 ms", "from 200 ms"];
        let ends = [60_000_000, 200_000_000];
        names[ends.iter().filter(|&&end| cell.rtt_ns >= end).count()].to_string()
    }),
    ("rate", |cell| {
        let names = ["to 5 Mbit/s", "5 to 20 Mbit/s", "from 20 Mbit/s"];
        let ends = [5_000_000, 20_000_000];
        names[ends.iter().filter(|&&end| cell.rate_bps >= end).count()].to_string()
    }),
];

/// Kind of the TCPs beside, if there are any.
fn rival(cell: &Cell) -> &'static str {
    if cell.tcps == 0 { "none" } else { cell.kind.name() }
}

fn groups(outcomes: &[CellOutcome<'_>]) -> Table {
    let mut table = Table::new(&[
        "by",
        "group",
        "#cells",
        "#use: 10 %, median",
        "#TCPs alone",
        "#missed, excused",
        "#ours over TCP's: 10 %, median, 90 %",
        "#judged",
        "#missed, excused",
        "#Jain: judged",
        "#missed",
        "#sent again",
        "#wait of the full queue's",
    ]);
    for (by, name) in GROUPINGS {
        let mut names: Vec<String> = Vec::new();
        for outcome in outcomes {
            let name = name(outcome.cell);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.sort_by_key(|name| order(name));
        for group in names {
            let part: Vec<_> = outcomes.iter().filter(|outcome| name(outcome.cell) == group).collect();
            table.push(row(by, &group, &part));
        }
    }
    table
}

/// Names that begin with `to` first, `from` last, numbers between.
fn order(name: &str) -> (u8, u64, String) {
    let rank = if name.starts_with("to ") { 0 } else { 1 + u8::from(name.starts_with("from ")) };
    let number = name.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    (rank, number.map_or(0, |number| (number * 1000.0) as u64), name.to_string())
}

fn row(by: &str, group: &str, part: &[&CellOutcome<'_>]) -> Vec<String> {
    let values =
        |metric: &str| part.iter().filter_map(|outcome| outcome.median(metric)).collect::<Vec<f64>>();
    let shown = |metric: &str, share: u32| {
        percentile(&values(metric), share).map_or("-".to_string(), |value| digits(value, 2))
    };
    let used: Vec<Verdict> = part.iter().map(|outcome| outcome.use_verdict()).collect();
    let ratio: Vec<Verdict> = part.iter().filter_map(|outcome| outcome.ratio_verdict()).collect();
    let jain: Vec<Verdict> = part.iter().filter_map(|outcome| outcome.jain_verdict()).collect();
    let count = |all: &[Verdict], wanted| all.iter().filter(|found| **found == wanted).count().to_string();
    let several = |metric: &str, shares: &[u32]| {
        let shown: Vec<String> = shares.iter().map(|&share| shown(metric, share)).collect();
        shown.join(", ")
    };
    let misses =
        |all: &[Verdict]| format!("{}, {}", count(all, Verdict::Missed), count(all, Verdict::Excused));
    vec![
        by.to_string(),
        group.to_string(),
        part.len().to_string(),
        several("use", &[10, 50]),
        shown("use_tcps", 50),
        misses(&used),
        if values("ratio").is_empty() { "-".to_string() } else { several("ratio", &[10, 50, 90]) },
        ratio.len().to_string(),
        misses(&ratio),
        jain.len().to_string(),
        count(&jain, Verdict::Missed),
        shown("repeated", 50),
        shown("queue_fill", 50),
    ]
}

/// Number with so many digits behind the point, more of them where it is small, fewer where it is large.
fn digits(value: f64, decimals: usize) -> String {
    match value {
        v if v >= 99.5 => format!("{v:.0}"),
        v if v >= 9.95 => format!("{v:.1}"),
        v if v < 0.095 && v > 0.0 => format!("{v:.3}"),
        v => format!("{v:.decimals$}"),
    }
}

/// Every cell, for programs: its axes, medians with all digits, verdicts.
pub fn cells_table(map: &Map, results: &Results) -> Table {
    let mut table = Table::new(&[&AXES[..], &METRICS, &JUDGED].concat());
    for outcome in outcomes(map, results) {
        let cell = outcome.cell;
        let mut row = vec![
            outcome.number.to_string(),
            cell.own.to_string(),
            cell.hosts.name().to_string(),
            cell.tcps.to_string(),
            cell.kind.name().to_string(),
            cell.queue.to_string(),
            cell.discipline.name().to_string(),
            cell.loss.to_string(),
            (cell.rtt_ns as f64 / 1e9).to_string(),
            cell.rate_bps.to_string(),
        ];
        row.extend(METRICS.map(|metric| outcome.median(metric).map_or_else(String::new, |v| v.to_string())));
        row.extend([Some(outcome.use_verdict()), outcome.ratio_verdict(), outcome.jain_verdict()].map(word));
        row.push(outcome.distance().to_string());
        table.push(row);
    }
    table
}

/// Columns of numbers in the table of cells.
const METRICS: [&str; 13] = [
    "use",
    "use_tcps",
    "goodput",
    "goodput_tcps",
    "own_bps",
    "tcp_bps",
    "ratio",
    "kept",
    "jain_own",
    "wait_ms",
    "wait_tcps_ms",
    "queue_fill",
    "repeated",
];

/// Columns before those: the cell, and its axes.
const AXES: [&str; 10] =
    ["cell", "own", "hosts", "tcps", "kind", "queue", "discipline", "loss", "rtt_s", "rate_bps"];

/// Columns behind those: its verdicts, and how far it is from what is asked for.
const JUDGED: [&str; 4] = ["use_verdict", "ratio_verdict", "jain_verdict", "distance"];

fn word(verdict: Option<Verdict>) -> String {
    match verdict {
        None => "",
        Some(Verdict::Met) => "met",
        Some(Verdict::Excused) => "excused",
        Some(Verdict::Missed) => "missed",
    }
    .to_string()
}

fn figures(map: &Map, results: &Results) -> Result<Vec<Figure>, ReportError> {
    let results = with_axes(map, results)?;
    let mut figures = Vec::new();
    for mut definition in Definitions::parse(FIGURES, "map")?.figures {
        definition.panels.retain(|panel| {
            let metrics = || panel.series.iter().flat_map(|series| &series.metrics);
            let is_shown = |point: usize| {
                let at = results.coordinates(point);
                panel.filter.iter().all(|(key, value)| at.get(key) == Some(value))
                    && results
                        .runs_of(point)
                        .iter()
                        .any(|run| metrics().any(|curve| run.metric(&curve.metric).is_some()))
            };
            (0..results.points()).any(is_shown)
        });
        figures.extend(drawn(&definition, &results)?);
    }
    Ok(figures)
}

fn drawn(definition: &FigureDefinition, results: &Results) -> Result<Option<Figure>, ReportError> {
    if definition.panels.is_empty() {
        return Ok(None);
    }
    Figure::from_results(definition, results).map(Some)
}

/// Results in which each run says where its cell lies, with a metric of its own for each kind of rival: so a
/// kind has the same colour in every panel.
fn with_axes(map: &Map, results: &Results) -> Result<Results, ReportError> {
    let header = json!({
        "skyhaul_results": map.header.skyhaul_results, "scenario": map.header.scenario,
        "points": map.header.points, "replications": map.header.replications,
        "axes": [{ "key": "cell", "values": map.header.axes[0].values }],
    });
    let mut text = header.to_string() + "\n";
    for run in &results.runs {
        let (number, cell) = &map.cells[run.point];
        let set = json!({
            "cell": number, "queue": cell.queue, "loss_percent": percent(cell.loss),
        });
        let drawn = ["use", "ratio"].map(|name| (format!("{name}.{}", rival(cell)), run.metric(name)));
        let metrics: BTreeMap<String, Option<f64>> = drawn.into_iter().collect();
        let line = json!({
            "point": run.point, "replication": run.replication, "seed": run.seed, "metrics": metrics,
            "set": set, "error": run.error,
        });
        text += &(line.to_string() + "\n");
    }
    parse_results(text.as_bytes(), "results.jsonl")
}
