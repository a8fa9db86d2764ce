//! Files that are their user's own: how they are read, written, and told from those of others.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use thiserror::Error;

use crate::hex::to_hex;
use crate::random::random_octets;

/// Permissions of others to write.
const WRITE: u32 = 0o022;
/// Permissions of others to do anything.
const ANYTHING: u32 = 0o077;

/// What others than the owner may do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Read it: there is no secret in it.
    MayRead,
    /// Nothing.
    MayNothing,
}

/// Reason why a file is not used.
#[derive(Debug, Error)]
pub enum FileError {
    /// It could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A folder, a link, a device.
    #[error("it is not a plain file")]
    NotAFile,
    /// It belongs to another user.
    #[error("it belongs to user {0}, not to the one that runs this")]
    Owner(u32),
    /// Others may write it.
    #[error("others may write it (mode {0:o}); `chmod 600` it if you trust what is in it")]
    Writable(u32),
    /// Others may read secrets in it.
    #[error("others may read it (mode {0:o}); `chmod 600` it if nobody else has used this machine since")]
    Readable(u32),
    /// It is larger than anything that is written there.
    #[error("it is too large")]
    TooLarge,
    /// It does not begin as a file of its kind does.
    #[error("it is something else")]
    Foreign,
    /// It is one of a later version.
    #[error("a later skyhaul has written it")]
    Newer,
    /// It is torn, or was changed.
    #[error("it is damaged")]
    Damaged,
}

/// Octets of a file of at most `max_bytes` that is the user's own; `None`: there is none.
///
/// # Errors
/// It is not to be used, and was not.
pub fn read(place: &Path, others: Others, max_bytes: u64) -> Result<Option<Vec<u8>>, FileError> {
    // Not through a link, and not from something that makes one wait.
    let kind = match fs::symlink_metadata(place) {
        Ok(kind) => kind,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::Io(error)),
    };
    if !kind.is_file() {
        return Err(FileError::NotAFile);
    }
    let file = File::open(place)?;
    let meta = file.metadata()?;
    check_owner(meta.uid(), meta.mode(), others)?;
    // With room from the beginning: octets that may be secret are not moved while they are read.
    let mut octets = Vec::with_capacity(meta.len().min(max_bytes) as usize + 1);
    file.take(max_bytes + 1).read_to_end(&mut octets)?;
    if octets.len() as u64 > max_bytes { Err(FileError::TooLarge) } else { Ok(Some(octets)) }
}

fn check_owner(uid: u32, mode: u32, others: Others) -> Result<(), FileError> {
    if uid != rustix::process::geteuid().as_raw() {
        return Err(FileError::Owner(uid));
    }
    if mode & WRITE != 0 {
        return Err(FileError::Writable(mode & 0o777));
    }
    let is_readable = others == Others::MayNothing && mode & ANYTHING != 0;
    if is_readable { Err(FileError::Readable(mode & 0o777)) } else { Ok(()) }
}

/// Puts a file with these octets in the place of the old one, whole or not at all: only the user may read
/// it. Its folder is made if it is not there.
///
/// # Errors
/// The old file is as it was.
pub fn write(place: &Path, octets: &[u8]) -> io::Result<()> {
    let folder = folder_of(place);
    make_folder(folder)?;
    let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let beside = folder.join(format!(".{name}-{}", to_hex(&random_octets::<8>()?)));
    let written = write_new(&beside, octets).and_then(|()| fs::rename(&beside, place));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Folder that a file is in.
pub(crate) fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a folder of the user's own, if there is none.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn write_new(beside: &Path, octets: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside)?;
    file.write_all(octets)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_else_can_write_is_trusted() {
        let own = rustix::process::geteuid().as_raw();
        let check = |uid, mode| check_owner(uid, mode, Others::MayRead);
        assert!(check(own, 0o100_600).is_ok() && check(own, 0o100_644).is_ok());
        assert!(matches!(check(own, 0o100_620), Err(FileError::Writable(0o620))));
        assert!(matches!(check(own, 0o100_602), Err(FileError::Writable(0o602))));
        assert!(matches!(check(own + 1, 0o100_600), Err(FileError::Owner(_))));
    }

    #[test]
    fn secrets_that_others_can_read_are_none() {
        let own = rustix::process::geteuid().as_raw();
        let check = |mode| check_owner(own, mode, Others::MayNothing);
        assert!(check(0o100_600).is_ok() && check(0o100_400).is_ok());
        for mode in [0o640, 0o604, 0o644, 0o610] {
            assert!(matches!(check(0o100_000 | mode), Err(FileError::Readable(found)) if found == mode));
        }
        assert!(matches!(check(0o100_666), Err(FileError::Writable(0o666))));
    }
}
