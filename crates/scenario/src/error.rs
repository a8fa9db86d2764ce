//! Faults of a scenario file, with their places.

use std::fmt;
use std::sync::Arc;

/// A scenario file that makes no sense. Displays as `FILE:LINE:COLUMN: KEY: found X; allowed Y; hint`; the
/// place is `--set KEY=VALUE` if an override is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// `FILE:LINE:COLUMN` or `--set KEY=VALUE`.
    pub place: String,
    /// Key path, as in `links.space.forward.rate`; empty if the file is no TOML.
    pub key: String,
    /// Problem: what was found, what is allowed, what to do.
    pub problem: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for ScenarioError {}

impl ScenarioError {
    /// Adds under which circumstances.
    pub(super) fn under(mut self, circumstances: &str) -> Self {
        self.problem = format!("{} ({circumstances})", self.problem);
        self
    }
}

/// Where text of a scenario comes from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SourceText {
    /// The file, or the override as it was given.
    pub(super) label: String,
    pub(super) text: String,
    pub(super) is_override: bool,
}

/// Piece of the text of a scenario file or of an override. Displays as `FILE:LINE:COLUMN` or as the override.
#[derive(Clone, Debug, Default)]
pub struct Place {
    source: Arc<SourceText>,
    start: usize,
    end: usize,
}

/// Longer texts are cut where they are shown.
const SHOWN_CHARS: usize = 60;

impl Place {
    pub(super) fn new(source: &Arc<SourceText>, span: std::ops::Range<usize>) -> Self {
        Self { source: source.clone(), start: span.start, end: span.end }
    }

    /// For the order of entries in their file.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// All of the text that stands there.
    pub(super) fn whole(&self) -> String {
        self.source.text.get(self.start..self.end).unwrap_or_default().to_string()
    }

    /// Text that stands there.
    pub(super) fn text(&self) -> String {
        let text = self.source.text.get(self.start..self.end).unwrap_or_default();
        let line: String = text.chars().take(SHOWN_CHARS).collect();
        if line.len() < text.len() { format!("{}...", line.escape_debug()) } else { line }
    }

    /// Error that says what of `key` was found and what is allowed; an empty `hint` is left out.
    pub fn refuse(&self, key: &str, found: &str, allowed: &str, hint: &str) -> ScenarioError {
        let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
        self.error(key, format!("found {found}; allowed {allowed}{hint}"))
    }

    /// Error about `key` in words of its own.
    pub fn error(&self, key: &str, problem: String) -> ScenarioError {
        ScenarioError { place: self.to_string(), key: key.to_string(), problem }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source.is_override {
            return f.write_str(&self.source.label);
        }
        let before = self.source.text.get(..self.start).unwrap_or(&self.source.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        write!(f, "{}:{line}:{column}", self.source.label)
    }
}
