//! The numbers behind a figure.

use super::of_results::{number_columns, numbers};
use super::{Column, Table};
use crate::figure::Figure;

impl Table {
    /// The numbers that a figure draws, in the units that it shows: `panel`, `series`, `x`, then the summary.
    pub fn of_figure(figure: &Figure) -> Self {
        let column = |(title, numeric): (&str, bool)| Column { title: title.to_owned(), numeric };
        let mut columns: Vec<Column> = [("panel", true), ("series", false), ("x", true)].map(column).into();
        columns.extend(number_columns());
        let mut table = Self { columns, rows: Vec::new() };
        for (i, panel) in figure.panels.iter().enumerate() {
            for curve in &panel.curves {
                for datum in &curve.data {
                    let x =
                        if panel.categories.is_empty() { datum.x.to_string() } else { datum.name.clone() };
                    let mut row = vec![(i + 1).to_string(), curve.name.clone(), x];
                    row.extend(numbers(&datum.y));
                    table.push(row);
                }
            }
        }
        table
    }
}
