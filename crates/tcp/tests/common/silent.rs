//! Links that take packets of some size, and tell nobody of larger ones.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit, ScheduleStep};

/// Rate of either way.
pub const RATE_BPS: u64 = 10_000_000;
/// One way to a geostationary satellite and down, and across a country.
pub const GEO_NS: u64 = 275 * MS;
pub const LAND_NS: u64 = 20 * MS;

/// A link that takes packets of `mtus`, each from its second on, and tells nobody.
pub fn link(delay_ns: u64, mtus: &[(u64, u32)]) -> LinkConfig {
    let rate_bps = Some(RATE_BPS);
    let schedule = mtus.iter().map(|&(from_s, mtu_bytes)| ScheduleStep {
        at: Instant::from_ns(from_s * SECOND),
        rate_bps,
        delay_ns,
        mtu_bytes: Some(mtu_bytes),
    });
    let direction = DirectionConfig {
        rate_bps,
        delay_ns,
        queue: QueueLimit::Bytes(RATE_BPS / 8 * 2 * delay_ns / SECOND),
        schedule: schedule.collect(),
        ..DirectionConfig::default()
    };
    LinkConfig { name: "l".into(), forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}
