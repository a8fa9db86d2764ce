//! CSV [RFC 4180], with `\n` at the ends of lines.

use super::Table;

impl Table {
    /// The table as CSV: a line of headings, quotes only where they are needed.
    pub fn to_csv(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        let mut out = String::new();
        for row in std::iter::once(&headings).chain(&self.rows) {
            let cells: Vec<String> = self.cells(row).map(|(_, cell)| quoted(cell)).collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
