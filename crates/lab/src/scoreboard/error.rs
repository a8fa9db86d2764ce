//! Failures of the board.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::LoadError;
use crate::race::RaceError;

/// Reason why a board cannot be made.
#[derive(Debug, Error)]
pub enum BoardError {
    /// The ready scenarios, which the program has, cannot be written to a folder.
    #[error("cannot write '{}': {error}", path.display())]
    Unpack {
        /// The folder, or a file in it.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// A ready scenario cannot be read back.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A case cannot be raced.
    #[error(transparent)]
    Race(#[from] RaceError),
}
