//! Files to send.

use std::cmp::Ordering;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::codec::Modified;
use crate::escape::escaped;
use crate::limits::{CHUNK_BYTES, MAX_FILE_BYTES};
use crate::names::{FileName, NameError};
use crate::reason::{Code, Reason};

/// Why a file cannot be sent; said before anything is connected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It cannot be opened.
    #[error("cannot open '{}': {source}", shown(.path))]
    Open {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// It is a directory, a pipe, a device or a socket.
    #[error("'{}' is a {kind}; only regular files can be sent", shown(.path))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// Kind of the thing.
        kind: &'static str,
    },
    /// Its name cannot travel.
    #[error("'{}' cannot be sent under this name: {source}", shown(.path))]
    Name {
        /// The path.
        path: PathBuf,
        /// Fault of the name.
        source: NameError,
    },
    /// A stream could not be read to its end, or not be kept until then.
    #[error("cannot {doing}: {source}")]
    Stream {
        /// What failed.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// It is larger than the protocol allows.
    #[error("'{}' has {bytes} bytes; at most 256 TiB can be sent as one file, so split it", shown(.path))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
}

fn shown(path: &Path) -> String {
    escaped(path.as_os_str().as_bytes())
}

/// A file to send, checked but not kept open: a transfer may have thousands.
#[derive(Clone, Debug)]
pub struct Source {
    name: FileName,
    size: u64,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Path(PathBuf),
    Memory(Bytes),
    /// A file without a name: nobody else changes it.
    Spool(Arc<File>),
}

impl Source {
    /// Checks that `path` is a regular file that can be read, following symbolic links. Never waits for
    /// the other end of a pipe.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, SourceError> {
        let path = path.into();
        let (_, stamp) = open_regular(&path)?;
        let name = path.file_name().map_or_else(Vec::new, |name| name.as_bytes().to_vec());
        match FileName::new(name) {
            Ok(name) => Ok(Self { name, size: stamp.size, content: Content::Path(path) }),
            Err(source) => Err(SourceError::Name { path, source }),
        }
    }

    /// Reads a stream to its end into a file without a name in `folder` (or in memory, where that cannot be):
    /// its size must be known before it is sent. So nothing is sent of a stream that fails.
    pub fn spool(mut stream: impl io::Read, name: FileName, folder: &Path) -> Result<Self, SourceError> {
        let keeping = |source| SourceError::Stream { doing: "keep what is read", source };
        let mut file = nameless(folder).map_err(|error| keeping(error.into()))?;
        let (mut room, mut size) = (vec![0; CHUNK_BYTES], 0);
        loop {
            let read = match stream.read(&mut room) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(SourceError::Stream { doing: "read the standard input", source }),
            };
            file.write_all(&room[..read]).map_err(keeping)?;
            size += read as u64;
        }
        Ok(Self { name, size, content: Content::Spool(Arc::new(file)) })
    }

    /// A file that is only in memory.
    pub fn from_bytes(name: impl Into<Vec<u8>>, content: impl Into<Bytes>) -> Result<Self, NameError> {
        let content = content.into();
        Ok(Self { name: FileName::new(name)?, size: content.len() as u64, content: Content::Memory(content) })
    }

    /// This file, under another name at the receiver.
    #[must_use]
    pub fn named(self, name: FileName) -> Self {
        Self { name, ..self }
    }

    /// The name at the receiver.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// The size when it was checked.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Opens the file for the transfer; its size is what it is now.
    pub(crate) fn begin(&self) -> Result<Reading, SourceError> {
        match &self.content {
            Content::Memory(bytes) => Ok(Reading::Memory(bytes.clone())),
            Content::Spool(file) => Ok(Reading::Spool(Arc::clone(file), self.size)),
            Content::Path(path) => {
                let (file, stamp) = open_regular(path)?;
                Ok(Reading::File(FileReading {
                    path: path.as_path().into(),
                    file: Some(Arc::new(file)),
                    stamp,
                }))
            }
        }
    }
}

impl SourceError {
    /// True if nothing but too many other open files is in the way.
    pub(crate) fn is_crowded(&self) -> bool {
        let Self::Open { source, .. } = self else { return false };
        matches!(Errno::from_io_error(source), Some(Errno::MFILE | Errno::NFILE))
    }
}

/// Why a file could not be begun.
pub(crate) fn begin_reason(error: &SourceError) -> Reason {
    match error {
        SourceError::Open { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Reason::new(Code::Changed, "the file vanished before it was its turn")
        }
        SourceError::Open { source, .. } => {
            Reason::new(Code::Unreadable, format!("the file cannot be opened: {source}"))
        }
        SourceError::NotAFile { kind, .. } => {
            Reason::new(Code::Changed, format!("the file has become a {kind}"))
        }
        _ => Reason::new(Code::TooLarge, "the file has grown beyond what can be sent"),
    }
}

/// A file's size, mode and age. Size and age must not change while it is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    size: u64,
    executable: bool,
    modified: (i64, i64),
}

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        let executable = found.mode() & 0o100 != 0;
        Ok(Self { size: found.size(), executable, modified: (found.mtime(), found.mtime_nsec()) })
    }

    /// Check that a file has this stamp still.
    fn still_holds(&self, file: &File) -> Result<(), Reason> {
        let now = Self::of(file).map_err(|error| read_reason(&error))?;
        let beyond = file.read_at(&mut [0], self.size).map_err(|error| read_reason(&error))?;
        match now.size.cmp(&self.size) {
            Ordering::Less => Err(changed("shrank")),
            Ordering::Greater => Err(changed("grew")),
            Ordering::Equal if beyond > 0 && self.size == 0 => Err(hides_its_size()),
            Ordering::Equal if beyond > 0 => Err(changed("had more content than its size says")),
            Ordering::Equal if now.modified != self.modified => Err(changed("changed")),
            Ordering::Equal => Ok(()),
        }
    }
}

/// A file in transfer; clones are of one open file.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    File(FileReading),
    Memory(Bytes),
    Spool(Arc<File>, u64),
}

/// A file on a disk.
#[derive(Clone, Debug)]
pub(crate) struct FileReading {
    path: Arc<Path>,
    /// `None`: it was closed, so that others can be opened.
    file: Option<Arc<File>>,
    stamp: Stamp,
}

impl Reading {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File(reading) => reading.stamp.size,
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Spool(_, size) => *size,
        }
    }

    pub(crate) fn executable(&self) -> bool {
        matches!(self, Self::File(reading) if reading.stamp.executable)
    }

    /// When it was modified, of a file that has such a time.
    pub(crate) fn modified(&self) -> Option<Modified> {
        let Self::File(FileReading { stamp, .. }) = self else { return None };
        let (seconds, nanos) = stamp.modified;
        Some(Modified { seconds, nanos: u32::try_from(nanos).unwrap_or(0) })
    }

    /// True if reading it may wait for a disk.
    pub(crate) fn may_wait(&self) -> bool {
        !matches!(self, Self::Memory(_))
    }

    /// Closes a file on a disk; true if it was open. Whoever reads it again opens it for that time.
    pub(crate) fn close(&mut self) -> bool {
        let Self::File(reading) = self else { return false };
        reading.file.take().is_some()
    }

    /// Fills `room` from `offset`; both lie within the size.
    pub(crate) fn read(&self, offset: u64, room: &mut [u8]) -> Result<(), Reason> {
        match self {
            Self::File(reading) => {
                reading.opened()?.read_exact_at(room, offset).map_err(|error| read_reason(&error))
            }
            Self::Spool(file, _) => file.read_exact_at(room, offset).map_err(|error| read_reason(&error)),
            Self::Memory(bytes) => {
                let from = offset as usize;
                room.copy_from_slice(&bytes[from..from + room.len()]);
                Ok(())
            }
        }
    }

    /// Check that the file is still the one that was begun; made before it is called complete.
    pub(crate) fn unchanged(&self) -> Result<(), Reason> {
        let Self::File(reading) = self else { return Ok(()) };
        reading.stamp.still_holds(&*reading.opened()?)
    }
}

impl FileReading {
    /// The open file. One that was closed is opened anew, and must be the one that was begun by its stamp;
    /// its digest tells the receiver if it is not.
    fn opened(&self) -> Result<Arc<File>, Reason> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let (file, _) = open_regular(&self.path).map_err(|error| match &error {
            SourceError::Open { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                changed("vanished")
            }
            _ => begin_reason(&error),
        })?;
        self.stamp.still_holds(&file)?;
        Ok(Arc::new(file))
    }
}

fn changed(how: &str) -> Reason {
    Reason::new(Code::Changed, format!("the file {how} while it was being sent"))
}

/// Files that the system makes when they are read, as in /proc.
fn hides_its_size() -> Reason {
    let text = "the file says that it is empty, and is not, as those in /proc: `skyhaul send - --name NAME` takes it \
                from the standard input";
    Reason::new(Code::Changed, text)
}

fn read_reason(error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => changed("shrank"),
        _ => Reason::new(Code::Unreadable, format!("the file cannot be read: {error}")),
    }
}

/// Opens `path` if it is a regular file. It is looked at before it is opened, since opening a device can
/// have effects, and again afterwards, since it can have been replaced in between.
fn open_regular(path: &Path) -> Result<(File, Stamp), SourceError> {
    let failed = |source| SourceError::Open { path: path.to_owned(), source };
    regular(path, &std::fs::metadata(path).map_err(failed)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file =
        File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(error.into()))?);
    regular(path, &file.metadata().map_err(failed)?)?;
    let stamp = Stamp::of(&file).map_err(failed)?;
    Ok((file, stamp))
}

/// File without a name, for as long as it is open.
fn nameless(folder: &Path) -> Result<File, Errno> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR);
    // Not every file system knows how.
    let made = opened.or_else(|_| rustix::fs::memfd_create("skyhaul", MemfdFlags::CLOEXEC));
    made.map(File::from)
}

fn regular(path: &Path, found: &Metadata) -> Result<(), SourceError> {
    let path = path.to_owned();
    match found.size() {
        _ if !found.is_file() => Err(SourceError::NotAFile { path, kind: kind(found.file_type()) }),
        bytes if bytes > MAX_FILE_BYTES => Err(SourceError::TooLarge { path, bytes }),
        _ => Ok(()),
    }
}

fn kind(found: FileType) -> &'static str {
    match found {
        _ if found.is_dir() => "directory",
        _ if found.is_fifo() => "named pipe",
        _ if found.is_socket() => "socket",
        _ if found.is_char_device() || found.is_block_device() => "device",
        _ => "special file",
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
