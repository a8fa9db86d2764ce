//! Names of a connection's states, derived from what happened so that they cannot contradict it
//! (`docs/spec/stp.md`, section 4).

use core::fmt;

/// States of the state table. LISTEN belongs to the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// BGN sent (or waiting for the first data to go with it), no answer yet.
    BgnSent,
    /// BGN and data were sent, no answer yet.
    BgnDataSent,
    /// BGN and END were sent, no answer yet.
    BgnDataEndSent,
    /// Both directions open.
    Established,
    /// Our END is under way; the peer's direction is open.
    EndSent,
    /// Our END is confirmed; the peer's direction is open.
    HalfClosedLocal,
    /// The peer has ended; our direction is open.
    HalfClosedRemote,
    /// The peer has ended; our END is under way.
    Closing,
    /// Both directions ended; answers late repeats.
    Linger,
    /// Nothing left.
    Closed,
}

impl State {
    /// All states, in the order of the specification.
    pub const ALL: [Self; 10] = [
        Self::BgnSent,
        Self::BgnDataSent,
        Self::BgnDataEndSent,
        Self::Established,
        Self::EndSent,
        Self::HalfClosedLocal,
        Self::HalfClosedRemote,
        Self::Closing,
        Self::Linger,
        Self::Closed,
    ];

    /// The name as the specification prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BgnSent => "BGN_SENT",
            Self::BgnDataSent => "BGN_DATA_SENT",
            Self::BgnDataEndSent => "BGN_DATA_END_SENT",
            Self::Established => "ESTABLISHED",
            Self::EndSent => "END_SENT",
            Self::HalfClosedLocal => "HALF_CLOSED_LOCAL",
            Self::HalfClosedRemote => "HALF_CLOSED_REMOTE",
            Self::Closing => "CLOSING",
            Self::Linger => "LINGER",
            Self::Closed => "CLOSED",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
