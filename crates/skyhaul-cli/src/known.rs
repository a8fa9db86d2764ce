//! Facts about the files while a session runs: all that is left of it when it is interrupted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use skyhaul_core::Instant;
use skyhaul_files::{Event, FileReport, SessionReport, Side};

use crate::wall_time::WallTime;

/// Files as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles {
    files: RefCell<Vec<FileReport>>,
    /// Files that were announced, once they are.
    announced: Cell<Option<u32>>,
    started_at: Cell<Option<Instant>>,
    begun_at: Cell<Option<WallTime>>,
    /// Of each file the time at which its result was known.
    settled_at: RefCell<Vec<Option<WallTime>>>,
    /// Time at which the last result was known.
    last_settled_at: Cell<Option<Instant>>,
    /// Files whose data is all here, and whose result is not known yet: true once their end is, too.
    arrived: RefCell<BTreeMap<u32, bool>>,
}

impl KnownFiles {
    /// Takes what the session of `side` tells.
    pub(crate) fn observe(&self, event: &Event<'_>, side: Side, now: Instant) {
        let mut files = self.files.borrow_mut();
        match event {
            Event::Started { files, .. } => {
                self.announced.set(Some(*files));
                self.started_at.set(Some(now));
                self.begun_at.set(Some(WallTime::now()));
            }
            Event::File { name, bytes, .. } => {
                files.push(FileReport::unfinished((*name).clone(), *bytes, side));
            }
            Event::Arrived { file } => {
                self.arrived.borrow_mut().insert(*file, false);
            }
            Event::Whole { file } => {
                self.arrived.borrow_mut().insert(*file, true);
            }
            Event::Settled { file, report } => {
                self.arrived.borrow_mut().remove(file);
                self.settle(*file as usize);
                self.last_settled_at.set(Some(now));
                if let Some(entry) = files.get_mut(*file as usize) {
                    entry.clone_from(report);
                }
            }
            _ => {}
        }
    }

    fn settle(&self, file: usize) {
        let mut times = self.settled_at.borrow_mut();
        if times.len() <= file {
            times.resize(file + 1, None); // at most MAX_FILES: sessions tell of no others
        }
        times[file] = Some(WallTime::now());
    }

    /// Time at which the session began, if it did.
    pub(crate) fn begun_at(&self) -> Option<WallTime> {
        self.begun_at.get()
    }

    /// Time at which the result of this file was known, if it is.
    pub(crate) fn settled_at(&self, file: usize) -> Option<WallTime> {
        self.settled_at.borrow().get(file).copied().flatten()
    }

    /// True once the result of every file is known: what may still come is the other end's farewell.
    pub(crate) fn are_settled(&self) -> bool {
        self.announced.get().is_some_and(|announced| self.settled() == announced as usize)
    }

    /// Time at which the result of every file was known, if it is.
    pub(crate) fn confirmed_at(&self) -> Option<Instant> {
        self.last_settled_at.get().filter(|_| self.are_settled())
    }

    fn settled(&self) -> usize {
        self.settled_at.borrow().iter().flatten().count()
    }

    /// True while the result of a file waits for this machine alone: its disk.
    pub(crate) fn is_any_finishing(&self) -> bool {
        self.arrived.borrow().values().any(|is_whole| *is_whole)
    }

    /// True once nothing of any file is to come: the data of each is here, or it was refused.
    pub(crate) fn is_all_here(&self) -> bool {
        let here = self.settled() + self.arrived.borrow().len();
        self.announced.get().is_some_and(|announced| here == announced as usize)
    }

    /// True if something may be kept of the transfer: a whole file is here, or its result is known.
    pub(crate) fn is_any_kept(&self) -> bool {
        self.is_any_settled() || !self.arrived.borrow().is_empty()
    }

    /// True if the result of a file is known.
    pub(crate) fn is_any_settled(&self) -> bool {
        self.settled_at.borrow().iter().any(Option::is_some)
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

#[cfg(test)]
mod tests {
    use skyhaul_files::RawName;

    use super::*;

    #[test]
    fn a_session_that_waits_for_a_farewell_alone_is_settled() {
        let known = KnownFiles::default();
        let name = RawName::new(b"file".to_vec());
        let report = FileReport::unfinished(name.clone(), 5, Side::Receiver);
        let events = [
            Event::Started { files: 2, bytes: 10 },
            Event::File { file: 0, name: &name, bytes: 5 },
            Event::Arrived { file: 0 },
            Event::Settled { file: 0, report: &report },
            Event::File { file: 1, name: &name, bytes: 5 },
            Event::Arrived { file: 1 },
            Event::Settled { file: 1, report: &report },
        ];
        let (mut kept, mut here, mut settled, mut confirmed) = <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
        for event in &events {
            known.observe(event, Side::Receiver, Instant::ZERO);
            kept.push(known.is_any_kept());
            here.push(known.is_all_here());
            settled.push(known.are_settled());
            confirmed.push(known.confirmed_at().is_some());
        }
        assert_eq!(kept, [false, false, true, true, true, true, true]);
        assert_eq!(here, [false, false, false, false, false, true, true]);
        assert_eq!(settled, [false, false, false, false, false, false, true]);
        assert_eq!(confirmed, settled);
    }
}
