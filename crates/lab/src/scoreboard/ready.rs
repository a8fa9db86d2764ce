//! Ready scenarios in a folder.

use tempfile::TempDir;

use super::error::BoardError;
use crate::ready::FILES;

/// Writes the ready scenarios into a folder, where the ends of a run in real time, which are processes of
/// their own, find them, too. It goes away with what is returned.
pub(super) fn unpacked() -> Result<TempDir, BoardError> {
    let folder = tempfile::Builder::new().prefix("skyhaul-scoreboard-").tempdir();
    let folder = folder.map_err(|error| BoardError::Unpack { path: std::env::temp_dir(), error })?;
    for (name, text) in FILES {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| BoardError::Unpack { path, error })?;
    }
    Ok(folder)
}
