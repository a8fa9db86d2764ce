//! One run in an emulation: who begins when, and the reports of both ends.

use std::path::Path;
use std::time::Duration;

use skyhaul_emulator::{EmulationReport, FinishedHost, Testbed};

use super::end::{EndReport, dismiss, listening};
use super::error::RaceError;

/// An end listens after this time, or never.
const STARTING: Duration = Duration::from_secs(20);

/// Starts the serving end, when it listens the other one, and waits for both.
pub(super) async fn play(
    mut lab: Testbed,
    [from, to]: [&str; 2],
    signs: &Path,
    patience: Duration,
) -> Result<(Vec<FinishedHost>, EmulationReport), RaceError> {
    let mut ended = Vec::new();
    lab.begin(to).map_err(RaceError::Host)?;
    let early = tokio::select! {
        early = lab.finished() => early.map_err(RaceError::Host)?,
        () = listening(signs) => None,
        () = tokio::time::sleep(STARTING) => None,
    };
    if early.is_none() {
        lab.begin(from).map_err(RaceError::Host)?;
    }
    ended.extend(early);
    let both = async {
        while ended.iter().all(|finished: &FinishedHost| finished.code == 0)
            && let Some(finished) = lab.finished().await?
        {
            dismiss(signs)?;
            ended.push(finished);
        }
        std::io::Result::Ok(())
    };
    if let Ok(result) = tokio::time::timeout(patience, both).await {
        result.map_err(RaceError::Host)?;
    }
    Ok((ended, lab.stop().await))
}

/// Report of an end, on the last line that it printed.
pub(super) fn report(finished: Option<&FinishedHost>) -> EndReport {
    let Some(FinishedHost { host, code, output, .. }) = finished else { return EndReport::default() };
    let line = output.rsplit(|&byte| byte == b'\n').find(|line| !line.is_empty());
    let said = line.and_then(|line| serde_json::from_slice(line).ok());
    let silent = || EndReport {
        error: Some(format!("the end at {host} failed with code {code}")),
        ..EndReport::default()
    };
    said.unwrap_or_else(silent)
}
