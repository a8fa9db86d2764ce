//! Places for finished runs.

use std::path::Path;

use skyhaul_sim::sweep::{Batch, Folder, Header, Runs, SweepError};

/// Finished runs, and where they are.
pub(super) enum Kept {
    /// In memory: gone with the process.
    Memory(Runs),
    /// In a folder: each is on the disk as soon as it is finished.
    Disk(Box<Folder>),
}

impl Kept {
    /// Place for runs of the sweep with this header: the folder `out`, which may have some already, or
    /// memory.
    pub(super) fn open(out: Option<&Path>, header: &Header) -> Result<Self, SweepError> {
        match out {
            Some(out) => Ok(Self::Disk(Box::new(Folder::open(out, header)?))),
            None => Ok(Self::Memory(Runs::default())),
        }
    }

    pub(super) fn runs(&self) -> &Runs {
        match self {
            Self::Memory(runs) => runs,
            Self::Disk(folder) => folder.runs(),
        }
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Memory(_) => None,
            Self::Disk(folder) => Some(folder.path()),
        }
    }

    pub(super) fn add(&mut self, batch: Batch) -> Result<(), SweepError> {
        match self {
            Self::Memory(runs) => batch.into_iter().for_each(|finished| runs.add(finished)),
            Self::Disk(folder) => folder.add(batch)?,
        }
        Ok(())
    }

    /// Finished runs in the end. If they are all that was asked for, they are written down in order.
    pub(super) fn conclude(self, is_complete: bool) -> Result<Runs, SweepError> {
        match self {
            Self::Memory(runs) => Ok(runs),
            Self::Disk(mut folder) => {
                if is_complete {
                    folder.complete()?;
                }
                Ok(folder.runs().clone())
            }
        }
    }
}
