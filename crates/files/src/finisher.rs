//! The last steps of files that are complete and verified: to the disk, to their names, to the disk
//! again.
//!
//! The waiting is done on tokio's threads for blocking work, so the stream is read on meanwhile. Files
//! that become complete during one round share the next one. The unfinished files themselves stay here:
//! if the session is dropped, nothing gets a name behind its back. They get their names on the session's
//! thread, one a step: others of that thread have their turns in between.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::destination::storage;
use crate::digest::Digest;
use crate::part::PartFile;
use crate::reason::Reason;

/// A file that is complete.
#[derive(Debug)]
pub(crate) struct Complete {
    pub(crate) file: u32,
    pub(crate) digest: Digest,
    pub(crate) part: PartFile,
}

/// Number and result of a file.
pub(crate) type Finished = (u32, Result<Digest, Reason>);

enum FinishStage {
    Idle,
    Files(JoinHandle<Vec<io::Result<()>>>),
    /// What came of synchronising the files of the round that have no name yet, in their order.
    Names(std::vec::IntoIter<io::Result<()>>),
    Directory(JoinHandle<io::Result<()>>),
}

/// Files that are being finished.
pub(crate) struct Finisher {
    overwrite: bool,
    waiting: VecDeque<Complete>,
    round: VecDeque<Complete>,
    /// Files of the round that have their names, or will have none, ...
    finished: Vec<Finished>,
    /// ... and the directories that they are in: one, or two if it was made anew meanwhile.
    directories: Vec<Arc<OwnedFd>>,
    stage: FinishStage,
}

impl Finisher {
    pub(crate) fn new(overwrite: bool) -> Self {
        let (waiting, round, finished, directories) = Default::default();
        Self { overwrite, waiting, round, finished, directories, stage: FinishStage::Idle }
    }

    /// Takes a complete file.
    pub(crate) fn push(&mut self, complete: Complete) {
        complete.part.seal();
        self.waiting.push_back(complete);
    }

    /// How many files are in its hands.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.round.len() + self.finished.len()
    }

    /// Takes a step towards finishing some files; to be called only while there are any. Result: those that
    /// are finished by it, which few steps do. May be cancelled without loss.
    pub(crate) async fn step(&mut self) -> Vec<Finished> {
        match &mut self.stage {
            FinishStage::Idle => self.sync_files(),
            FinishStage::Files(job) => {
                let synced = job.await.unwrap_or_default();
                self.stage = FinishStage::Names(synced.into_iter());
            }
            FinishStage::Names(synced) => {
                let synced = synced.next();
                match self.round.pop_front() {
                    Some(complete) => self.publish(complete, synced),
                    None => self.sync_directories(),
                }
            }
            FinishStage::Directory(job) => {
                let synced = job.await.unwrap_or_else(|error| Err(io::Error::other(error)));
                self.stage = FinishStage::Idle;
                return self.conclude(synced);
            }
        }
        Vec::new()
    }

    /// For a session that fails: what has its name already is finished, the rest is dropped.
    pub(crate) async fn wind_up(&mut self) -> Vec<Finished> {
        self.waiting.clear();
        self.round.clear();
        while !self.finished.is_empty() {
            let finished = self.step().await;
            if !finished.is_empty() {
                return finished;
            }
        }
        Vec::new()
    }

    fn sync_files(&mut self) {
        self.round = std::mem::take(&mut self.waiting);
        let files: Vec<Arc<File>> = self.round.iter().map(|complete| complete.part.file()).collect();
        self.stage =
            FinishStage::Files(spawn_blocking(move || files.iter().map(|file| file.sync_all()).collect()));
    }

    /// `synced` is missing only if the thread died: the file counts as not synchronised.
    fn publish(&mut self, mut complete: Complete, synced: Option<io::Result<()>>) {
        let synced = synced.unwrap_or_else(|| Err(io::ErrorKind::Interrupted.into()));
        let published = not_on_disk(synced).and_then(|()| complete.part.publish(self.overwrite));
        self.finished.push((complete.file, published.map(|()| complete.digest)));
        if !self.directories.iter().any(|known| Arc::ptr_eq(known, complete.part.directory())) {
            self.directories.push(Arc::clone(complete.part.directory()));
        }
    }

    fn sync_directories(&mut self) {
        let directories = std::mem::take(&mut self.directories);
        self.stage = FinishStage::Directory(spawn_blocking(move || {
            directories.iter().try_for_each(|directory| sync_directory(directory))
        }));
    }

    fn conclude(&mut self, synced: io::Result<()>) -> Vec<Finished> {
        let mut finished = std::mem::take(&mut self.finished);
        if let Err(reason) = not_on_disk(synced) {
            finished
                .iter_mut()
                .filter(|(_, result)| result.is_ok())
                .for_each(|(_, result)| *result = Err(reason.clone()));
        }
        finished
    }
}

fn not_on_disk(synced: io::Result<()>) -> Result<(), Reason> {
    synced.map_err(|e| {
        storage("the file cannot be brought to the disk", Errno::from_io_error(&e).unwrap_or(Errno::IO))
    })
}

/// Some file systems cannot synchronise a directory and say EINVAL; they keep names as safe as they can.
fn sync_directory(directory: &OwnedFd) -> io::Result<()> {
    match rustix::fs::fsync(directory) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[path = "finisher_tests.rs"]
mod tests;
