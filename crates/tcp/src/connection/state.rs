//! The states of RFC 9293, and why a connection ended.

use core::fmt;

/// State of a connection [RFC 9293 3.3.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for openings: a port of an endpoint, never a connection.
    Listen,
    /// Our SYN is under way.
    SynSent,
    /// Both SYNs are known, ours is not acknowledged.
    SynReceived,
    /// Both directions open.
    Established,
    /// Our FIN is under way; the peer's direction is open.
    FinWait1,
    /// Our FIN is acknowledged; the peer's direction is open.
    FinWait2,
    /// The peer has ended; our direction is open.
    CloseWait,
    /// Both have ended at once; our FIN is under way.
    Closing,
    /// The peer ended first; our FIN is under way.
    LastAck,
    /// Both directions ended; answers late repeats.
    TimeWait,
    /// Nothing left.
    Closed,
}

impl State {
    /// The name as the standard prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
            Self::Closed => "CLOSED",
        }
    }

    /// Whether data may be sent, first or again.
    pub(crate) fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }

    /// Whether the peer may still send data.
    pub(crate) fn may_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    pub(crate) fn is_opening(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a connection ended other than by both sides finishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer answered the opening with RST.
    Refused,
    /// The peer reset it.
    Reset,
    /// This side aborted.
    AbortedHere,
    /// The opening was not answered.
    ConnectTimeout,
    /// The peer gave no sign of life.
    Silence,
    /// Routers say that the peer cannot be reached.
    Unreachable,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "the peer refused the connection: nothing listens there",
            Self::Reset => "the peer reset the connection",
            Self::AbortedHere => "the connection was aborted here",
            Self::ConnectTimeout => "the peer did not answer",
            Self::Silence => "the peer gave no sign of life for too long",
            Self::Unreachable => "the network says that the peer cannot be reached",
        })
    }
}

impl core::error::Error for CloseReason {}

/// Why a stream operation failed.
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

/// What the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// The handshake is done.
    Connected,
    /// There is something to read: data, or the end.
    Readable,
    /// There is room to write again.
    Writable,
    /// Everything written, and the end, is acknowledged by the peer.
    Finished,
    /// The connection is gone; `None` after a clean close.
    Closed(Option<CloseReason>),
}
