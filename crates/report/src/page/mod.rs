//! Report pages: claims beside what was measured, the figures, the tables; in Markdown and in one HTML file.

mod html;
mod markdown;
mod write;

use crate::claims::{Judged, VerdictCounts};
use crate::figure::Figure;
use crate::table::Table;

pub use write::{check_report_folder, write_report};

#[cfg(test)]
mod page_tests;

/// Contents of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportPage {
    /// The title.
    pub title: String,
    /// Paragraphs in front: what was run, by which command.
    pub introduction: Vec<String>,
    /// The claims with their verdicts.
    pub claims: Vec<Judged>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// Tables with their titles.
    pub tables: Vec<(String, Table)>,
    /// Paragraphs at the end: contradictions of the paper and how they were decided.
    pub notes: Vec<String>,
}

impl ReportPage {
    /// The claims as a table: item, claim, source, measured, verdict, what would differ, figure, note.
    pub fn claims_table(&self) -> Table {
        let mut table =
            Table::new(&["item", "claim", "source", "measured", "verdict", "differs if", "figure", "note"]);
        for judged in &self.claims {
            let Judged { claim, measured, .. } = judged;
            table.push(vec![
                claim.item.clone(),
                claim.statement.clone(),
                claim.source.clone(),
                measured.clone(),
                judged.verdict_words(),
                claim.test.fails_if().unwrap_or_default(),
                claim.figure.clone().unwrap_or_default(),
                claim.note.clone().unwrap_or_default(),
            ]);
        }
        table
    }

    /// How many claims came out which way, in a sentence.
    fn verdicts(&self) -> String {
        format!("{}.", VerdictCounts::of(&self.claims).sentence())
    }

    fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.definition.id == id)
    }
}
