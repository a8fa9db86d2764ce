//! Aligned columns for a terminal.

use super::Table;

impl Table {
    /// The table with aligned columns, two spaces apart; lines end without spaces.
    pub fn to_terminal(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        let mut widths: Vec<usize> = headings.iter().map(|heading| heading.chars().count()).collect();
        for row in &self.rows {
            for (width, (_, cell)) in widths.iter_mut().zip(self.cells(row)) {
                *width = (*width).max(printable(cell).chars().count());
            }
        }
        let mut out = String::new();
        for row in std::iter::once(&headings).chain(&self.rows) {
            let mut line = String::new();
            for (width, (column, cell)) in widths.iter().zip(self.cells(row)) {
                let cell = printable(cell);
                let padded =
                    if column.numeric { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
                line.push_str(&padded);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Text without control characters: a file must not steer a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
