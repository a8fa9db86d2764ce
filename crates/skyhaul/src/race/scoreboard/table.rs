//! The result for people.

use std::fmt::Write as _;

use skyhaul_core::units::show_bytes;
use skyhaul_report::Results;

use super::board::Board;
use super::cases::Load;
use super::sheet::SHEETS;
use crate::wrap::wrapped;

/// Everything.
pub(super) fn text(board: &Board, results: &Results) -> String {
    let mut out = String::new();
    for line in introduction(board) {
        let _ = writeln!(out, "{}", wrapped(&line, 0));
    }
    for sheet in &SHEETS {
        if let Some(table) = sheet.table(board, results) {
            let _ = write!(out, "\n{}\n{}", sheet.title, table.to_terminal());
        }
    }
    let notes = notes(results);
    let gap = if notes.is_empty() { "" } else { "\n" };
    out.push_str(gap);
    for note in notes {
        let _ = writeln!(out, "{}", wrapped(&note, 2).trim_start());
    }
    out
}

/// What was run.
pub(super) fn introduction(board: &Board) -> Vec<String> {
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

/// What the marks mean, of those that there are.
pub(super) fn notes(results: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    let is_late = |run: &skyhaul_report::results::Run| {
        run.ended.as_deref() == Some("out-of-time") && run.metric("share").is_some()
    };
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
