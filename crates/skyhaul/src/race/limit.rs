//! What the way could have carried, and how long a run may take.

use skyhaul_core::{Instant, SECOND};
use skyhaul_sim::{Protocol, limit_bytes};

use super::plan::{Plan, Work};

/// A run ends after so many times what the links need ...
const TIMES: u64 = 10;
/// ... and so much more ...
const MORE_NS: u64 = 60 * SECOND;
/// ... and no later than this.
const MOST_NS: u64 = 600 * SECOND;

/// Payload bytes that the way of this very seed could have carried: what the link that could carry least could have
/// carried. `None`: no link has a rate.
pub(super) fn path_limit_bytes(
    plan: &Plan,
    protocol: Protocol,
    seed: u64,
    (start, end): (Instant, Instant),
) -> Option<u64> {
    plan.way().filter_map(|(link, port)| limit_bytes(protocol, link, seed, port, start, end)).min()
}

/// When a run is ended that is not over by itself.
pub(super) fn time_limit_ns(plan: &Plan, work: Work, seed: u64) -> u64 {
    let needed_ns = match work {
        Work::Bulk => needed_ns(plan, seed),
        Work::Exchanges { .. } => 2 * plan.round_trip_ns().saturating_mul(u64::from(plan.requests)),
    };
    let usual_ns = needed_ns.saturating_mul(TIMES).saturating_add(MORE_NS).min(MOST_NS);
    plan.own_time_limit_ns().unwrap_or(usual_ns)
}

/// What a sender that could not be faster would need, to the next quarter; [`MOST_NS`] at most.
fn needed_ns(plan: &Plan, seed: u64) -> u64 {
    let Some(rate_bps) = plan.lowest_rate_bps() else { return MOST_NS };
    let bits = u128::from(plan.payload_bytes) * 8 * u128::from(SECOND);
    let at_once_ns = u64::try_from(bits / u128::from(rate_bps)).unwrap_or(u64::MAX);
    let mut needed_ns = at_once_ns.saturating_add(plan.round_trip_ns());
    let carried = |ns| {
        let span = (Instant::ZERO, Instant::from_ns(ns));
        path_limit_bytes(plan, Protocol::Stp, seed, span).unwrap_or(0)
    };
    while needed_ns < MOST_NS && carried(needed_ns) < plan.payload_bytes {
        needed_ns += needed_ns / 4;
    }
    needed_ns.min(MOST_NS)
}
