//! Results of the files of a session.

use std::fmt;

use crate::digest::Digest;
use crate::names::RawName;
use crate::reason::{Code, Reason};

/// Which end of the stream spoke or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that has the files.
    Sender,
    /// The end that wants them.
    Receiver,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}

/// Why a file did not get across.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{side}: {reason}")]
pub struct Failure {
    /// The side that gave the file up.
    pub side: Side,
    /// Its reason.
    pub reason: Reason,
}

/// The end of a file's story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOutcome {
    /// Verified as a whole and safe under its final name at the receiver.
    Delivered {
        /// The file's BLAKE3 digest.
        digest: Digest,
    },
    /// Not there; nothing of it is left at the receiver.
    Failed(Failure),
}

/// One file's entry in a [`SessionReport`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// The name as it travelled; print it as it is, it escapes itself.
    pub name: RawName,
    /// The file's size.
    pub bytes: u64,
    /// How many chunks were fetched again because they came damaged.
    pub chunks_again: u32,
    /// Its result.
    pub outcome: FileOutcome,
}

impl FileReport {
    /// A report of a file whose fate is not known; it stays so if the session ends now.
    pub fn unfinished(name: RawName, bytes: u64, side: Side) -> Self {
        let reason =
            Reason::new(Code::Interrupted, "the session ended before the result of this file was known");
        Self { name, bytes, chunks_again: 0, outcome: FileOutcome::Failed(Failure { side, reason }) }
    }

    /// The result is known.
    pub(crate) fn settle(&mut self, outcome: FileOutcome) {
        self.outcome = outcome;
    }

    /// The digest of a delivered file.
    pub fn digest(&self) -> Option<Digest> {
        match self.outcome {
            FileOutcome::Delivered { digest } => Some(digest),
            FileOutcome::Failed(_) => None,
        }
    }

    /// Why the file failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.outcome {
            FileOutcome::Delivered { .. } => None,
            FileOutcome::Failed(failure) => Some(failure),
        }
    }
}

/// Results of all files of a session, in the sender's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionReport {
    /// One entry a file.
    pub files: Vec<FileReport>,
}

impl SessionReport {
    /// True if every file was delivered.
    pub fn all_delivered(&self) -> bool {
        self.files.iter().all(|file| file.digest().is_some())
    }

    /// Payload bytes of the delivered files.
    pub fn delivered_bytes(&self) -> u64 {
        self.files.iter().filter(|file| file.digest().is_some()).map(|file| file.bytes).sum()
    }

    /// The files that failed.
    pub fn failed(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|file| file.failure().is_some())
    }

    /// How many chunks were fetched again.
    pub fn chunks_again(&self) -> u64 {
        self.files.iter().map(|file| u64::from(file.chunks_again)).sum()
    }
}
