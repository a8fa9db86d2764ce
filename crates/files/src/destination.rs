//! The directory that received files go to.
//!
//! It is opened once; everything inside is reached from that handle by a single name, so neither
//! symbolic links nor a renamed parent can lead elsewhere. One that was removed is looked for anew, where it
//! was: no link on the way is followed then, and it must belong to whom the one before did.

mod anew;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::escape::escaped;
use crate::limits::PART_SUFFIX;
use crate::names::FileName;
use crate::reason::{Code, Reason};

/// Temporary names that are tried; with 64 random bits each, the second is never needed.
const TRIES: usize = 16;

/// Why a directory cannot take files; said before anything is received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DestinationError {
    /// It does not exist or cannot be opened.
    #[error("cannot use '{}' as the destination: {source}", shown(.path))]
    Open {
        /// The path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// It is something else than a directory.
    #[error("the destination '{}' is not a directory", shown(.path))]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// No file can be made in it.
    #[error("cannot write to the destination '{}': {source}", shown(.path))]
    NotWritable {
        /// The path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

fn shown(path: &Path) -> String {
    escaped(path.as_os_str().as_bytes())
}

/// An open directory.
#[derive(Clone)]
pub struct Destination {
    directory: Arc<OwnedFd>,
    path: PathBuf,
    /// Place of it when it was opened, without links.
    place: PathBuf,
    /// Permission bits that new files do not get.
    umask: Mode,
    /// True if files without a name can be made here and be given one; found out once.
    takes_unnamed: Arc<OnceLock<bool>>,
}

impl Destination {
    /// Makes a hidden file and removes it, to learn early whether files can be made here.
    pub fn check_writable(&self) -> Result<(), DestinationError> {
        let failed = |e: Errno| DestinationError::NotWritable { path: self.path.clone(), source: e.into() };
        let (_, hidden) = create_hidden(&self.directory).map_err(failed)?;
        rustix::fs::unlinkat(&self.directory, &hidden[..], AtFlags::empty()).map_err(failed)
    }

    /// Removes unfinished files that nobody holds: of receivers that were killed. Those of versions before
    /// this one held no lock. Result: how many were removed; what cannot be looked at stays.
    pub fn remove_abandoned(&self) -> usize {
        let Ok(entries) = Dir::read_from(&self.directory) else { return 0 };
        let names = entries.flatten().map(|entry| entry.file_name().to_bytes().to_vec());
        names.filter(|name| is_hidden_name(name) && self.remove_unheld(name)).count()
    }

    fn remove_unheld(&self, hidden: &[u8]) -> bool {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&self.directory, hidden, flags, Mode::empty()) else {
            return false;
        };
        let is_file = rustix::fs::fstat(&file)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        is_file
            && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && rustix::fs::unlinkat(&self.directory, hidden, AtFlags::empty()).is_ok()
    }

    /// Opens a directory that exists. A symbolic link given here is followed: that is the caller's wish.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, DestinationError> {
        let path = path.into();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(directory) => {
                let takes_unnamed = Arc::default();
                let place = path.canonicalize().unwrap_or_else(|_| path.clone());
                Ok(Self { directory: Arc::new(directory), path, place, umask: umask(), takes_unnamed })
            }
            Err(Errno::NOTDIR) => Err(DestinationError::NotADirectory { path }),
            Err(error) => Err(DestinationError::Open { path, source: error.into() }),
        }
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn directory(&self) -> &Arc<OwnedFd> {
        &self.directory
    }

    /// An empty file that shall be published later, held by a lock; with its hidden name, if it has one:
    /// where the system can, it has none, so that nothing is left of it however this process ends.
    pub(crate) fn create_part(&self) -> Result<(File, Option<Vec<u8>>), Errno> {
        if *self.takes_unnamed.get_or_init(|| self.probe_unnamed().is_ok()) {
            return Ok((create_unnamed(&self.directory)?, None));
        }
        create_hidden(&self.directory).map(|(file, hidden)| (file, Some(hidden)))
    }

    /// Makes a file without a name, names it, and removes it.
    fn probe_unnamed(&self) -> Result<(), Errno> {
        let file = create_unnamed(&self.directory)?;
        let hidden = link_hidden(&self.directory, &file)?;
        rustix::fs::unlinkat(&self.directory, &hidden[..], AtFlags::empty())
    }

    /// Has every file have a name, as on systems that know nothing else.
    #[cfg(test)]
    pub(crate) fn with_names_only(self) -> Self {
        Self { takes_unnamed: Arc::new(OnceLock::from(false)), ..self }
    }

    /// The mode of a new file.
    pub(crate) fn final_mode(&self, executable: bool) -> Mode {
        let wished = if executable { 0o777 } else { 0o666 };
        Mode::from_raw_mode(wished).difference(self.umask)
    }

    /// Admission of a file of `size` bytes as `name`, as far as can be told now.
    pub(crate) fn admit(&self, name: &FileName, size: u64, overwrite: bool) -> Result<(), Reason> {
        self.name_is_free(name, overwrite)?;
        self.has_space(size)
    }

    fn name_is_free(&self, name: &FileName, overwrite: bool) -> Result<(), Reason> {
        match rustix::fs::statat(&self.directory, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            Err(Errno::NAMETOOLONG) => {
                Err(Reason::new(Code::Name, "the name is too long for the file system"))
            }
            Err(error) => Err(storage("the destination cannot be used", error)),
            Ok(_) if !overwrite => Err(exists()),
            Ok(found) => replaceable(FileType::from_raw_mode(found.st_mode)),
        }
    }

    fn has_space(&self, size: u64) -> Result<(), Reason> {
        let found = rustix::fs::fstatvfs(&self.directory)
            .map_err(|e| storage("the destination cannot be used", e))?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        // File systems that do not count their space say that they have none at all.
        if size <= free || found.f_blocks == 0 {
            return Ok(());
        }
        let text = format!("the file needs {size} bytes, the destination has {free} free; make space there");
        Err(Reason::new(Code::NoSpace, text))
    }
}

/// Creates a file without a name, and holds it by a lock for the moment in which it may have a hidden one.
fn create_unnamed(directory: &OwnedFd) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, ".", flags, Mode::RUSR | Mode::WUSR)?;
    let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    Ok(File::from(file))
}

/// Gives an open file the name `to`, unless something has it. Nobody can swap the file for another meanwhile.
pub(crate) fn link_open(directory: &OwnedFd, file: &File, to: &[u8]) -> Result<(), Errno> {
    // Linking a descriptor itself needs a privilege on kernels of before 6.10.
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(CWD, own, directory, to, AtFlags::SYMLINK_FOLLOW)
}

/// Gives an open file a random hidden name.
pub(crate) fn link_hidden(directory: &OwnedFd, file: &File) -> Result<Vec<u8>, Errno> {
    for _ in 0..TRIES {
        let hidden = hidden_name();
        match link_open(directory, file, &hidden) {
            Err(Errno::EXIST) => {}
            done => return done.map(|()| hidden),
        }
    }
    Err(Errno::EXIST)
}

fn hidden_name() -> Vec<u8> {
    // The standard library's hash keys are the random bits that need no further crate.
    let random = RandomState::new().hash_one(std::process::id());
    format!(".{random:016x}{PART_SUFFIX}").into_bytes()
}

/// Creates a file with a random hidden name in `directory`, and holds it by a lock while it is open.
pub(crate) fn create_hidden(directory: &OwnedFd) -> Result<(File, Vec<u8>), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        let hidden = hidden_name();
        match rustix::fs::openat(directory, &hidden[..], flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
            // Between its creation and the lock another receiver that starts may have removed it.
            Ok(file) if is_held(&file) => return Ok((File::from(file), hidden)),
            Ok(_) => {}
        }
    }
    Err(Errno::EXIST)
}

/// Locks a file, and tells if it still has a name. Where a file system has no locks none is removed either.
fn is_held(file: &OwnedFd) -> bool {
    let _ = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
    rustix::fs::fstat(file).is_ok_and(|found| found.st_nlink > 0)
}

/// True for names that [`create_hidden`] gives.
fn is_hidden_name(name: &[u8]) -> bool {
    let random = name.strip_prefix(b".").and_then(|name| name.strip_suffix(PART_SUFFIX.as_bytes()));
    random.is_some_and(|random| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit))
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Destination({:?})", self.path)
    }
}

fn replaceable(found: FileType) -> Result<(), Reason> {
    match found {
        // A link is replaced as such; what it points to stays as it is.
        FileType::RegularFile | FileType::Symlink => Ok(()),
        _ => Err(Reason::new(
            Code::Exists,
            "something of this name exists that is not a file; it is never replaced",
        )),
    }
}

/// The refusal of a name that is taken.
pub(crate) fn exists() -> Reason {
    Reason::new(Code::Exists, "a file of this name exists already; rename it or let the receiver overwrite")
}

/// A failure of the file system.
pub(crate) fn storage(what: &str, error: Errno) -> Reason {
    match error {
        Errno::NOSPC | Errno::DQUOT => {
            Reason::new(Code::NoSpace, format!("{what}: no space left; make space there"))
        }
        other => Reason::new(Code::Storage, format!("{what}: {}", io::Error::from(other))),
    }
}

/// The process's umask. The only call that tells it also changes it, for all threads, so it is read from
/// `/proc`; where that is missing, files stay private.
fn umask() -> Mode {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let bits = line.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    Mode::from_raw_mode(bits.unwrap_or(0o077))
}
