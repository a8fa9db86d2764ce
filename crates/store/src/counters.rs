//! Counters and token of each peer's next handshake: a small file for each, since one is written at each
//! handshake.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use skyhaul_association::{PublicKey, RESERVATION, TOKEN_BYTES, Token};

use crate::errors::{Kind, StoreError};
use crate::file::{FileError, Others, read, write};
use crate::hex::{from_hex, to_hex};
use crate::lock::Lock;
use crate::table::Table;

const TABLE: Table = Table { name: "skyhaul-counters", version: 1 };
/// Largest file.
const MAX_BYTES: u64 = 256;

/// What is remembered of a peer's handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Counters below this one may have been used.
    pub reserved: u64,
    /// Last token.
    pub token: Token,
}

impl Default for Remembered {
    fn default() -> Self {
        Self { reserved: 0, token: Token::NONE }
    }
}

/// Folder with the counters of all peers. All processes of a machine use one; each counter is granted once.
#[derive(Clone, Debug)]
pub struct Counters {
    folder: PathBuf,
}

impl Counters {
    /// Counters in this folder, which need not be there yet.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What is remembered of a peer. Nothing is, if the file is torn: the next change writes it anew.
    ///
    /// # Errors
    /// The file cannot be used: go on as if there were none, and say so.
    pub fn recall(&self, key: PublicKey) -> Result<Remembered, StoreError> {
        match self.load(key) {
            Err(FileError::Damaged) => Ok(Remembered::default()),
            loaded => loaded.map_err(|error| self.unusable(key, error)),
        }
    }

    /// Counters that nobody had before, written down as used: [`RESERVATION`] of them, that end at `up_to` or
    /// later.
    ///
    /// # Errors
    /// No counter is granted.
    pub fn claim(&self, key: PublicKey, up_to: u64) -> Result<Range<u64>, StoreError> {
        let mut granted = 0..0;
        self.change(key, |remembered| {
            let from = remembered.reserved.max(up_to.saturating_sub(RESERVATION)).max(1);
            granted = from..from.saturating_add(RESERVATION);
            remembered.reserved = granted.end;
        })?;
        Ok(granted)
    }

    /// Keeps the last token of a peer.
    ///
    /// # Errors
    /// The old one stays.
    pub fn keep_token(&self, key: PublicKey, token: Token) -> Result<(), StoreError> {
        self.change(key, |remembered| remembered.token = token)
    }

    /// Forgets a peer.
    ///
    /// # Errors
    /// What there was is still there.
    pub fn forget(&self, key: PublicKey) -> Result<(), StoreError> {
        match std::fs::remove_file(self.place(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unwritten(key, error)),
            _ => Ok(()),
        }
    }

    fn change(&self, key: PublicKey, change: impl FnOnce(&mut Remembered)) -> Result<(), StoreError> {
        let _alone = lock(&self.folder, |error| self.unwritten(key, error))?;
        let mut remembered = self.recall(key)?;
        change(&mut remembered);
        let line = format!("{} {}", remembered.reserved, to_hex(&remembered.token.0));
        write(&self.place(key), TABLE.encode([line]).as_bytes()).map_err(|error| self.unwritten(key, error))
    }

    fn load(&self, key: PublicKey) -> Result<Remembered, FileError> {
        let octets = read(&self.place(key), Others::MayNothing, MAX_BYTES)?;
        octets.map_or(Ok(Remembered::default()), |octets| decode(&octets))
    }

    fn place(&self, key: PublicKey) -> PathBuf {
        self.folder.join(to_hex(&key.0))
    }

    fn unusable(&self, key: PublicKey, error: FileError) -> StoreError {
        StoreError::Unusable { kind: Kind::Counters, place: self.place(key), error }
    }

    fn unwritten(&self, key: PublicKey, error: io::Error) -> StoreError {
        StoreError::Unwritten { kind: Kind::Counters, place: self.place(key), error }
    }
}

/// Lock of a folder, or why there is none.
pub(crate) fn lock(folder: &Path, failed: impl FnOnce(io::Error) -> StoreError) -> Result<Lock, StoreError> {
    Lock::of(folder).map_err(|error| {
        if error.kind() == io::ErrorKind::WouldBlock {
            StoreError::Locked { place: folder.to_owned() }
        } else {
            failed(error)
        }
    })
}

fn decode(octets: &[u8]) -> Result<Remembered, FileError> {
    let (_, lines) = TABLE.decode(octets)?;
    let [line] = lines[..] else { return Err(FileError::Damaged) };
    of_line(line).ok_or(FileError::Damaged)
}

fn of_line(line: &str) -> Option<Remembered> {
    let (reserved, token) = line.split_once(' ')?;
    Some(Remembered { reserved: reserved.parse().ok()?, token: Token(from_hex::<TOKEN_BYTES>(token)?) })
}
