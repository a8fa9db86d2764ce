//! How fast a window leaves.

use skyhaul_core::SECOND;

/// `percent` of a window per round trip, in bit/s.
pub(crate) fn window_rate_bps(cwnd_bytes: u64, percent: u64, smoothed_rtt_ns: u64) -> u64 {
    let bits = u128::from(cwnd_bytes) * 8 * u128::from(percent) / 100;
    u64::try_from(bits * u128::from(SECOND) / u128::from(smoothed_rtt_ns.max(1))).unwrap_or(u64::MAX)
}
