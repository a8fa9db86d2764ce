//! News of a connection for its application, whatever its protocol: events, and why it ended.

use core::fmt;

/// Number of a connection of an endpoint. Never used twice; 0 is none.
pub type ConnectionId = u64;

/// News for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// The peer accepted.
    Connected,
    /// There is something to read: data, or the end.
    Readable,
    /// There is room to write again.
    Writable,
    /// Everything written, and the end, is confirmed by the peer.
    Finished,
    /// The connection is gone; `None` after a clean close.
    Closed(Option<CloseReason>),
}

/// Part of a stream that is missing for good, where both ends agreed that such may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Octets of the stream in front of it, those of earlier gaps counted.
    pub offset: u64,
    /// Octets that are missing.
    pub bytes: u64,
}

/// Reason of a reset, where the protocol says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetReason {
    /// Nobody listens on the port.
    Refused,
    /// The peer knows no such connection (it restarted, or gave up).
    UnknownConnection,
    /// The peer's application aborted.
    Aborted,
    /// The peer saw an impossible segment.
    Protocol,
    /// The peer has no room for another connection.
    Busy,
    /// Reason that this version does not know.
    Other(u8),
}

/// Reason of an end other than by both sides finishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer reset it; `None`: its protocol has no word for why.
    Reset(Option<ResetReason>),
    /// This side aborted.
    AbortedHere,
    /// The opening was not answered.
    ConnectTimeout,
    /// The peer gave no sign of life.
    Silence,
    /// The peer answers, and packets that were cut when the path took larger ones do not reach it, in
    /// fragments or, if it takes these, in pieces.
    Oversized,
    /// The carrier says that nobody receives at the peer's address.
    Unreachable,
    /// The peer confirmed what was never sent: nothing that it says is to be believed.
    FalseReport,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ResetReason::{Aborted, Busy, Other, Protocol, Refused, UnknownConnection};
        f.write_str(match self {
            Self::Reset(None) => "the peer reset the connection",
            Self::Reset(Some(Refused)) => "the peer refused the connection: nothing listens there",
            Self::Reset(Some(UnknownConnection)) => {
                "the peer no longer knows the connection (it restarted, gave up, or sees another address of this end)"
            }
            Self::Reset(Some(Aborted)) => "the peer aborted the connection",
            Self::Reset(Some(Protocol)) => "the peer saw an impossible segment",
            Self::Reset(Some(Busy)) => "the peer has no room for another connection",
            Self::Reset(Some(Other(code))) => {
                return write!(f, "the peer reset the connection (code {code})");
            }
            Self::AbortedHere => "the connection was aborted here",
            Self::ConnectTimeout => "the peer did not answer",
            Self::Silence => "the peer gave no sign of life for too long",
            Self::Oversized => {
                "packets that were made when the path took larger ones do not arrive, nor do their fragments"
            }
            Self::Unreachable => "nothing receives at the peer's address",
            Self::FalseReport => "the peer confirmed data that was never sent",
        })
    }
}

impl core::error::Error for CloseReason {}

/// Failure of a stream operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The connection is gone.
    Closed(Option<CloseReason>),
    /// The write half was finished before.
    Finished,
    /// No such connection.
    Unknown,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(Some(reason)) => write!(f, "{reason}"),
            Self::Closed(None) => f.write_str("the connection is closed"),
            Self::Finished => f.write_str("the write half was finished before"),
            Self::Unknown => f.write_str("no such connection"),
        }
    }
}

impl core::error::Error for StreamError {}

/// Failure to open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The endpoint holds as many connections as it may.
    TooManyConnections,
    /// Every local port towards this peer is taken.
    NoFreePort,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyConnections => "this endpoint holds as many connections as it may",
            Self::NoFreePort => "no free port towards this peer",
        })
    }
}

impl core::error::Error for ConnectError {}
