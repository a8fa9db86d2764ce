//! Facts about the files while a session runs: all that is left of it when it is interrupted.

use std::cell::{Cell, RefCell};

use skyhaul_core::Instant;
use skyhaul_files::{Event, FileReport, SessionReport, Side};

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

    /// Time at which the session began, if it did.
    pub(crate) fn started_at(&self) -> Option<Instant> {
        self.started_at.get()
    }
}
