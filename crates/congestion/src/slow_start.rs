//! Slow start: the window grows by what is acknowledged [STP 5.1.2].

/// Doubles the window each round trip up to a threshold.
#[derive(Clone, Copy, Debug)]
pub struct SlowStart;

impl SlowStart {
    /// The window after `acked_bytes` were acknowledged, and the bytes left over past the threshold.
    pub fn grow(cwnd_bytes: u64, ssthresh_bytes: u64, acked_bytes: u64) -> (u64, u64) {
        let room = ssthresh_bytes.saturating_sub(cwnd_bytes);
        let used = acked_bytes.min(room);
        (cwnd_bytes + used, acked_bytes - used)
    }
}
