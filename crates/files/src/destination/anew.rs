//! A directory that was removed while it was open, and the one that was made in its place.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::{Destination, create_hidden};
use crate::reason::{Code, Reason};

impl Destination {
    /// True if the directory was removed: nothing can be made in it any more, whatever stands at its path.
    pub(crate) fn is_removed(&self) -> bool {
        match rustix::fs::fstat(&self.directory) {
            Ok(found) => found.st_nlink == 0,
            Err(error) => error == Errno::STALE,
        }
    }

    /// The directory that was made where this one was before it was removed. What leads there by a link, or
    /// belongs to another owner, is not what the user meant, but perhaps what somebody else put there.
    pub(crate) fn made_anew(&self) -> Result<Self, Reason> {
        let gone = |why: String| {
            let text = format!("the destination was removed, and there is none to go on in: {why}");
            Reason::new(Code::Storage, text)
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat2(CWD, &self.place, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let directory = opened.map_err(|error| gone(io::Error::from(error).to_string()))?;
        let owner = |directory: &OwnedFd| rustix::fs::fstat(directory).map(|found| found.st_uid);
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
