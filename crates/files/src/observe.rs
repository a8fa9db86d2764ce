//! Events that a caller can watch while a session runs, for progress bars and timestamps.

use crate::names::RawName;
use crate::report::FileReport;

/// Something happened. An observer that wants times reads its clock when it is called.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The session begins. At the sender, just before its first write; at the receiver, when the
    /// sender's opening was read.
    Started {
        /// Files that were announced.
        files: u32,
        /// Payload bytes that were announced; an estimate, since files can still change.
        bytes: u64,
    },
    /// A file begins.
    File {
        /// Its number, from 0.
        file: u32,
        /// Its name as it travels.
        name: &'a RawName,
        /// Its size.
        bytes: u64,
    },
    /// At the sender: everything that was read is written to the stream, and more is being read.
    Reading,
    /// At the sender: it has read what it needs for now.
    Read,
    /// Payload moved: written to the stream at the sender, read from it at the receiver. Chunks that
    /// must travel again are taken back, so `bytes` can shrink.
    Moved {
        /// Payload bytes so far.
        bytes: u64,
        /// Payload bytes to move, as far as known.
        total: u64,
    },
    /// At the receiver: the last missing byte of a file was read and fits its digest; nothing was
    /// synchronised to the disk yet. The last of these calls marks the arrival of everything.
    Arrived {
        /// The file's number.
        file: u32,
    },
    /// At the receiver: the end of a file was read, and all of it fits: its result waits for this machine
    /// alone.
    Whole {
        /// The file's number.
        file: u32,
    },
    /// Chunks of a file came damaged and are fetched again.
    Again {
        /// The file's number.
        file: u32,
        /// How many chunks.
        chunks: u32,
    },
    /// A file's result is known. The sender learns it one way later than the receiver.
    Settled {
        /// The file's number.
        file: u32,
        /// Its report.
        report: &'a FileReport,
    },
}

/// An observer that looks away. Observers are closures or functions that take `&Event`; they are called
/// from within the session, so they must not block.
pub fn silent(_: &Event<'_>) {}
