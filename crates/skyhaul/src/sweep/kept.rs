//! Where finished runs are kept.

use std::path::Path;

use skyhaul_sim::sweep::{Batch, Folder, Header, RunId, Runs, SweepError};

use crate::output::note;

/// See the module.
pub(crate) enum Kept {
    /// They are gone when the command is over.
    Memory(Runs),
    /// Each is on the disk as soon as it is finished.
    Disk(Box<Folder>),
}

impl Kept {
    /// In the folder `out`, which may have some runs already; without one, in memory.
    pub(crate) fn open(out: Option<&Path>, header: &Header) -> Result<Self, SweepError> {
        match out {
            Some(out) => Ok(Self::Disk(Box::new(Folder::open(out, header)?))),
            None => Ok(Self::Memory(Runs::default())),
        }
    }

    /// What there is.
    pub(crate) fn runs(&self) -> &Runs {
        match self {
            Self::Memory(runs) => runs,
            Self::Disk(folder) => folder.runs(),
        }
    }

    /// Which of these runs are not there yet; says so if some are.
    pub(crate) fn missing(&self, asked: &[RunId], quiet: bool) -> Vec<RunId> {
        let todo: Vec<RunId> = asked.iter().copied().filter(|id| !self.runs().contains(*id)).collect();
        if let Self::Disk(folder) = self
            && todo.len() < asked.len()
            && !quiet
        {
            let (there, place) = (asked.len() - todo.len(), folder.path().display());
            note(&format!("{there} of {} runs are in '{place}' already", asked.len()));
        }
        todo
    }

    /// Takes further ones.
    pub(crate) fn add(&mut self, batch: Batch) -> Result<(), SweepError> {
        match self {
            Self::Memory(runs) => batch.into_iter().for_each(|finished| runs.add(finished)),
            Self::Disk(folder) => folder.add(batch)?,
        }
        Ok(())
    }

    /// What there is in the end; if that is all that was asked for, it is written down in order.
    pub(crate) fn conclude(self, asked: &[RunId]) -> Result<Runs, SweepError> {
        match self {
            Self::Memory(runs) => Ok(runs),
            Self::Disk(mut folder) => {
                if asked.iter().all(|id| folder.runs().contains(*id)) {
                    folder.complete()?;
                }
                Ok(folder.runs().clone())
            }
        }
    }
}
