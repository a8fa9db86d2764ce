//! Place of the file of remembered paths, and its owner, who is to be trusted or not.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::errors::MemoryError;
use crate::options::random;

/// A file of all paths that are kept is smaller.
const MAX_BYTES: u64 = 64 * 1024;
/// Others may not write it.
const FOREIGN_WRITE: u32 = 0o022;

/// `skyhaul/paths` in the folder for what programs keep between runs (XDG base directories):
/// `XDG_STATE_HOME`, or else `~/.local/state`. `None` without either.
pub(super) fn default_place(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("skyhaul/paths"))
}

/// The text of the file; `None`: there is none.
pub(super) fn read(place: &Path) -> Result<Option<String>, MemoryError> {
    // Not through a link, and not from something that makes one wait.
    let kind = match fs::symlink_metadata(place) {
        Ok(kind) => kind,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(MemoryError::Io(error)),
    };
    if !kind.is_file() {
        return Err(MemoryError::NotAFile);
    }
    let file = File::open(place).map_err(MemoryError::Io)?;
    let meta = file.metadata().map_err(MemoryError::Io)?;
    check_owner(meta.uid(), meta.mode())?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(MemoryError::Io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(MemoryError::TooLarge);
    }
    String::from_utf8(bytes).map(Some).map_err(|_| MemoryError::Foreign)
}

fn check_owner(uid: u32, mode: u32) -> Result<(), MemoryError> {
    if uid != rustix::process::geteuid().as_raw() {
        return Err(MemoryError::Owner(uid));
    }
    if mode & FOREIGN_WRITE != 0 { Err(MemoryError::Writable(mode & 0o777)) } else { Ok(()) }
}

/// Puts a file with this text in the place of the old one: whole, or not at all.
pub(super) fn write(place: &Path, text: &str) -> io::Result<()> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let beside = folder.join(format!(".{name}-{:016x}", random(None, "")?.next_u64()));
    let written = write_new(&beside, text).and_then(|()| fs::rename(&beside, place));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_new(beside: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_for_state_is_that_of_the_user() {
        let place = |state: Option<&str>, home: Option<&str>| {
            default_place(|name| if name == "HOME" { home } else { state }.map(PathBuf::from))
        };
        assert_eq!(place(Some("/s"), Some("/h")), Some("/s/skyhaul/paths".into()));
        assert_eq!(place(None, Some("/h")), Some("/h/.local/state/skyhaul/paths".into()));
        assert_eq!(place(Some("relative"), Some("/h")), Some("/h/.local/state/skyhaul/paths".into()));
        assert_eq!(place(Some(""), None), None);
    }

    #[test]
    fn only_what_nobody_else_can_write_is_trusted() {
        let own = rustix::process::geteuid().as_raw();
        assert!(check_owner(own, 0o100_600).is_ok() && check_owner(own, 0o100_644).is_ok());
        assert!(matches!(check_owner(own, 0o100_620), Err(MemoryError::Writable(0o620))));
        assert!(matches!(check_owner(own, 0o100_602), Err(MemoryError::Writable(0o602))));
        assert!(matches!(check_owner(own + 1, 0o100_600), Err(MemoryError::Owner(_))));
    }
}
