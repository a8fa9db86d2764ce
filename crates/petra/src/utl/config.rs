//! Parameters of UTL.

/// Parameters of UTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Octets of a full batch: n segments of LTL.
    pub batch_bytes: u32,
    /// Batches that are not confirmed, at most: `W_UTL`.
    pub window_batches: usize,
    /// Time from a batch's first bit on the wire in which it must be confirmed: `T_o(UTL)`.
    pub timeout_ns: u64,
    /// Octets written that the hop has not taken, at most.
    pub send_limit_bytes: u64,
}
