//! Looking up a validated outage schedule.

use skyhaul_core::Instant;

use crate::Outage;

/// Whether the link is down at any instant from `start` to `end`, both included.
pub(crate) fn is_down_during(outages: &[Outage], start: Instant, end: Instant) -> bool {
    let first_not_over = outages.partition_point(|outage| outage.to <= start);
    outages.get(first_not_over).is_some_and(|outage| outage.from <= end)
}
