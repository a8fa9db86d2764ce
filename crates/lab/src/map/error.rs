//! Failures of maps.

use std::io;
use std::path::PathBuf;

use skyhaul_scenario::ScenarioError;
use skyhaul_sim::sweep::SweepError;
use thiserror::Error;

/// Reason why a map cannot be made.
#[derive(Debug, Error)]
pub enum MapError {
    /// The file cannot be read, or is no text.
    #[error("cannot read the map '{}': {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// It is no TOML, or a key is unknown, missing or of another type.
    #[error("{file}: {error}")]
    Syntax {
        /// The file.
        file: String,
        /// Line and cause.
        error: Box<toml::de::Error>,
    },
    /// A value that cannot be, or that would take hours.
    #[error("{file}: {what}")]
    Absurd {
        /// The file.
        file: String,
        /// The key, its value, what is allowed.
        what: String,
    },
    /// There is no cell of this number.
    #[error("there is no cell {number}; the map has the cells 1 to {cells}")]
    NoCell {
        /// Number that was asked for.
        number: usize,
        /// How many there are.
        cells: usize,
    },
    /// A cell makes no scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its scenario makes no sweep.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}
