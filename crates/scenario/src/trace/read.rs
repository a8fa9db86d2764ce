//! From the text of a trace to its rows.

use std::sync::Arc;

use super::fields::{COLUMNS, Column, TIME};
use super::{Row, Trace};
use crate::error::{Place, ScenarioError, SourceText};
use crate::nearest::did_you_mean;

/// Largest trace, in bytes.
pub const MAX_TRACE_BYTES: usize = 16 << 20;
/// Rows of a trace at most, also those of its repetitions.
pub const MAX_TRACE_ROWS: usize = 100_000;

/// A piece of a line, and where it begins.
type Field<'a> = (usize, &'a str);

/// A trace while it is read.
struct Reader<'a> {
    source: &'a Arc<SourceText>,
    columns: Vec<(&'static str, Column)>,
    rows: Vec<Row>,
}

impl Trace {
    /// Reads the text of `source`, whose label is the file's path.
    pub(crate) fn read(source: &Arc<SourceText>) -> Result<Self, ScenarioError> {
        let mut reader = Reader { source, columns: Vec::new(), rows: Vec::new() };
        let mut start = 0;
        for line in source.text.split_inclusive('\n') {
            let bare = line.trim();
            if !bare.is_empty() && !bare.starts_with('#') {
                reader.line(start, line)?;
            }
            start += line.len();
        }
        if reader.rows.is_empty() {
            let found = if reader.columns.is_empty() { "neither columns nor rows" } else { "no rows" };
            let hint = "the first line names the columns, each further one is a row";
            return Err(reader.refuse((start, ""), "", found, "at least one row", hint));
        }
        Ok(Self { rows: reader.rows })
    }
}

impl Reader<'_> {
    fn line(&mut self, start: usize, line: &str) -> Result<(), ScenarioError> {
        let mut at = start;
        let mut fields = Vec::new();
        for field in line.split(',') {
            fields.push((at + (field.len() - field.trim_start().len()), field.trim()));
            at += field.len() + 1;
        }
        if self.columns.is_empty() { self.header(&fields) } else { self.row(&fields) }
    }

    fn header(&mut self, fields: &[Field<'_>]) -> Result<(), ScenarioError> {
        let names = || COLUMNS.iter().map(|&(name, _)| name);
        for &(at, name) in fields {
            let Some(&column) = COLUMNS.iter().find(|(known, _)| *known == name) else {
                let found = format!("{}, which is no column", shown(name));
                let allowed = names().collect::<Vec<_>>().join(", ");
                return Err(self.refuse((at, name), "", &found, &allowed, &column_hint(name)));
            };
            if self.columns.contains(&column) {
                return Err(self.refuse((at, name), name, "this column a second time", "each once", ""));
            }
            self.columns.push(column);
        }
        if !self.columns.iter().any(|(name, _)| *name == TIME) {
            let first = fields.first().copied().unwrap_or_default();
            return Err(self.refuse(first, TIME, "no such column", "one", "it is required"));
        }
        Ok(())
    }

    fn row(&mut self, fields: &[Field<'_>]) -> Result<(), ScenarioError> {
        let first = fields.first().copied().unwrap_or_default();
        if fields.len() != self.columns.len() {
            let (found, allowed) = (fields.len(), self.columns.len());
            let hint = "a field may be empty: then nothing changes";
            return Err(self.refuse(
                first,
                "",
                &format!("fields: {found}"),
                &format!("{allowed}, one a column"),
                hint,
            ));
        }
        if self.rows.len() == MAX_TRACE_ROWS {
            return Err(self.refuse(first, "", "a further row", &format!("at most {MAX_TRACE_ROWS}"), ""));
        }
        let mut row = Row::default();
        // What is said for one direction counts more than what is said for both.
        for narrow in [false, true] {
            let fields = fields.iter().zip(&self.columns);
            for (&field, &(name, column)) in fields.filter(|&(_, &(_, column))| column.is_narrow() == narrow)
            {
                self.field(field, name, column, &mut row)?;
            }
        }
        self.rows.push(row);
        Ok(())
    }

    fn field(
        &self,
        field: Field<'_>,
        name: &str,
        column: Column,
        row: &mut Row,
    ) -> Result<(), ScenarioError> {
        if field.1.is_empty() && column != Column::Time {
            return Ok(());
        }
        let found = || if field.1.is_empty() { "nothing".to_string() } else { shown(field.1) };
        column
            .read(field.1, row)
            .map_err(|(allowed, hint)| self.refuse(field, name, &found(), allowed, hint))?;
        if column != Column::Time {
            return Ok(());
        }
        match self.rows.last() {
            None if row.at_ns > 0 => Err(self.refuse(field, name, &found(), "0 in the first row", "")),
            Some(before) if row.at_ns <= before.at_ns => {
                let allowed = "a later time than in the row before";
                Err(self.refuse(field, name, &found(), allowed, "sort the rows"))
            }
            _ => Ok(()),
        }
    }

    fn refuse(&self, field: Field<'_>, key: &str, found: &str, allowed: &str, hint: &str) -> ScenarioError {
        let place = Place::new(self.source, field.0..field.0 + field.1.len());
        place.refuse(key, found, allowed, hint)
    }
}

/// The column that somebody may have meant, perhaps without its unit or with another one.
fn column_hint(name: &str) -> String {
    if name.contains([';', '\t', ' ']) {
        return "separate them by commas".to_string();
    }
    let bare = |name: &'static str| name.rsplit_once('_').map_or(name, |(bare, _)| bare);
    let is_meant =
        |column: &str| name.strip_prefix(column).is_some_and(|unit| unit.is_empty() || unit.starts_with('_'));
    let mut names = COLUMNS.iter().map(|&(name, _)| name);
    match names.clone().find(|column| is_meant(bare(column))) {
        Some(column) => format!("did you mean `{column}`?"),
        None => did_you_mean(name, &mut names),
    }
}

/// For messages.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(40).collect();
    if cut.len() < text.len() { format!("{cut:?}...") } else { format!("{cut:?}") }
}
