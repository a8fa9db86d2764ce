//! Reasons why something on the disk is not used or not changed: what, where, and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use skyhaul_association::{MAX_PEERS, Name};
use thiserror::Error;

use crate::FileError;
use crate::lock::MAX_LOCK_WAIT_MS;

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This machine's name and key.
    Identity,
    /// Machines that this one knows.
    Peers,
    /// Counters and token of one peer.
    Counters,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "this machine's identity",
            Self::Peers => "the file of peers",
            Self::Counters => "the counters of a peer",
        })
    }
}

/// Error of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The environment names no folder.
    #[error("there is no folder for keys: neither {variable} nor HOME is set")]
    NoFolder {
        /// Variable that would name one.
        variable: &'static str,
    },
    /// A file cannot be used.
    #[error("{kind} cannot be used: '{}': {error}{}", place.display(), advice(*kind, error))]
    Unusable {
        /// Which file.
        kind: Kind,
        /// Where it is.
        place: PathBuf,
        /// Why.
        error: FileError,
    },
    /// A file cannot be written; the old one is as it was.
    #[error("{kind} cannot be written: '{}': {error}; nothing is changed", place.display())]
    Unwritten {
        /// Which file.
        kind: Kind,
        /// Where it is.
        place: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another process changes files there, and does not end.
    #[error(
        "'{}' is locked by another skyhaul for {} s already; nothing is changed",
        place.display(),
        MAX_LOCK_WAIT_MS / 1000
    )]
    Locked {
        /// Folder.
        place: PathBuf,
    },
    /// The system gives no randomness.
    #[error("the system gives no random numbers: {0}")]
    Random(io::Error),
    /// No peer has this name.
    #[error("no peer is called '{name}'; {}", known(names))]
    UnknownPeer {
        /// Name that was asked for.
        name: Name,
        /// Those that there are.
        names: Vec<Name>,
    },
    /// No peer is known to be at an address.
    #[error("no peer is known to be at {address}; {}", known(names))]
    NobodyAt {
        /// ADDRESS:PORT.
        address: String,
        /// All peers.
        names: Vec<Name>,
    },
    /// Several peers are known to be at an address.
    #[error("several peers are known to be at {address}: {}", told(names))]
    SeveralAt {
        /// ADDRESS:PORT.
        address: String,
        /// These.
        names: Vec<Name>,
    },
    /// Another peer has the name.
    #[error("another peer is called '{0}' already: choose another name for one of them, or remove that one")]
    NameTaken(Name),
    /// A peer has the key.
    #[error("this key is known already: it is that of '{0}'")]
    KeyTaken(Name),
    /// The key is this machine's own.
    #[error("this key is this machine's own")]
    OwnKey,
    /// A new peer would have the name that this machine gives itself.
    #[error(
        "this machine is called '{0}', too: choose another name for one of them, or a command that names '{0}' could \
         mean either"
    )]
    OwnName(Name),
    /// A text is no address.
    #[error("'{0}' is no ADDRESS:PORT")]
    Address(String),
    /// A mode that is no protection.
    #[error("'{0}' would not be protected: its mode must be encrypted or authenticated")]
    Plain(Name),
    /// There are as many peers as there may be.
    #[error("{MAX_PEERS} peers are known, and no more can be")]
    Full,
}

/// What to do about a file.
fn advice(kind: Kind, error: &FileError) -> &'static str {
    match (error, kind) {
        // These say it themselves, or nothing can be done about them here.
        (FileError::Io(_) | FileError::Writable(_) | FileError::Readable(_), _) => "",
        (FileError::Newer, _) => "; use that version",
        (_, Kind::Identity) => {
            "; put it back from a copy, or remove it: then this machine is a new one, to be paired anew"
        }
        (_, Kind::Peers) => "; put it back from a copy, or remove it and pair anew",
        (_, Kind::Counters) => "; remove it: the next handshake costs a round trip more",
    }
}

/// Most names that an error tells.
const MAX_TOLD: usize = 8;

fn known(names: &[Name]) -> String {
    if names.is_empty() {
        return "none is known yet: `skyhaul pair`".into();
    }
    format!("there are {}", told(names))
}

fn told(names: &[Name]) -> String {
    let told: Vec<&str> = names.iter().take(MAX_TOLD).map(Name::as_str).collect();
    let more = if names.len() > MAX_TOLD { ", ..." } else { "" };
    told.join(", ") + more
}
