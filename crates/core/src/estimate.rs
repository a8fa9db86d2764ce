//! What a connection has found out about the way to its peer, and another may begin with.

/// Capacity and round trip of a path, as a connection measured them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEstimate {
    /// Rate that the path delivered, in bit/s of IP bytes.
    pub rate_bps: u64,
    /// Smallest round trip, in ns.
    pub rtt_min_ns: u64,
    /// Bytes that arrived while the rate was held: what it rests on.
    pub confirmed_bytes: u64,
}
