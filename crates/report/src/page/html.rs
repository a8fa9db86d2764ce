//! The report as one HTML file: pictures inside, nothing loaded, every text escaped.

use std::fmt::Write as _;

use super::ReportPage;
use super::markdown::READING;
use crate::ReportError;
use crate::claims::{ClaimVerdict, Judged};
use crate::figure::Figure;
use crate::scene::escaped;

/// Line by which a page is known to be one of these.
pub(super) const MARK: &str = "<meta name=\"generator\" content=\"skyhaul\">";

const STYLE: &str = include_str!("style.css");

pub(super) fn page(report: &ReportPage) -> Result<String, ReportError> {
    let title = escaped(&report.title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{MARK}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    for paragraph in &report.introduction {
        let _ = writeln!(out, "<p>{}</p>", escaped(paragraph));
    }
    if !report.claims.is_empty() {
        claims(&mut out, report);
    }
    if !report.figures.is_empty() {
        let _ = writeln!(out, "<h2>Figures</h2>\n<p>{}</p>", escaped(READING));
    }
    for one in &report.figures {
        figure(&mut out, one)?;
    }
    for (title, table) in &report.tables {
        let _ = writeln!(out, "<h2>{}</h2>\n<div class=\"wide\">{}</div>", escaped(title), table.to_html());
    }
    if !report.notes.is_empty() {
        out.push_str("<h2>Notes</h2>\n<ul>\n");
        for note in &report.notes {
            let _ = writeln!(out, "<li>{}</li>", escaped(note));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(out)
}

fn claims(out: &mut String, report: &ReportPage) {
    let _ = writeln!(
        out,
        "<h2>Claims</h2>\n<p>{} <a href=\"claims.csv\">CSV</a></p>\n<div class=\"wide\">\n<table>\n\
         <thead><tr><th>Item</th><th>Claim</th><th>Measured</th><th>Verdict</th><th>Figure</th></tr></thead>\n<tbody>",
        escaped(&report.verdicts())
    );
    for judged in &report.claims {
        let Judged { claim, verdict, measured } = judged;
        let (class, sign) = match verdict {
            ClaimVerdict::Reproduced => ("reproduced", "✓"),
            ClaimVerdict::Differs => ("differs", "≠"),
            ClaimVerdict::Undecided => ("untested", "?"),
            ClaimVerdict::NotTestable => ("untested", "–"),
        };
        let id = claim.figure.as_deref().unwrap_or_default();
        let known =
            |figure: &Figure| format!("<a href=\"#figure-{0}\">{0}</a>{1}", escaped(id), data(figure));
        let figure = report.figure(id).map_or_else(|| escaped(id), known);
        let fails = claim.test.fails_if().map(|words| format!("Differs if {}.", escaped(&words)));
        let fails = fails.map(|words| format!("<p class=\"note\">{words}</p>")).unwrap_or_default();
        let note = claim
            .note
            .as_ref()
            .map(|note| format!("<p class=\"note\">{}</p>", escaped(note)))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{} <span class=\"source\">{}</span>{note}{fails}</td><td>{}</td>\
             <td><span class=\"verdict {class}\">{sign}&nbsp;{}</span></td><td>{figure}</td></tr>",
            escaped(&claim.item),
            escaped(&claim.statement),
            escaped(&claim.source),
            escaped(measured),
            judged.verdict_words().replace(' ', "&nbsp;"),
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// A link to the numbers of a figure; a ladder diagram has none.
fn data(figure: &Figure) -> String {
    let id = escaped(&figure.definition.id);
    if figure.panels.is_empty() { String::new() } else { format!(" <a href=\"figures/{id}.csv\">CSV</a>") }
}

fn figure(out: &mut String, figure: &Figure) -> Result<(), ReportError> {
    let id = escaped(&figure.definition.id);
    let _ = writeln!(out, "<figure id=\"figure-{id}\">\n<div class=\"paper\">{}</div>", figure.to_svg()?);
    let caption = figure.definition.caption.as_deref().map(escaped).unwrap_or_default();
    let data = data(figure);
    let _ = writeln!(
        out,
        "<figcaption><strong>{id}</strong> {caption} <a href=\"figures/{id}.svg\">SVG</a> \
         <a href=\"figures/{id}.png\">PNG</a>{data}"
    );
    for note in figure.notes() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(note));
    }
    out.push_str("</figcaption>\n</figure>\n");
    Ok(())
}
