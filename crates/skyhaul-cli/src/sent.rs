//! What a sending session came to.

use skyhaul_core::{Instant, Stats};
use skyhaul_files::{Event, Fault, SendError, SessionReport, Source, Version};
use skyhaul_net::{Clock, OwnedReadHalf, OwnedWriteHalf, Protocol};

use crate::known::KnownFiles;
use crate::result::TransferResult;
use crate::stalled::Stalled;

/// Reason for which a session was ended here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// The user or the system wants it.
    Stop,
    /// It stood still.
    Stalled(Stalled),
    /// The receiver is no peer any more.
    Dismissed,
}

/// Outcome of a sending session.
pub(crate) struct SendOutcome {
    pub(crate) report: SessionReport,
    /// Reason why it ended early, if it did.
    pub(crate) fault: Option<Fault>,
    /// Why it was ended here while a file had no result, if it was.
    pub(crate) cut: Option<Cut>,
    /// True if it was ended here, whether files had their results or not.
    pub(crate) is_cut: bool,
    pub(crate) started_at: Option<Instant>,
    /// Time at which the result of every file was known.
    pub(crate) confirmed_at: Option<Instant>,
}

impl SendOutcome {
    /// Outcome of a sender that was ended here. That does no harm once every file has its result.
    pub(crate) fn cut(known: &KnownFiles, cut: Cut) -> Self {
        Self { cut: Some(cut).filter(|_| !known.are_settled()), ..Self::parted(known) }
    }

    /// Outcome of a sender that has every result, and was ended here.
    pub(crate) fn parted(known: &KnownFiles) -> Self {
        let (started_at, confirmed_at) = (known.started_at(), known.confirmed_at());
        Self { is_cut: true, started_at, confirmed_at, ..Self::of(known.report()) }
    }

    fn of(report: SessionReport) -> Self {
        Self { report, fault: None, cut: None, is_cut: false, started_at: None, confirmed_at: None }
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

#[cfg(test)]
mod tests {
    use skyhaul_files::{FileReport, RawName, Side};

    use super::*;

    #[test]
    fn whatever_ends_a_sender_behind_the_last_result_cuts_nothing() {
        let name = RawName::new(b"file".to_vec());
        let report = FileReport::unfinished(name.clone(), 5, Side::Sender);
        for cut in [Cut::Stop, Cut::Dismissed] {
            let known = KnownFiles::default();
            let observe = |event| known.observe(&event, Side::Sender, Instant::ZERO);
            observe(Event::Started { files: 1, bytes: 5 });
            observe(Event::File { file: 0, name: &name, bytes: 5 });
            let before = SendOutcome::cut(&known, cut);
            assert!(before.cut.is_some() && before.confirmed_at.is_none());
            observe(Event::Settled { file: 0, report: &report });
            let behind = SendOutcome::cut(&known, cut);
            assert!(behind.cut.is_none() && behind.confirmed_at == Some(Instant::ZERO) && behind.is_cut);
        }
    }
}
