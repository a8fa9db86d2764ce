//! What a sending session came to.

use skyhaul_core::{Instant, Stats};
use skyhaul_files::{Event, Fault, SendError, SessionReport, Source, Version};
use skyhaul_net::{Clock, OwnedReadHalf, OwnedWriteHalf, Protocol};

use crate::known::KnownFiles;
use crate::result::TransferResult;
use crate::stalled::Stalled;

/// Outcome of a sending session.
pub(crate) struct SendOutcome {
    pub(crate) report: SessionReport,
    /// Reason why it ended early, if it did.
    pub(crate) fault: Option<Fault>,
    /// What stood still, if that ended it.
    pub(crate) stalled: Option<Stalled>,
    /// True if the receiver is no peer any more, and that ended it.
    pub(crate) is_dismissed: bool,
    pub(crate) started_at: Option<Instant>,
    /// Time at which the result of every file was known.
    pub(crate) confirmed_at: Option<Instant>,
}

impl SendOutcome {
    /// Outcome of an interrupted sender.
    pub(crate) fn interrupted(known: &KnownFiles) -> Self {
        let started_at = known.started_at();
        Self { started_at, ..Self::of(known.report()) }
    }

    /// Outcome of a transfer that stood still.
    pub(crate) fn stalled(known: &KnownFiles, stalled: Stalled) -> Self {
        Self { stalled: Some(stalled), ..Self::interrupted(known) }
    }

    /// Outcome of a transfer to who is no peer any more.
    pub(crate) fn dismissed(known: &KnownFiles) -> Self {
        Self { is_dismissed: true, ..Self::interrupted(known) }
    }

    fn of(report: SessionReport) -> Self {
        Self { report, fault: None, stalled: None, is_dismissed: false, started_at: None, confirmed_at: None }
    }

    pub(crate) fn result(&self, stats: &Stats) -> TransferResult {
        let result = TransferResult::new(&self.report, Some(stats));
        let Some((start, end)) = self.started_at.zip(self.confirmed_at) else { return result };
        let confirmed_s = end.since(start) as f64 / 1e9;
        TransferResult { confirmed_s: Some(confirmed_s), ..result.with_goodput(confirmed_s) }
    }
}

/// Sends the sources over an open stream.
pub(crate) async fn session<P: Protocol>(
    clock: Clock,
    reader: &mut OwnedReadHalf<P>,
    writer: &mut OwnedWriteHalf<P>,
    (version, sources): (Version, Vec<Source>),
    mut observer: impl FnMut(&Event<'_>),
) -> SendOutcome {
    let mut started_at = None;
    let mut confirmed_at = None;
    let stamping = |event: &Event<'_>| {
        match event {
            Event::Started { .. } => started_at = Some(clock.now()),
            Event::Settled { .. } => confirmed_at = Some(clock.now()),
            _ => {}
        }
        observer(event);
    };
    match skyhaul_files::send_as(version, reader, writer, sources, stamping).await {
        Ok(report) => SendOutcome { started_at, confirmed_at, ..SendOutcome::of(report) },
        Err(SendError { cause, report }) => {
            SendOutcome { fault: Some(cause), started_at, ..SendOutcome::of(report) }
        }
    }
}
