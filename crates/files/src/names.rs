//! File names: any bytes that name one entry of one directory, and nothing else.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use crate::escape::escaped;
use crate::limits::{MAX_NAME_BYTES, PART_SUFFIX};

/// A name as it came, not judged yet. Printing it is safe: see [`escaped`]. Clones share its bytes: a report
/// and whoever watches it keep them once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawName(Arc<[u8]>);

impl RawName {
    /// Wraps any bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into().into())
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
    /// A dot at the beginning: the file would be hidden, and may be one that programs obey.
    #[error("the name begins with a dot; a receiver takes such names with --any-name")]
    Hidden,
    /// A character that changes what is shown, or how: control or bidirectional.
    #[error(
        "the name has the character U+{0:04X}, which is not to be seen; a receiver takes it with --any-name"
    )]
    Invisible(u32),
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

    /// Checks what a name from somebody unknown must not be, besides: hidden, or not what it looks like.
    ///
    /// # Errors
    /// [`NameError::Hidden`], or [`NameError::Invisible`] with the first such character.
    pub fn check_plain(&self) -> Result<(), NameError> {
        if self.as_bytes().starts_with(b".") {
            return Err(NameError::Hidden);
        }
        let valid = self.as_bytes().utf8_chunks().map(|chunk| chunk.valid());
        let invisible = valid.flat_map(str::chars).find(|c| c.is_control() || is_layout(*c));
        invisible.map_or(Ok(()), |c| Err(NameError::Invisible(c.into())))
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

/// Characters that begin a line or change the direction of text [UAX 9 2, UAX 14 5.1].
fn is_layout(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
