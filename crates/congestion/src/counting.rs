//! What makes a window grow.

/// What a window grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each acknowledgement: at most a segment in slow start, SMSS * SMSS / cwnd in avoidance
    /// [RFC 5681 3.1 (2), (3)]. With delayed acknowledgements the growth is half as fast.
    Acks,
    /// What is acknowledged: at most two segments an acknowledgement in slow start, a segment a window in
    /// avoidance [RFC 3465 2.1, 2.2].
    Bytes,
    /// Everything that is acknowledged: for engines whose reports cover hundreds of packets and that spread what
    /// a report allows.
    Reports,
}

impl Counting {
    /// What an acknowledgement of `bytes` counts for in slow start.
    pub(crate) fn in_slow_start(self, bytes: u64, mss_bytes: u64) -> u64 {
        match self {
            Self::Acks => bytes.min(mss_bytes),
            Self::Bytes => bytes.min(2 * mss_bytes),
            Self::Reports => bytes,
        }
    }
}
