//! Scenario files that the user names, and what `--set` changes in them.

use std::io::Read as _;
use std::path::Path;

use skyhaul_sim::scenario::{File, MAX_FILE_BYTES, ScenarioError};

use crate::failure::Failure;

/// Reads the file at `path`, changed like this.
pub(crate) fn load(path: &Path, overrides: &[(String, String)]) -> Result<File, Failure> {
    let file = File::load(&path.display().to_string(), &text_of(path)?, overrides);
    file.map_err(|error| bad_scenario(&error))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let file = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text));
    match file {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::new(format!("cannot read the scenario '{}': {error}", path.display()))),
    }
}

fn bad_scenario(error: &ScenarioError) -> Failure {
    let message = error.to_string();
    if error.place.starts_with("--set ") { Failure::usage(message) } else { Failure::new(message) }
}

/// The value of `--set`.
pub(crate) fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_string(), value.to_string())),
        _ => Err("write it like links.space.forward.rate=2Mbit/s".to_string()),
    }
}
