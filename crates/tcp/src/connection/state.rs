//! The states of RFC 9293.

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
