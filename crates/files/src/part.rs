//! A file that is not finished: hidden, private, and gone unless it is published.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, RenameFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use crate::codec::Modified;
use crate::destination::{Destination, create_hidden, exists, storage};
use crate::names::FileName;
use crate::reason::Reason;

/// What a file keeps of the sender's besides name and content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// True if its owner may execute it.
    pub(crate) executable: bool,
    /// When it was modified, if that is known.
    pub(crate) modified: Option<Modified>,
}

/// Removed when dropped, unless it was published.
#[derive(Debug)]
pub(crate) struct PartFile {
    directory: Arc<OwnedFd>,
    file: Arc<File>,
    hidden: Vec<u8>,
    name: FileName,
    mode: Mode,
    modified: Option<Modified>,
    published: bool,
}

impl PartFile {
    /// Creates an empty one that shall become `name`.
    pub(crate) fn create(
        destination: &Destination,
        name: FileName,
        Traits { executable, modified }: Traits,
    ) -> Result<Self, Reason> {
        let directory = Arc::clone(destination.directory());
        let (file, hidden) =
            create_hidden(&directory).map_err(|e| storage("the file cannot be created", e))?;
        let mode = destination.final_mode(executable);
        Ok(Self { directory, file: Arc::new(file), hidden, name, mode, modified, published: false })
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

    /// Moves the file to its final name in one step; without `overwrite`, only if the name is free.
    pub(crate) fn publish(&mut self, overwrite: bool) -> Result<(), Reason> {
        let (from, to) = (&self.hidden[..], self.name.as_bytes());
        let moved = if overwrite {
            rustix::fs::renameat(&self.directory, from, &self.directory, to)
        } else {
            move_without_overwriting(&self.directory, from, to)
        };
        match moved {
            Ok(()) => self.published = true,
            Err(Errno::EXIST) => return Err(exists()),
            Err(error) => return Err(storage("the finished file cannot be given its name", error)),
        }
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.published {
            let _ = rustix::fs::unlinkat(&self.directory, &self.hidden[..], AtFlags::empty());
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
