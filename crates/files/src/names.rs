//! File names: any bytes that name one entry of one directory, and nothing else.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

use crate::escape::escaped;
use crate::limits::{MAX_NAME_BYTES, PART_SUFFIX};

/// A name as it came, not judged yet. Printing it is safe: see [`escaped`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawName(Vec<u8>);

impl RawName {
    /// Wraps any bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes as they came.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for RawName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.0))
    }
}

/// Why a name cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No bytes at all.
    #[error("a file needs a name")]
    Empty,
    /// Longer than [`MAX_NAME_BYTES`].
    #[error("a name has at most {MAX_NAME_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// `.` or `..`, which name directories.
    #[error("'.' and '..' name directories")]
    Dots,
    /// A slash: the name would lead into another directory.
    #[error("a name must not contain '/'")]
    Slash,
    /// A zero byte, which no file system can store.
    #[error("a name must not contain a zero byte")]
    Zero,
    /// The ending that marks unfinished files.
    #[error("names that end in '{PART_SUFFIX}' are kept for unfinished files")]
    Unfinished,
}

/// A name that was checked: one path component of 1 to 255 bytes, not `.` or `..`, not the name of an
/// unfinished file. Spaces, newlines, leading dashes and bytes that are not UTF-8 are all allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName(RawName);

impl FileName {
    /// Checks `bytes`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, NameError> {
        Self::try_from(RawName::new(bytes))
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The name for the operating system.
    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(self.as_bytes())
    }

    /// The name without the promise that it was checked.
    pub fn as_raw(&self) -> &RawName {
        &self.0
    }
}

impl TryFrom<RawName> for FileName {
    type Error = NameError;

    fn try_from(name: RawName) -> Result<Self, NameError> {
        check(name.as_bytes())?;
        Ok(Self(name))
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn check(name: &[u8]) -> Result<(), NameError> {
    match name {
        b"" => Err(NameError::Empty),
        b"." | b".." => Err(NameError::Dots),
        _ if name.len() > MAX_NAME_BYTES => Err(NameError::TooLong(name.len())),
        _ if name.contains(&b'/') => Err(NameError::Slash),
        _ if name.contains(&0) => Err(NameError::Zero),
        _ if name.ends_with(PART_SUFFIX.as_bytes()) => Err(NameError::Unfinished),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
