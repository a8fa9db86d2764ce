//! Errors: always what, where, and what would do instead.

use std::path::{Path, PathBuf};

/// Why a file could not be read, a figure not be drawn or a report not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file could not be opened or read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A file stands where a report's would, and is none of one.
    #[error("{} is there, and no report of skyhaul: name another folder, or remove it", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A file does not hold what it should.
    #[error("{place}:{line}: {message}")]
    Line {
        /// The file, or the name that its text was given.
        place: String,
        /// The line, from 1.
        line: usize,
        /// The fault, and what is allowed.
        message: String,
    },
    /// A figure or claim asks for what the results do not hold.
    #[error("{id}: {message}")]
    Item {
        /// The figure or claim.
        id: String,
        /// The fault, and what is there instead.
        message: String,
    },
    /// A picture could not be made.
    #[error("picture: {0}")]
    Picture(String),
}

impl ReportError {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    pub(crate) fn line(place: &str, line: usize, message: impl Into<String>) -> Self {
        Self::Line { place: place.to_owned(), line, message: message.into() }
    }

    pub(crate) fn item(id: &str, message: impl Into<String>) -> Self {
        Self::Item { id: id.to_owned(), message: message.into() }
    }
}

/// A list for an error message, at most ten entries: `a, b, c`.
pub(crate) fn listed<T: std::fmt::Display>(all: impl IntoIterator<Item = T>) -> String {
    let mut shown: Vec<String> = all.into_iter().take(11).map(|item| item.to_string()).collect();
    if shown.len() == 11 {
        "...".clone_into(&mut shown[10]);
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
