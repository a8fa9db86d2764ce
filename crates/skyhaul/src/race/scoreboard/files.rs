//! What `--out` leaves beside the runs: a page with the tables and the pictures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skyhaul_report::results::parse_results;
use skyhaul_report::{Definitions, Figure, Report, Results, write_report};

use super::board::{Board, SCENARIO, TRANSPORT};
use super::cases::Group;
use super::sheet::SHEETS;
use super::table;
use crate::failure::Failure;

/// What the pictures show. A panel's results are those of the group of cases that it names.
const FIGURES: &str = include_str!("figures.toml");

/// Writes the page with all that belongs to it; where it is.
pub(super) fn write(out: &Path, board: &Board, results: &Results) -> Result<PathBuf, Failure> {
    let tables = SHEETS.iter().filter_map(|sheet| {
        let table = sheet.table(board, results)?;
        Some((sheet.title.to_string(), table))
    });
    let report = Report {
        title: board.header.title.clone(),
        introduction: table::introduction(board),
        figures: figures(board, results)?,
        tables: tables.collect(),
        notes: table::notes(results),
        ..Report::default()
    };
    Ok(write_report(out, &report)?)
}

fn figures(board: &Board, results: &Results) -> Result<Vec<Figure>, Failure> {
    let mut groups = BTreeMap::new();
    for group in Group::ALL {
        if let Some(part) = of_group(board, results, group)? {
            groups.insert(group.name(), part);
        }
    }
    let mut figures = Vec::new();
    for mut definition in Definitions::parse(FIGURES, "scoreboard")?.figures {
        definition.panels.retain(|panel| {
            let part = groups.get(panel.results.as_str());
            let has = |metric: &String| part.is_some_and(|part| part.metrics().contains(metric.as_str()));
            panel.y.metric.as_ref().is_some_and(has)
        });
        if !definition.panels.is_empty() {
            figures.push(Figure::from_named_results(&definition, &groups)?);
        }
    }
    Ok(figures)
}

/// The results on the cases of a group, as if nobody had asked for others; `None`: there is none.
fn of_group(board: &Board, results: &Results, group: Group) -> Result<Option<Results>, Failure> {
    let numbers: Vec<usize> =
        (0..board.trials.len()).filter(|&number| board.trials[number].case.group == group).collect();
    if numbers.is_empty() {
        return Ok(None);
    }
    let all = board.contestants.len();
    let names: Vec<&str> = numbers.iter().map(|&number| board.trials[number].case.name).collect();
    let contestants: Vec<&str> = board.contestants.iter().map(|one| one.name).collect();
    let header = json!({
        "skyhaul_results": board.header.skyhaul_results, "scenario": group.name(), "points": numbers.len() * all,
        "replications": board.header.replications,
        "axes": [{ "key": SCENARIO, "values": names }, { "key": TRANSPORT, "values": contestants }],
    });
    let mut text = header.to_string() + "\n";
    for (place, number) in numbers.iter().enumerate() {
        for (one, contestant) in contestants.iter().enumerate() {
            for run in results.runs_of(number * all + one) {
                text += &line(place * all + one, (names[place], contestant), run).to_string();
                text.push('\n');
            }
        }
    }
    Ok(Some(parse_results(text.as_bytes(), group.name())?))
}

fn line(point: usize, (scenario, transport): (&str, &str), run: &skyhaul_report::results::Run) -> Value {
    let mut line = json!({
        "point": point, "replication": run.replication, "seed": run.seed, "metrics": run.metrics,
        "set": { SCENARIO: scenario, TRANSPORT: transport },
    });
    if let Some(error) = &run.error {
        line["error"] = error.as_str().into();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_shows_a_group_of_cases() {
        for definition in Definitions::parse(FIGURES, "scoreboard").unwrap().figures {
            for panel in &definition.panels {
                let named = Group::ALL.iter().filter(|group| group.name() == panel.results);
                assert_eq!(named.count(), 1, "{}: {}", definition.id, panel.results);
            }
        }
    }
}
