//! Page about the board, with its tables and pictures, and the lines around the tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skyhaul_core::units::show_bytes;
use skyhaul_report::results::{Run, parse_results};
use skyhaul_report::{Definitions, Figure, ReportError, ReportPage, Results};

use super::board::{Board, SCENARIO, TRANSPORT};
use super::cases::{Group, Load};
use super::sheet::tables;

/// Pictures. A panel's results are those of the group of cases that it names.
const FIGURES: &str = include_str!("figures.toml");

/// Page about the board.
///
/// # Errors
/// The results make no picture.
pub fn report(board: &Board, results: &Results) -> Result<ReportPage, ReportError> {
    Ok(ReportPage {
        title: board.header.title.clone(),
        introduction: introduction(board),
        figures: figures(board, results)?,
        tables: tables(board, results),
        notes: notes(results),
        ..ReportPage::default()
    })
}

fn figures(board: &Board, results: &Results) -> Result<Vec<Figure>, ReportError> {
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

/// Results on the cases of a group, as if nobody had asked for others; `None`: there is none.
fn of_group(board: &Board, results: &Results, group: Group) -> Result<Option<Results>, ReportError> {
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

fn line(point: usize, (scenario, transport): (&str, &str), run: &Run) -> Value {
    let mut line = json!({
        "point": point, "replication": run.replication, "seed": run.seed, "metrics": run.metrics,
        "set": { SCENARIO: scenario, TRANSPORT: transport },
    });
    if let Some(error) = &run.error {
        line["error"] = error.as_str().into();
    }
    line
}

/// Lines that say what was run.
pub fn introduction(board: &Board) -> Vec<String> {
    let (runs, seed) = (board.header.replications, board.header.seed);
    let runs = match runs {
        1 => format!("1 run of each with seed {seed}"),
        n => format!("medians of {n} runs of each, seeds {seed} to {}", seed + u64::from(n - 1)),
    };
    let sizes = board.trials.iter().filter_map(|trial| match trial.case.load {
        Load::Transfer { .. } => {
            Some(format!("{} {}", trial.case.name, show_bytes(trial.plan.payload_bytes)))
        }
        Load::Flows { .. } => None,
    });
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    let sizes = if sizes.is_empty() { sizes } else { format!("Sent: {sizes}.") };
    vec![format!("{}: {runs}.", board.header.title), sizes]
        .into_iter()
        .filter(|line| !line.is_empty())
        .collect()
}

/// Meanings of the marks in the tables, of those that there are.
pub fn notes(results: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    let is_late = |run: &Run| run.ended.as_deref() == Some("out-of-time") && run.metric("share").is_some();
    if results.runs.iter().any(is_late) {
        notes.push(
            "* at least one run was ended by the limit of time, before everything was there".to_string(),
        );
    }
    if results.failed().next().is_some() {
        notes.push("! at least one run failed and does not count".to_string());
    }
    notes
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
