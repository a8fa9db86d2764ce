//! Reasons why a file of remembered paths is not used.

use std::io;

use thiserror::Error;

/// Why a file of paths is not used, or not written.
#[derive(Debug, Error)]
pub enum MemoryError {
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
    /// It is larger than all paths that are kept could make it.
    #[error("it is too large for a file of paths")]
    TooLarge,
    /// It does not begin as one.
    #[error("it is no file of paths")]
    Foreign,
    /// It is one of a later version.
    #[error("a later skyhaul has written it")]
    Newer,
    /// It is torn, or was changed.
    #[error("it is damaged; it will be replaced")]
    Damaged,
}

impl MemoryError {
    /// True if the file is ours to replace.
    pub(super) fn may_replace(&self) -> bool {
        matches!(self, Self::Damaged)
    }
}
