//! Congestion avoidance: one segment per window acknowledged, half on a loss [STP 5.1.2, 5.2.1].

/// Additive increase and multiplicative decrease.
#[derive(Clone, Copy, Debug, Default)]
pub struct Avoidance {
    counted_bytes: u64,
}

impl Avoidance {
    /// The window after `acked_bytes` were acknowledged.
    pub fn grow(&mut self, cwnd_bytes: u64, mss_bytes: u64, acked_bytes: u64) -> u64 {
        self.counted_bytes += acked_bytes;
        let mut cwnd_bytes = cwnd_bytes;
        while self.counted_bytes >= cwnd_bytes {
            self.counted_bytes -= cwnd_bytes;
            cwnd_bytes += mss_bytes;
        }
        cwnd_bytes
    }

    /// The window after a loss event: half, at least two segments.
    pub fn halve(&mut self, cwnd_bytes: u64, mss_bytes: u64) -> u64 {
        self.counted_bytes = 0;
        (cwnd_bytes / 2).max(2 * mss_bytes)
    }
}
