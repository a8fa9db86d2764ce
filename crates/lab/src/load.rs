//! Scenario files on the disk.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use skyhaul_scenario::{File, MAX_FILE_BYTES, Register, ScenarioError};
use thiserror::Error;

/// Failure to read a scenario file.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read, or is no text.
    #[error("cannot read the scenario '{}': {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// The text, or a change of it, is no scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

/// Scenario file at `path` with transports of the families in `register`, and with keys changed as
/// `overrides` says. Files beyond [`MAX_FILE_BYTES`] are refused.
///
/// # Errors
/// [`LoadError`].
pub fn load(register: &Register, path: &Path, overrides: &[(String, String)]) -> Result<File, LoadError> {
    let text = text_of(path).map_err(|error| LoadError::Read { path: path.to_path_buf(), error })?;
    Ok(File::load(register, &path.display().to_string(), &text, overrides)?)
}

fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
