//! A file that is not finished: without a name or hidden, private, and gone unless it is published.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, RenameFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use crate::codec::Modified;
use crate::destination::{Destination, exists, link_hidden, link_open, storage};
use crate::names::FileName;
use crate::reason::{Code, Reason};

/// What a file keeps of the sender's besides name and content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// True if its owner may execute it.
    pub(crate) executable: bool,
    /// When it was modified, if that is known.
    pub(crate) modified: Option<Modified>,
}

/// Removed when dropped, unless it was published. One without a name is gone with its last descriptor.
#[derive(Debug)]
pub(crate) struct PartFile {
    directory: Arc<OwnedFd>,
    file: Arc<File>,
    /// The name that it has until it is published, if it has one.
    hidden: Option<Vec<u8>>,
    name: FileName,
    mode: Mode,
    modified: Option<Modified>,
}

impl PartFile {
    /// Creates an empty one that shall become `name`.
    pub(crate) fn create(
        destination: &Destination,
        name: FileName,
        Traits { executable, modified }: Traits,
    ) -> Result<Self, Reason> {
        let directory = Arc::clone(destination.directory());
        let created = destination.create_part();
        let (file, hidden) = created.map_err(|e| storage("the file cannot be created", e))?;
        let mode = destination.final_mode(executable);
        Ok(Self { directory, file: Arc::new(file), hidden, name, mode, modified })
    }

    /// The directory that it is in.
    pub(crate) fn directory(&self) -> &Arc<OwnedFd> {
        &self.directory
    }

    /// The open file, for writing and synchronising it elsewhere.
    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Gives the file its final mode and time, when all of it is written. Where a file system has no modes it
    /// stays as it is: private; where it cannot store the time, its time is that of its arrival.
    pub(crate) fn seal(&self) {
        let _ = rustix::fs::fchmod(&self.file, self.mode);
        if let Some(Modified { seconds, nanos }) = self.modified {
            let last_modification = Timespec { tv_sec: seconds, tv_nsec: nanos.into() };
            let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
            let _ = rustix::fs::futimens(&self.file, &Timestamps { last_access, last_modification });
        }
    }

    /// Moves the file to its final name in one step; without `overwrite`, only if the name is free. What has
    /// the name then is this file, or the result is an error: whoever can write in the directory can put
    /// something else in the place of a hidden file.
    pub(crate) fn publish(&mut self, overwrite: bool) -> Result<(), Reason> {
        if self.hidden.is_some() && !self.is_at(self.hidden.as_deref().unwrap_or_default()) {
            return Err(swapped());
        }
        match self.give_name(overwrite) {
            Ok(()) => self.hidden = None,
            Err(Errno::EXIST) => return Err(exists()),
            Err(error) => return Err(storage("the finished file cannot be given its name", error)),
        }
        if self.is_at(self.name.as_bytes()) { Ok(()) } else { Err(swapped()) }
    }

    fn give_name(&mut self, overwrite: bool) -> Result<(), Errno> {
        let (directory, to) = (Arc::clone(&self.directory), self.name.as_bytes());
        match &self.hidden {
            None if !overwrite => link_open(&directory, &self.file, to),
            Some(from) if !overwrite => move_without_overwriting(&directory, from, to),
            None => {
                let from = self.hidden.insert(link_hidden(&directory, &self.file)?);
                rustix::fs::renameat(&directory, &from[..], &directory, to)
            }
            Some(from) => rustix::fs::renameat(&directory, &from[..], &directory, to),
        }
    }

    /// True if this very file has the name. A link of this name is not followed.
    fn is_at(&self, name: &[u8]) -> bool {
        let there = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(there), Ok(own)) = (there, rustix::fs::fstat(&self.file)) else { return false };
        (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)
    }
}

fn swapped() -> Reason {
    let text =
        "something else was put in the place of the finished file; look who can write in the destination";
    Reason::new(Code::Storage, text)
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            let _ = rustix::fs::unlinkat(&self.directory, &hidden[..], AtFlags::empty());
        }
    }
}

/// Stores `data` at `offset`.
pub(crate) fn write(file: &File, data: &[u8], offset: u64) -> Result<(), Reason> {
    let written = file.write_all_at(data, offset);
    written.map_err(|e| storage("the file cannot be written", Errno::from_io_error(&e).unwrap_or(Errno::IO)))
}

fn move_without_overwriting(directory: &OwnedFd, from: &[u8], to: &[u8]) -> Result<(), Errno> {
    match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        // The file system or the kernel does not know how.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => link_then_unlink(directory, from, to),
        done => done,
    }
}

/// A hard link never replaces anything either. If the hidden name cannot be removed, the file is there
/// all the same.
fn link_then_unlink(directory: &OwnedFd, from: &[u8], to: &[u8]) -> Result<(), Errno> {
    rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
    let _ = rustix::fs::unlinkat(directory, from, AtFlags::empty());
    Ok(())
}

#[cfg(test)]
#[path = "part_tests.rs"]
mod tests;
