//! Memory of paths, kept in a file from one run to the next.

#[cfg(test)]
mod memory_tests;
mod place;
mod text;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use skyhaul_core::{PathEstimate, SECOND};
use skyhaul_stp::{SavedPath, Unfit};
use thiserror::Error;

use text::Unreadable;

/// Paths kept; the oldest leave.
pub const MAX_PATHS: usize = 256;

/// Key of a path: the two addresses. Ports are those of programs, not of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathKey {
    /// This end.
    pub local: IpAddr,
    /// The other one.
    pub peer: IpAddr,
}

impl PathKey {
    /// The path between two sockets.
    pub fn new(local: SocketAddr, peer: SocketAddr) -> Self {
        Self { local: local.ip().to_canonical(), peer: peer.ip().to_canonical() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: PathKey,
    rate_bps: u64,
    rtt_min_ns: u64,
    saved_unix_s: u64,
}

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
    fn may_replace(&self) -> bool {
        matches!(self, Self::Damaged)
    }
}

impl From<Unreadable> for MemoryError {
    fn from(why: Unreadable) -> Self {
        match why {
            Unreadable::Foreign => Self::Foreign,
            Unreadable::Newer => Self::Newer,
            Unreadable::Damaged => Self::Damaged,
        }
    }
}

/// A file of remembered paths. Times are seconds since 1970, by whatever calendar the caller has.
#[derive(Clone, Debug)]
pub struct PathMemory {
    place: PathBuf,
}

impl PathMemory {
    /// The file at this place, which need not be there yet.
    pub fn at(place: PathBuf) -> Self {
        Self { place }
    }

    /// The user's own: `$XDG_STATE_HOME/skyhaul/paths`, or `~/.local/state/skyhaul/paths`. `None` where there
    /// is neither.
    pub fn of_user() -> Option<Self> {
        place::default_place(|name| std::env::var_os(name).map(PathBuf::from)).map(Self::at)
    }

    /// Where it lies.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Memory of a path that is fit to be used now.
    ///
    /// # Errors
    /// The file cannot be used: go on as if there were none, and say so.
    pub fn recall(&self, key: PathKey, now_unix_s: u64) -> Result<Option<SavedPath>, MemoryError> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|entry| entry.key == key);
        Ok(entry.and_then(|entry| entry.saved(now_unix_s).ok()))
    }

    /// Keeps what was measured in the place of what was remembered; `None` forgets it.
    ///
    /// # Errors
    /// Nothing was kept. The old file is as it was.
    pub fn keep(
        &self,
        key: PathKey,
        measured: Option<PathEstimate>,
        now_unix_s: u64,
    ) -> Result<(), MemoryError> {
        let old = match self.entries() {
            Err(error) if error.may_replace() => Vec::new(),
            entries => entries?,
        };
        let mut entries: Vec<Entry> = old.iter().copied().filter(|entry| entry.key != key).collect();
        entries.extend(measured.map(|measured| Entry {
            key,
            rate_bps: measured.rate_bps,
            rtt_min_ns: measured.rtt_min_ns,
            saved_unix_s: now_unix_s,
        }));
        // What nobody can use any more makes room first: the future is later than all that is real.
        entries.retain(|entry| entry.saved(now_unix_s).is_ok());
        entries.sort_by_key(|entry| entry.saved_unix_s);
        let leave = entries.len().saturating_sub(MAX_PATHS);
        entries.drain(..leave);
        if entries == old {
            return Ok(());
        }
        Ok(place::write(&self.place, &text::encode(&entries))?)
    }

    fn entries(&self) -> Result<Vec<Entry>, MemoryError> {
        let Some(text) = place::read(&self.place)? else { return Ok(Vec::new()) };
        Ok(text::decode(&text)?)
    }
}

impl Entry {
    fn saved(&self, now_unix_s: u64) -> Result<SavedPath, Unfit> {
        let age_s = now_unix_s.checked_sub(self.saved_unix_s).ok_or(Unfit::FromTheFuture)?;
        let age_ns = age_s.saturating_mul(SECOND);
        let saved = SavedPath { rate_bps: self.rate_bps, rtt_min_ns: self.rtt_min_ns, age_ns };
        saved.check().map(|()| saved)
    }
}
