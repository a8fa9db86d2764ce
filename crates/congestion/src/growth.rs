//! Growth and pace of windows, as controllers share them.

use skyhaul_core::SECOND;

/// Slow start: doubles the window each round trip up to a threshold [STP 5.1.2].
#[derive(Clone, Copy, Debug)]
pub struct SlowStart;

impl SlowStart {
    /// Window after `acked_bytes` were acknowledged, and the bytes left over past the threshold.
    pub fn grow(cwnd_bytes: u64, ssthresh_bytes: u64, acked_bytes: u64) -> (u64, u64) {
        let room = ssthresh_bytes.saturating_sub(cwnd_bytes);
        let used = acked_bytes.min(room);
        (cwnd_bytes + used, acked_bytes - used)
    }
}

/// Congestion avoidance: one segment per window acknowledged, half on a loss [STP 5.1.2, 5.2.1].
#[derive(Clone, Copy, Debug, Default)]
pub struct Avoidance {
    counted_bytes: u64,
}

impl Avoidance {
    /// Window after `acked_bytes` were acknowledged.
    pub fn grow(&mut self, cwnd_bytes: u64, mss_bytes: u64, acked_bytes: u64) -> u64 {
        self.counted_bytes += acked_bytes;
        let mut cwnd_bytes = cwnd_bytes;
        while self.counted_bytes >= cwnd_bytes {
            self.counted_bytes -= cwnd_bytes;
            cwnd_bytes += mss_bytes;
        }
        cwnd_bytes
    }

    /// Window after a loss event: half, at least two segments.
    pub fn halve(&mut self, cwnd_bytes: u64, mss_bytes: u64) -> u64 {
        self.counted_bytes = 0;
        (cwnd_bytes / 2).max(2 * mss_bytes)
    }
}

/// Rate of `percent` of a window per round trip, in bit/s.
pub(crate) fn window_rate_bps(cwnd_bytes: u64, percent: u64, smoothed_rtt_ns: u64) -> u64 {
    let bits = u128::from(cwnd_bytes) * 8 * u128::from(percent) / 100;
    u64::try_from(bits * u128::from(SECOND) / u128::from(smoothed_rtt_ns.max(1))).unwrap_or(u64::MAX)
}
