//! Errors that end a session, as opposed to a single file.

use std::io;

use crate::reason::Reason;
use crate::report::SessionReport;

/// How the other side broke the protocol. Also what damage of the framing looks like: record heads
/// carry checks, and a stream whose heads cannot be trusted cannot be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The stream does not begin with the magic octets.
    #[error("this is not a skyhaul file transfer")]
    Magic,
    /// A version that this side does not speak.
    #[error("version {0} of the file protocol is not known here, only versions 1 to 3")]
    Version(u8),
    /// A record's head or body does not fit its check.
    #[error("{0} is damaged")]
    Check(&'static str),
    /// A kind that does not exist, or that belongs in the other direction.
    #[error("a record of kind {0:#04x} does not belong here")]
    RecordKind(u8),
    /// A length that this kind of record cannot have.
    #[error("a record of kind {kind:#04x} cannot have {length} bytes")]
    Length {
        /// The record's kind octet.
        kind: u8,
        /// The length that was stated.
        length: u32,
    },
    /// A field that must be zero is not, or a field has a value outside its range.
    #[error("{0} has a value that is not allowed")]
    Field(&'static str),
    /// A record that is well formed but does not belong at this place.
    #[error("{what} for file {file} came where it does not belong")]
    Order {
        /// The record.
        what: &'static str,
        /// The file that it speaks of.
        file: u32,
    },
    /// More unfinished files than the flow rule allows.
    #[error("file {file} was begun while too many were unfinished")]
    Window {
        /// The file that was one too many.
        file: u32,
    },
}

/// Why a session ended before its time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The other side's stream ended early.
    #[error("the other side closed the stream {0}; start the transfer again")]
    Ended(&'static str),
    /// The stream failed.
    #[error("the stream failed while {doing}: {source}; start the transfer again")]
    Stream {
        /// Activity of this side.
        doing: &'static str,
        /// Error of the stream.
        source: io::Error,
    },
    /// The other side sent something that the protocol does not allow.
    #[error("the stream cannot be understood: {0}; check that skyhaul of a fitting version is at both ends")]
    Protocol(#[from] Violation),
    /// The receiver gave the session up and said why.
    #[error("the receiver gave up: {0}")]
    Stopped(Reason),
    /// More files than one transfer can have.
    #[error("{0} files are too many for one transfer (at most 65536); pack them or send them in parts")]
    TooManyFiles(usize),
}

impl Fault {
    /// For `map_err`: a failure of the stream while `doing` something.
    pub(crate) fn stream(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Stream { doing, source }
    }
}

/// A send session that ended early, with what is known of its files.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct SendError {
    /// Why it ended.
    #[source]
    pub cause: Fault,
    /// The files: delivered, failed, or interrupted.
    pub report: SessionReport,
}

/// A receive session that ended early, with what is known of its files.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct ReceiveError {
    /// Why it ended.
    #[source]
    pub cause: Fault,
    /// The files that the sender got to: delivered, failed, or interrupted.
    pub report: SessionReport,
}
