//! Markdown tables.

use super::Table;

impl Table {
    /// The table in Markdown; what a cell holds is text, never markup.
    pub fn to_markdown(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        let mut out = line(self.cells(&headings).map(|(_, cell)| escaped_markdown(cell)));
        out +=
            &line(self.columns.iter().map(|column| if column.numeric { "---:" } else { "---" }.to_owned()));
        for row in &self.rows {
            out += &line(self.cells(row).map(|(_, cell)| escaped_markdown(cell)));
        }
        out
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.fold("|".to_owned(), |line, cell| format!("{line} {cell} |")) + "\n"
}

/// Text in which nothing is markup: signs of Markdown get a backslash, those of HTML become entities, lines
/// are joined.
pub(crate) fn escaped_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
