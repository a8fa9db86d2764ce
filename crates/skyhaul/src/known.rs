//! What is known of the files while a session runs: all that is left of it when it is interrupted.

use std::cell::{Cell, RefCell};

use skyhaul_core::Instant;
use skyhaul_files::{Event, FileReport, Report, Side};

use crate::send::Sent;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Known {
    files: RefCell<Vec<FileReport>>,
    started_at: Cell<Option<Instant>>,
}

impl Known {
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
    pub(crate) fn report(&self) -> Report {
        Report { files: self.files.borrow().clone() }
    }

    /// What an interrupted sender came to.
    pub(crate) fn sent(&self) -> Sent {
        Sent { report: self.report(), fault: None, started_at: self.started_at.get(), confirmed_at: None }
    }
}
