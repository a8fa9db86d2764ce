//! One run in an emulation: who begins when, and what both ends have said.

use std::path::Path;
use std::time::Duration;

use skyhaul_emulator::{Finished, Lab, Report};

use super::end::{EndReport, dismiss, listening};
use crate::failure::Failure;

/// An end listens after this time, or never.
const STARTING: Duration = Duration::from_secs(20);

/// Starts the serving end, when it listens the other one, and waits for both.
pub(super) async fn play(
    mut lab: Lab,
    [from, to]: [&str; 2],
    signs: &Path,
    patience: Duration,
) -> Result<(Vec<Finished>, Report), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("a host of the emulation has failed: {error}"));
    let mut ended = Vec::new();
    lab.begin(to).map_err(failed)?;
    let early = tokio::select! {
        early = lab.finished() => early.map_err(failed)?,
        () = listening(signs) => None,
        () = tokio::time::sleep(STARTING) => None,
    };
    if early.is_none() {
        lab.begin(from).map_err(failed)?;
    }
    ended.extend(early);
    let both = async {
        while ended.iter().all(|finished: &Finished| finished.code == 0)
            && let Some(finished) = lab.finished().await?
        {
            dismiss(signs)?;
            ended.push(finished);
        }
        std::io::Result::Ok(())
    };
    if let Ok(result) = tokio::time::timeout(patience, both).await {
        result.map_err(failed)?;
    }
    Ok((ended, lab.stop().await))
}

/// What an end has said.
pub(super) fn report(finished: Option<&Finished>) -> EndReport {
    let Some(Finished { host, code, output, .. }) = finished else { return EndReport::default() };
    let line = output.rsplit(|&byte| byte == b'\n').find(|line| !line.is_empty());
    let said = line.and_then(|line| serde_json::from_slice(line).ok());
    let silent = || EndReport {
        error: Some(format!("the end at {host} failed with code {code}")),
        ..EndReport::default()
    };
    said.unwrap_or_else(silent)
}
