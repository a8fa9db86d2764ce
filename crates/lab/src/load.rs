//! Scenario files, on the disk or ready in the program.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use skyhaul_scenario::{File, MAX_FILE_BYTES, Register, ScenarioError};
use thiserror::Error;

use crate::UnknownName;
use crate::ready::{FILES, ready_names, ready_text};

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
    /// There is no such file.
    #[error("cannot read the scenario '{}': {error}; the ready scenarios have neither folder nor ending: {}",
        path.display(), ready_names().collect::<Vec<_>>().join(", "))]
    Missing {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// A name without folder and ending is neither a file nor a ready scenario.
    #[error("cannot read the scenario '{name}': there is no such file, and {error}")]
    Unknown {
        /// The name.
        name: String,
        /// Names that are known.
        error: UnknownName,
    },
    /// The text, or a change of it, is no scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

/// Scenario file at `path`, or, if there is no such file, the ready scenario of that name
/// ([`ready_names`](crate::ready_names)), with transports of the families in `register`, and with keys
/// changed as `overrides` says. Files beyond [`MAX_FILE_BYTES`] are refused.
///
/// # Errors
/// [`LoadError`].
pub fn load(register: &Register, path: &Path, overrides: &[(String, String)]) -> Result<File, LoadError> {
    if let Some(name) = bare_name(path).filter(|_| !path.is_file()) {
        match ready_text(name) {
            Ok(text) => return Ok(File::load_with(register, name, text, FILES, overrides)?),
            // It is there, and reading it says why it is no scenario.
            Err(_) if path.exists() => {}
            Err(error) => return Err(LoadError::Unknown { name: name.to_string(), error }),
        }
    }
    let text = text_of(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => LoadError::Missing { path: path.to_path_buf(), error },
        _ => LoadError::Read { path: path.to_path_buf(), error },
    })?;
    Ok(File::load(register, &path.display().to_string(), &text, overrides)?)
}

/// Name without folder and ending.
fn bare_name(path: &Path) -> Option<&str> {
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => name.to_str().filter(|name| !name.contains('.')),
        _ => None,
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text);
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(io::Error::new(error.kind(), "it is no text in UTF-8, as a scenario is"))
        }
        Err(error) => Err(error),
    }
}
