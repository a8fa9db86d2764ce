//! HTML tables.

use std::fmt::Write as _;

use super::Table;
use crate::scene::escaped;

impl Table {
    /// The table in HTML; everything in it is escaped.
    pub fn to_html(&self) -> String {
        let mut out = "<table>\n<thead><tr>".to_owned();
        for column in &self.columns {
            let _ = write!(out, "<th{}>{}</th>", class(column.numeric), escaped(&column.title));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in self.cells(row) {
                let _ = write!(out, "<td{}>{}</td>", class(column.numeric), escaped(cell));
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody>\n</table>\n"
    }
}

fn class(numeric: bool) -> &'static str {
    if numeric { " class=\"number\"" } else { "" }
}
