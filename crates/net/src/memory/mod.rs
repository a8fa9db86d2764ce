//! Memory of paths, kept in a file from one run to the next.

mod cookies;
mod entry;
#[cfg(test)]
mod memory_tests;
mod text;

use std::path::{Path, PathBuf};

use skyhaul_core::{MAX_MTU_BYTES, MIN_IPV4_MTU_BYTES, PathEstimate};
use skyhaul_store::{FileError, Others, STATE, read, write};
use skyhaul_stp::SavedPath;

pub use cookies::CookieMemory;
use entry::Entry;
pub use entry::PathKey;

/// Paths kept; the oldest leave.
pub const MAX_PATHS: usize = 256;
/// A file of all paths, or of all cookies, that are kept is smaller.
const MAX_BYTES: u64 = 64 * 1024;

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
        STATE.of_user().map(|folder| Self::at(folder.join("paths")))
    }

    /// Where it lies.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Memory of a path that is fit to be used now.
    ///
    /// # Errors
    /// The file cannot be used: go on as if there were none, and say so.
    pub fn recall(&self, key: PathKey, now_unix_s: u64) -> Result<Option<SavedPath>, FileError> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|entry| entry.key == key);
        Ok(entry.and_then(|entry| entry.saved(now_unix_s).ok()))
    }

    /// Largest packet that the path took, as far as that is remembered and may still hold.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn recall_mtu(&self, key: PathKey, now_unix_s: u64) -> Result<Option<u32>, FileError> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|entry| entry.key == key && entry.saved(now_unix_s).is_ok());
        let sizes = MIN_IPV4_MTU_BYTES..=MAX_MTU_BYTES;
        Ok(entry.and_then(|entry| entry.mtu_bytes).filter(|bytes| sizes.contains(bytes)))
    }

    /// Keeps what was measured, and the largest packet that the path takes if that was found out, in the
    /// place of what was remembered; `None` forgets it.
    ///
    /// # Errors
    /// Nothing was kept. The old file is as it was.
    pub fn keep(
        &self,
        key: PathKey,
        measured: Option<PathEstimate>,
        mtu_bytes: Option<u32>,
        now_unix_s: u64,
    ) -> Result<(), FileError> {
        let old = match self.entries() {
            Err(FileError::Damaged) => Vec::new(),
            entries => entries?,
        };
        let newest = measured.map(|measured| Entry {
            key,
            rate_bps: measured.rate_bps,
            rtt_min_ns: measured.rtt_min_ns,
            saved_unix_s: now_unix_s,
            mtu_bytes,
        });
        let newest = newest.filter(|entry| entry.saved(now_unix_s).is_ok());
        // What nobody can use any more makes room first: the future is later than all that is real.
        let keeps = |entry: &Entry| entry.key != key && entry.saved(now_unix_s).is_ok();
        let entries = renewed(&old, keeps, newest, |entry| entry.saved_unix_s);
        if entries == old {
            return Ok(());
        }
        Ok(write(&self.place, text::encode(&entries).as_bytes())?)
    }

    fn entries(&self) -> Result<Vec<Entry>, FileError> {
        let octets = read(&self.place, Others::MayRead, MAX_BYTES)?;
        octets.map_or(Ok(Vec::new()), |octets| text::decode(&octets))
    }
}

/// Entries that `keeps` and the newest one, by the time at which they were saved; beyond [`MAX_PATHS`] the
/// oldest leave.
fn renewed<E: Copy>(
    old: &[E],
    keeps: impl Fn(&E) -> bool,
    newest: Option<E>,
    saved_unix_s: impl Fn(&E) -> u64,
) -> Vec<E> {
    let mut entries: Vec<E> = old.iter().copied().filter(keeps).chain(newest).collect();
    entries.sort_by_key(saved_unix_s);
    let leave = entries.len().saturating_sub(MAX_PATHS);
    entries.drain(..leave);
    entries
}
