//! Results of a race as files: the numbers in the format of a sweep whose axis is the transport, and a page.

use std::iter;
use std::path::Path;

use serde_json::{Map, Value, json};
use skyhaul_report::results::parse_results;
use skyhaul_report::{Definitions, Figure, Mark, MarkAxis, ReportError, ReportPage, Results};
use skyhaul_sim::sweep::{FORMAT, RESULTS, save};

use super::error::RaceError;
use super::mode::RaceMode;
use super::outcome::{RaceRun, RacerRuns};
use super::plan::RacePlan;
use super::table;
use crate::sweep::save_summary;

/// Picture of transfers.
const FIGURES: &str = include_str!("figures.toml");
/// Panels of the picture on exchanges.
const EXCHANGES: &str = include_str!("exchanges.toml");

/// Checks, before anything runs, that the folder `out` has no results but those of this race, whose place the
/// new ones take.
///
/// # Errors
/// It has others.
pub fn check_results(out: &Path, plan: &RacePlan) -> Result<(), RaceError> {
    let Ok(text) = std::fs::read_to_string(out.join(RESULTS)) else { return Ok(()) };
    let names: Vec<&str> = plan.racers.iter().map(|racer| racer.name()).collect();
    let header: Option<Value> = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
    let is_own = header.is_some_and(|mut header| {
        // One that was interrupted has the first of its racers.
        let values = header["axes"][0]["values"].as_array().cloned().unwrap_or_default();
        let is_begin = names.iter().zip(&values).all(|(own, other)| Some(*own) == other.as_str());
        let own = self::header(plan, &names);
        (header["axes"], header["points"], header["version"]) =
            (own["axes"].clone(), own["points"].clone(), own["version"].clone());
        is_begin && values.len() <= names.len() && header == own
    });
    if is_own { Ok(()) } else { Err(RaceError::OtherResults { folder: out.to_path_buf() }) }
}

/// Writes the numbers of a race into the folder `out`, made if need be: a result file and its summary.
///
/// # Errors
/// They cannot be written.
pub fn write_results(out: &Path, plan: &RacePlan, rows: &[RacerRuns]) -> Result<Results, RaceError> {
    let text = results_text(plan, rows);
    let results = parse_results(text.as_bytes(), RESULTS)?;
    std::fs::create_dir_all(out).map_err(|error| RaceError::Out { folder: out.to_path_buf(), error })?;
    save(&out.join(RESULTS), text.as_bytes())?;
    save_summary(out, &results)?;
    Ok(results)
}

/// Page about a race: its headline, tables and picture.
///
/// # Errors
/// The results make no picture.
pub fn report(
    plan: &RacePlan,
    rows: &[RacerRuns],
    results: &Results,
    mode: &RaceMode,
) -> Result<ReportPage, ReportError> {
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
        for panel in &mut definition.panels {
            panel.marks.extend(own(rows));
        }
        figures.push(Figure::from_results(&definition, results)?);
    }
    let introduction = table::headline(plan, mode).to_vec();
    Ok(ReportPage { title: plan.title.clone(), introduction, figures, tables, ..ReportPage::default() })
}

/// Band behind the racer that verdicts are about, skyhaul, where there are others beside it.
fn own(rows: &[RacerRuns]) -> Vec<Mark> {
    let is_own: Vec<bool> = rows.iter().map(|row| row.racer.is_subject()).collect();
    if is_own.iter().all(|is| *is) {
        return Vec::new();
    }
    let places = is_own.iter().zip(0..).filter(|(is, _)| **is).map(|(_, place)| f64::from(place));
    let mark = |(place, label): (f64, &str)| Mark {
        on: MarkAxis::X,
        at: None,
        from: Some(place - 0.5),
        to: Some(place + 0.5),
        label: label.to_string(),
    };
    places.zip(iter::once("skyhaul").chain(iter::repeat(""))).map(mark).collect()
}

/// Result file as `report` reads it.
fn header(plan: &RacePlan, names: &[&str]) -> Value {
    json!({
        "skyhaul_results": FORMAT, "version": env!("CARGO_PKG_VERSION"), "scenario": plan.name,
        "title": plan.title, "axes": [{ "key": "transport", "values": names }],
        "points": names.len(), "replications": plan.runs, "seed": plan.seed,
    })
}

fn results_text(plan: &RacePlan, rows: &[RacerRuns]) -> String {
    let names: Vec<&str> = rows.iter().map(|row| row.racer.name()).collect();
    let header = header(plan, &names);
    let lines = rows.iter().enumerate().flat_map(|(point, row)| {
        let line = move |(replication, run)| line(point, replication, row.racer.name(), run);
        row.runs.iter().enumerate().map(line)
    });
    iter::once(header).chain(lines).map(|value| value.to_string() + "\n").collect()
}

fn line(point: usize, replication: usize, name: &str, run: &RaceRun) -> Value {
    let metrics: Map<String, Value> =
        run.metrics().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
    let ended = if run.complete { "done" } else { "out-of-time" };
    let mut line = json!({
        "point": point, "replication": replication, "seed": run.seed, "set": { "transport": name },
        "ended": ended, "metrics": metrics,
    });
    if let Some(error) = &run.error {
        line["error"] = error.as_str().into();
    }
    line
}
