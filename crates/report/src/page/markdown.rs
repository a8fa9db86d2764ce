//! The report in Markdown; pictures and data stand beside it.

use std::fmt::Write as _;

use super::ReportPage;
use crate::figure::Figure;
use crate::table::escaped_markdown as escaped;

/// Line below every figure: how to read it.
pub(super) const READING: &str = "Unless a figure says otherwise, points are means over the runs, bars around them 95 % confidence intervals (Student's t).";

pub(super) fn page(report: &ReportPage) -> String {
    let mut out = format!("# {}\n\n", escaped(&report.title));
    for paragraph in &report.introduction {
        let _ = writeln!(out, "{}\n", escaped(paragraph));
    }
    if !report.claims.is_empty() {
        let _ = writeln!(out, "## Claims\n\n{} ([CSV](claims.csv))\n", report.verdicts());
        out += &claims(report);
    }
    if !report.figures.is_empty() {
        let _ = writeln!(out, "\n## Figures\n\n{READING}");
    }
    for figure in &report.figures {
        let id = &figure.definition.id;
        let title = escaped(&figure.definition.title);
        let _ = writeln!(out, "\n### {id}\n\n![{title}](figures/{id}.svg)\n");
        if let Some(caption) = &figure.definition.caption {
            let _ = writeln!(out, "{}\n", escaped(caption));
        }
        for note in figure.notes() {
            let _ = writeln!(out, "- {}", escaped(note));
        }
        let _ = writeln!(out, "Files: {}, [PNG](figures/{id}.png)", link(figure));
    }
    for (title, table) in &report.tables {
        let _ = writeln!(out, "\n## {}\n\n{}", escaped(title), table.to_markdown());
    }
    if !report.notes.is_empty() {
        out += "\n## Notes\n\n";
    }
    for note in &report.notes {
        let _ = writeln!(out, "- {}", escaped(note));
    }
    out
}

/// Links to a figure and its numbers; a ladder diagram has none.
fn link(figure: &Figure) -> String {
    let id = &figure.definition.id;
    let data = if figure.panels.is_empty() { String::new() } else { format!(", [CSV](figures/{id}.csv)") };
    format!("[{id}](figures/{id}.svg){data}")
}

fn claims(report: &ReportPage) -> String {
    let mut out =
        "| item | claim | measured | verdict | differs if | figure |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
    for judged in &report.claims {
        let claim = &judged.claim;
        let note = claim.note.as_ref().map(|note| format!(" ({})", escaped(note))).unwrap_or_default();
        let fails = claim.test.fails_if().map(|words| escaped(&words)).unwrap_or_default();
        let figure = match &claim.figure {
            Some(id) => report.figure(id).map_or_else(|| escaped(id), link),
            None => String::new(),
        };
        let _ = writeln!(
            out,
            "| {} | {} {}{note} | {} | **{}** | {fails} | {figure} |",
            escaped(&claim.item),
            escaped(&claim.statement),
            escaped(&claim.source),
            escaped(&judged.measured),
            judged.verdict_words(),
        );
    }
    out
}
