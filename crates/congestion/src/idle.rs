//! When a silence makes a window stale.

/// What sends the window back to its first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// No silence [STP 5.1.2].
    Never,
    /// One of this length, in ns: "unless it has been idle for some time" [XSTP 3].
    After(u64),
    /// One longer than the retransmission timeout [RFC 5681 4.1].
    AfterRto,
}

impl IdleRestart {
    pub(crate) fn is_due(self, idle_ns: u64, rto_ns: u64) -> bool {
        match self {
            Self::Never => false,
            Self::After(limit_ns) => idle_ns >= limit_ns,
            Self::AfterRto => idle_ns > rto_ns,
        }
    }
}
