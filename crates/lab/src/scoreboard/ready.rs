//! Ready scenarios, as they are in `scenarios/`: the program has them.

use tempfile::TempDir;

use super::error::BoardError;

macro_rules! files {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../scenarios/", $file)))),*]
    };
}

/// Scenarios that the cases name, with their traces.
pub(super) const FILES: &[(&str, &str)] = files![
    "beside-tcp.toml",
    "deep-queue.toml",
    "fairness-rtt.toml",
    "fairness.toml",
    "geo-noisy.toml",
    "geo.toml",
    "joining.toml",
    "leo-handoff.toml",
    "leo-passes.toml",
    "rain-fade.csv",
    "rain-fade.toml",
    "scps.toml",
    "shallow-queue.toml",
    "starlink.toml",
    "steps.csv",
    "steps.toml",
    "thin-return.toml",
    "whisper-return.toml",
];

/// Writes them into a folder, where the ends of a run in real time, which are processes of their own, find
/// them, too. It goes away with what is returned.
pub(super) fn unpacked() -> Result<TempDir, BoardError> {
    let folder = tempfile::Builder::new().prefix("skyhaul-scoreboard-").tempdir();
    let folder = folder.map_err(|error| BoardError::Unpack { path: std::env::temp_dir(), error })?;
    for (name, text) in FILES {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| BoardError::Unpack { path, error })?;
    }
    Ok(folder)
}
