//! What `--out` leaves: the numbers in the format of a sweep whose axis is the transport, and a page with the picture.

use std::path::Path;

use serde_json::{Map, Value, json};
use skyhaul_report::results::parse_results;
use skyhaul_report::{Definitions, Figure, Report, Results, write_report};
use skyhaul_sim::sweep::{FORMAT, RESULTS, save};

use super::judge::judge;
use super::mode::Mode;
use super::outcome::{Row, Run};
use super::plan::Plan;
use super::table;
use crate::failure::Failure;
use crate::output::note;
use crate::sweep::save_summary;

/// What the picture shows.
const FIGURES: &str = include_str!("figures.toml");
/// The picture's panels on exchanges.
const EXCHANGES: &str = include_str!("exchanges.toml");

/// Writes all of it.
pub(super) fn write(out: &Path, plan: &Plan, rows: &[Row], mode: &Mode) -> Result<(), Failure> {
    let text = results_text(plan, rows);
    let results = parse_results(text.as_bytes(), RESULTS)?;
    std::fs::create_dir_all(out)
        .map_err(|error| Failure::new(format!("cannot make the folder '{}': {error}", out.display())))?;
    save(&out.join(RESULTS), text.as_bytes())?;
    save_summary(out, &results)?;
    let page = write_report(out, &report(plan, rows, &results, mode)?)?;
    note(&format!("report: {}", page.display()));
    Ok(())
}

fn report(plan: &Plan, rows: &[Row], results: &Results, mode: &Mode) -> Result<Report, Failure> {
    let mut tables = vec![("Transfers".to_string(), table::transfers(rows))];
    let mut definition = FIGURES.to_string();
    if plan.requests > 0 {
        definition.push_str(EXCHANGES);
        tables.push(("Small exchanges".to_string(), table::exchanges(rows)));
    }
    let mut figures = Vec::new();
    for mut definition in Definitions::parse(&definition, "race")?.figures {
        definition.title.clone_from(&plan.title);
        definition.panels.retain(|panel| {
            let metrics =
                panel.series.iter().flat_map(|series| series.metrics.iter().map(|curve| &curve.metric));
            panel.y.metric.iter().chain(metrics).all(|metric| results.metrics().contains(metric.as_str()))
        });
        figures.push(Figure::from_results(&definition, results)?);
    }
    let firsts = table::firsts(&judge(rows));
    let introduction =
        table::headline(plan, mode).into_iter().chain(firsts.lines().map(String::from)).collect();
    Ok(Report { title: plan.title.clone(), introduction, figures, tables, ..Report::default() })
}

/// A result file as `report` reads it.
fn results_text(plan: &Plan, rows: &[Row]) -> String {
    let names: Vec<&str> = rows.iter().map(|row| row.racer.name()).collect();
    let header = json!({
        "skyhaul_results": FORMAT, "version": env!("CARGO_PKG_VERSION"), "scenario": plan.name, "title": plan.title,
        "axes": [{ "key": "transport", "values": names }],
        "points": rows.len(), "replications": plan.runs, "seed": plan.seed,
    });
    let lines = rows.iter().enumerate().flat_map(|(point, row)| {
        let line = move |(replication, run)| line(point, replication, row.racer.name(), run);
        row.runs.iter().enumerate().map(line)
    });
    std::iter::once(header).chain(lines).map(|value| value.to_string() + "\n").collect()
}

fn line(point: usize, replication: usize, name: &str, run: &Run) -> Value {
    let metrics: Map<String, Value> =
        run.metrics().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
    let ended = if run.complete { "done" } else { "out-of-time" };
    let mut line = json!({
        "point": point, "replication": replication, "seed": run.seed, "set": { "transport": name }, "ended": ended,
        "metrics": metrics,
    });
    if let Some(error) = &run.error {
        line["error"] = error.as_str().into();
    }
    line
}
