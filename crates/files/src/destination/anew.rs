//! A directory that was removed while it was open, or mounted over, and the one that is in its place.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, statat};
use rustix::io::Errno;

use super::{Destination, create_hidden};
use crate::reason::{Code, Reason};

impl Destination {
    /// True if the directory was removed: nothing can be made in it any more, whatever stands at its path.
    pub(crate) fn is_removed(&self) -> bool {
        match fstat(&self.directory) {
            Ok(found) => found.st_nlink == 0,
            Err(error) => error == Errno::STALE,
        }
    }

    /// True if a directory of another file system is at its path: one was mounted there, or its own is
    /// mounted there no more. What is stored in this one, nobody finds.
    pub(crate) fn is_covered(&self) -> bool {
        let Ok(there) = statat(CWD, &self.place, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        let is_directory = FileType::from_raw_mode(there.st_mode) == FileType::Directory;
        is_directory && fstat(&self.directory).is_ok_and(|own| own.st_dev != there.st_dev)
    }

    /// The directory that is where this one was before it was removed or mounted over. What leads there by a
    /// link, or belongs to another owner, is not what the user meant, but perhaps what somebody else put
    /// there.
    pub(crate) fn made_anew(&self) -> Result<Self, Reason> {
        let what = if self.is_covered() { "is on another disk now" } else { "was removed" };
        let gone = |why: String| {
            let text = format!("the destination {what}, and there is none to go on in: {why}");
            Reason::new(Code::Storage, text)
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat2(CWD, &self.place, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let directory = opened.map_err(|error| gone(io::Error::from(error).to_string()))?;
        let owner = |directory: &OwnedFd| fstat(directory).map(|found| found.st_uid);
        if owner(&directory) != owner(&self.directory) {
            return Err(gone("the new one has another owner".into()));
        }
        let anew = Self { directory: Arc::new(directory), takes_unnamed: Arc::default(), ..self.clone() };
        match create_hidden(&anew.directory) {
            Ok((_, hidden)) => {
                let _ = rustix::fs::unlinkat(&anew.directory, &hidden[..], AtFlags::empty());
                Ok(anew)
            }
            Err(error) => Err(gone(io::Error::from(error).to_string())),
        }
    }
}

#[cfg(test)]
#[path = "anew_tests.rs"]
mod tests;
