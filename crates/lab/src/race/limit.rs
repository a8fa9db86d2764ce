//! Limits: what the way could have carried, and how long a run may take.

use skyhaul_core::{Instant, SECOND};
use skyhaul_scenario::Protocol;
use skyhaul_sim::limit_bytes;

use super::plan::{RacePlan, Work};

/// A run ends after so many times what the links need ...
const TIMES: u64 = 10;
/// ... and so much more ...
const MORE_NS: u64 = 60 * SECOND;
/// ... and no later than this.
const MAX_NS: u64 = 600 * SECOND;

/// Payload bytes that the way of this very seed could have carried: what the link that could carry least
/// could have carried. `None`: no link has a rate.
pub(super) fn path_limit_bytes(
    plan: &RacePlan,
    protocol: &dyn Protocol,
    seed: u64,
    (start, end): (Instant, Instant),
) -> Option<u64> {
    plan.way().filter_map(|(link, port)| limit_bytes(protocol, link, seed, port, start, end)).min()
}

/// Time after which a run is ended that is not over by itself.
pub(super) fn time_limit_ns(plan: &RacePlan, work: Work, seed: u64) -> u64 {
    let needed_ns = match work {
        Work::Bulk => needed_ns(plan, seed),
        Work::Exchanges { .. } => 2 * plan.round_trip_ns().saturating_mul(u64::from(plan.requests)),
    };
    let usual_ns = needed_ns.saturating_mul(TIMES).saturating_add(MORE_NS).min(MAX_NS);
    plan.time_limit_ns.unwrap_or(usual_ns)
}

/// Time that a sender that could not be faster would need, to the next quarter; [`MAX_NS`] at most.
fn needed_ns(plan: &RacePlan, seed: u64) -> u64 {
    let Some(rate_bps) = plan.lowest_rate_bps() else { return MAX_NS };
    let bits = u128::from(plan.payload_bytes) * 8 * u128::from(SECOND);
    let at_once_ns = u64::try_from(bits / u128::from(rate_bps)).unwrap_or(u64::MAX);
    let mut needed_ns = at_once_ns.saturating_add(plan.round_trip_ns());
    let carried = |ns| {
        let span = (Instant::ZERO, Instant::from_ns(ns));
        path_limit_bytes(plan, plan.measure, seed, span).unwrap_or(0)
    };
    while needed_ns < MAX_NS && carried(needed_ns) < plan.payload_bytes {
        needed_ns += needed_ns / 4;
    }
    needed_ns.min(MAX_NS)
}
