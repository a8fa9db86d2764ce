//! Rates that reports tell, as functions of what was sent and what arrived.

use skyhaul_core::{Interval, MS, PathSample, SECOND};

use super::aim::MIN_CORRECTION;

/// Lowest rate in bit/s: a packet of 1500 octets in 12 s.
pub(super) const MIN_RATE_BPS: f64 = 1000.0;
/// Highest: what a receiver says may be anything.
pub(super) const MAX_RATE_BPS: f64 = 1e11;
/// Bytes between two marks below which they say more about packet sizes than about a rate, ...
const MIN_BYTES: u64 = 4 * 1500;
/// ... and the time from which on they do not: what takes that long is slow, and less than a tenth of it is
/// jitter.
const MIN_ARRIVAL_NS: u64 = 200 * MS;

/// Rate in bit/s of so many bytes in so much time.
pub(super) fn rate_bps(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 8.0 * SECOND as f64 / ns as f64
}

/// Time in ns that a packet of so many bytes takes at a rate.
pub(super) fn packet_ns(mss_bytes: u64, rate_bps: f64) -> f64 {
    mss_bytes as f64 * 8.0 * SECOND as f64 / rate_bps.max(MIN_RATE_BPS)
}

/// Rate in bit/s at which arrived what was sent between two marks, at most that of sending; 0 without any.
pub(super) fn seen_bps(sample: &PathSample) -> f64 {
    sample.long.map_or(0.0, |long| rate_bps(long.arrived_bytes, long.arrived_ns.max(long.sent_ns).max(1)))
}

/// Time in ns in which what was sent between two marks arrives at least: a queue empties while no less than
/// the lowest correction of the rate is sent.
fn least_arrival_ns(long: &Interval) -> u64 {
    (long.sent_ns as f64 * MIN_CORRECTION) as u64
}

/// True if what was sent between two marks arrived in less time than a queue that empties explains: the
/// receiver's machine stood still, for however long, and read at once what its socket held.
pub(super) fn was_held_up(long: &Interval) -> bool {
    long.arrived_ns < least_arrival_ns(long)
}

/// Rate at which packets arrived between two marks, if they are enough to tell; at most what a queue that
/// empties explains.
pub(super) fn arrived_bps(long: &Interval, mss_bytes: u64) -> Option<f64> {
    let arrived_ns = long.arrived_ns.max(least_arrival_ns(long));
    let is_enough = long.arrived_bytes >= MIN_BYTES && arrived_ns > 0
        || long.arrived_bytes >= mss_bytes && arrived_ns >= MIN_ARRIVAL_NS;
    is_enough.then(|| rate_bps(long.arrived_bytes, arrived_ns))
}

/// Rate that the path carried of a train: what is lost of it was carried, too, unless it is so much that no
/// queue took it. Packets that arrived no further apart than they left show what it carries at least.
pub(crate) fn carried_bps(train: &Interval) -> Option<f64> {
    let is_mostly_there = train.arrived_bytes * 10 >= train.sent_bytes * 7;
    let bytes = if is_mostly_there { train.sent_bytes } else { train.arrived_bytes };
    let spread_ns = train.arrived_ns.max(train.sent_ns);
    (spread_ns > 0 && bytes > 0).then(|| rate_bps(bytes, spread_ns))
}
