//! Result of the scoreboard for people.

use std::fmt::Write as _;

use skyhaul_lab::scoreboard::{Board, introduction, notes, tables};
use skyhaul_report::Results;

use crate::wrap::wrapped;

/// Everything that the scoreboard prints.
pub(super) fn text(board: &Board, results: &Results) -> String {
    let mut out = String::new();
    for line in introduction(board) {
        let _ = writeln!(out, "{}", wrapped(&line, 0));
    }
    for (title, table) in tables(board, results) {
        let _ = write!(out, "\n{title}\n{}", table.to_terminal());
    }
    let notes = notes(results);
    let gap = if notes.is_empty() { "" } else { "\n" };
    out.push_str(gap);
    for note in notes {
        let _ = writeln!(out, "{}", wrapped(&note, 2).trim_start());
    }
    out
}
