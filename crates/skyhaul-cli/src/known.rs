//! Facts about the files while a session runs: all that is left of it when it is interrupted.

use std::cell::{Cell, RefCell};

use skyhaul_core::Instant;
use skyhaul_files::{Event, FileReport, SessionReport, Side};

use crate::send::SendOutcome;

/// Files as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles {
    files: RefCell<Vec<FileReport>>,
    started_at: Cell<Option<Instant>>,
}

impl KnownFiles {
    /// Takes what the session of `side` tells.
    pub(crate) fn observe(&self, event: &Event<'_>, side: Side, now: Instant) {
        let mut files = self.files.borrow_mut();
        match event {
            Event::Started { .. } => self.started_at.set(Some(now)),
            Event::File { name, bytes, .. } => {
                files.push(FileReport::unfinished((*name).clone(), *bytes, side));
            }
            Event::Settled { file, report } => {
                if let Some(entry) = files.get_mut(*file as usize) {
                    entry.clone_from(report);
                }
            }
            _ => {}
        }
    }

    /// The files that were begun.
    pub(crate) fn report(&self) -> SessionReport {
        SessionReport { files: self.files.borrow().clone() }
    }

    /// Outcome of an interrupted sender.
    pub(crate) fn sent(&self) -> SendOutcome {
        SendOutcome {
            report: self.report(),
            fault: None,
            started_at: self.started_at.get(),
            confirmed_at: None,
        }
    }
}
