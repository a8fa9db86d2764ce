//! Both folders of a user: what it decides (identity, peers), and what its programs remember (counters).

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use skyhaul_association::{Name, PublicKey};
use zeroize::Zeroizing;

use crate::book::{self, Book};
use crate::counters::{Counters, lock};
use crate::errors::{Kind, StoreError};
use crate::file::{FileError, Others, read, write};
use crate::folders::{CONFIG, Folder, STATE};
use crate::machine::{self, Machine, host_name};
use crate::random::random_secret;

/// What tells a file from the one that takes its place: it is written beside it, and then given its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    modified_ns: i128,
    bytes: u64,
}

/// Store of one user. Nothing is held: each call reads what is there, and changes are made under a lock.
#[derive(Clone, Debug)]
pub struct Store {
    config: PathBuf,
    state: PathBuf,
}

impl Store {
    /// Store in these folders, which need not be there yet.
    pub fn at(config: PathBuf, state: PathBuf) -> Self {
        Self { config, state }
    }

    /// The user's own: `$XDG_CONFIG_HOME/skyhaul` or `~/.config/skyhaul`, and `$XDG_STATE_HOME/skyhaul` or
    /// `~/.local/state/skyhaul`.
    pub fn of_user() -> Result<Self, StoreError> {
        let of = |folder: Folder| folder.of_user().ok_or(StoreError::NoFolder { variable: folder.variable });
        Ok(Self::at(of(CONFIG)?, of(STATE)?))
    }

    /// This machine; `None` before it has an identity.
    pub fn machine(&self) -> Result<Option<Machine>, StoreError> {
        let octets = self.read(Kind::Identity, machine::MAX_BYTES)?;
        let decoded = octets.map(|octets| Machine::decode(&octets)).transpose();
        decoded.map_err(|error| self.unusable(Kind::Identity, error))
    }

    /// This machine; it gets an identity, and the host's name, if it has none.
    pub fn machine_or_new(&self) -> Result<Machine, StoreError> {
        match self.machine()? {
            Some(machine) => Ok(machine),
            None => self.change_machine(|_| {}),
        }
    }

    /// Changes this machine, which gets an identity first if it has none.
    pub fn change_machine(&self, change: impl FnOnce(&mut Machine)) -> Result<Machine, StoreError> {
        let _alone = self.lock(Kind::Identity)?;
        let mut machine = match self.machine()? {
            Some(machine) => machine,
            None => Machine::new(host_name(), random_secret().map_err(StoreError::Random)?),
        };
        change(&mut machine);
        self.write(Kind::Identity, &machine.encode())?;
        Ok(machine)
    }

    /// Peers; none if there is no file.
    pub fn book(&self) -> Result<Book, StoreError> {
        let octets = self.read(Kind::Peers, book::MAX_BYTES)?;
        let decoded = octets.map_or(Ok(Book::default()), |octets| Book::decode(&octets));
        decoded.map_err(|error| self.unusable(Kind::Peers, error))
    }

    /// Stamp of the file of peers; `None` if there is none.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let file = std::fs::metadata(self.place(Kind::Peers)).ok()?;
        let modified_ns = i128::from(file.mtime()) * 1_000_000_000 + i128::from(file.mtime_nsec());
        Some(Stamp { inode: file.ino(), modified_ns, bytes: file.size() })
    }

    /// Changes the peers; a change that fails leaves them as they were. None becomes one that has this
    /// machine's key or name; who has the name already keeps it.
    pub fn change_book<T>(
        &self,
        change: impl FnOnce(&mut Book) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _alone = self.lock(Kind::Peers)?;
        let (book, changed) = self.changed(change)?;
        self.write(Kind::Peers, &book.encode())?;
        Ok(changed)
    }

    /// Whether [`Self::change_book`] would make this change: nothing is written.
    pub fn try_change<T>(
        &self,
        change: impl FnOnce(&mut Book) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.changed(change).map(|(_, changed)| changed)
    }

    /// Peers with this change.
    fn changed<T>(
        &self,
        change: impl FnOnce(&mut Book) -> Result<T, StoreError>,
    ) -> Result<(Book, T), StoreError> {
        let mut book = self.book()?;
        let own = self.machine()?;
        let is_namesake = |book: &Book| own.as_ref().is_some_and(|own| book.by_name(&own.name).is_ok());
        let was_namesake = is_namesake(&book);
        let changed = change(&mut book)?;
        if let Some(own) = &own {
            if book.by_key(own.identity().public()).is_some() {
                return Err(StoreError::OwnKey);
            }
            if !was_namesake && is_namesake(&book) {
                return Err(StoreError::OwnName(own.name.clone()));
            }
        }
        Ok((book, changed))
    }

    /// Forgets a peer, and what is remembered of its handshakes.
    pub fn remove_peer(&self, name: &Name) -> Result<PublicKey, StoreError> {
        let key = self.change_book(|book| book.remove(name))?.key;
        self.counters().forget(key)?;
        Ok(key)
    }

    /// Counters of handshakes.
    pub fn counters(&self) -> Counters {
        Counters::in_folder(self.state.join("counters"))
    }

    /// Place of a file of the folder that a user decides about.
    fn place(&self, kind: Kind) -> PathBuf {
        self.config.join(if kind == Kind::Identity { "identity" } else { "peers" })
    }

    fn read(&self, kind: Kind, max_bytes: u64) -> Result<Option<Zeroizing<Vec<u8>>>, StoreError> {
        let octets = read(&self.place(kind), Others::MayNothing, max_bytes);
        octets.map(|octets| octets.map(Zeroizing::new)).map_err(|error| self.unusable(kind, error))
    }

    fn write(&self, kind: Kind, text: &str) -> Result<(), StoreError> {
        let place = self.place(kind);
        write(&place, text.as_bytes()).map_err(|error| StoreError::Unwritten { kind, place, error })
    }

    fn lock(&self, kind: Kind) -> Result<crate::Lock, StoreError> {
        let failed = |error| StoreError::Unwritten { kind, place: self.place(kind), error };
        lock(&self.config, failed)
    }

    fn unusable(&self, kind: Kind, error: FileError) -> StoreError {
        StoreError::Unusable { kind, place: self.place(kind), error }
    }
}
