//! Tables: for a terminal, as CSV, Markdown and HTML.

mod csv;
mod html;
mod markdown;
mod of_figure;
mod of_results;
mod terminal;

pub(crate) use markdown::escaped_markdown;
pub(crate) use of_results::with_interval;

#[cfg(test)]
mod table_tests;

/// A column: its heading, and whether it holds numbers (which stand to the right).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub title: String,
    /// True if it holds numbers.
    pub numeric: bool,
}

/// Rows of text under headings; a row that is too short is filled with empty cells, what is too much is not
/// shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows; headings that begin with `#` are columns of numbers.
    pub fn new(headings: &[&str]) -> Self {
        let column = |heading: &&str| Column {
            title: heading.trim_start_matches('#').to_owned(),
            numeric: heading.starts_with('#'),
        };
        Self { columns: headings.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The cells of a row, as many as there are columns.
    fn cells<'a>(&'a self, row: &'a [String]) -> impl Iterator<Item = (&'a Column, &'a str)> {
        self.columns.iter().enumerate().map(|(i, column)| (column, row.get(i).map_or("", String::as_str)))
    }
}
