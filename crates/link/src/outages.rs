//! Lists of outages: looking up a validated schedule, and making one list of several.

use alloc::vec::Vec;

use skyhaul_core::Instant;

use crate::Outage;
use crate::serializer::ServiceInterval;

/// Outages of a link that are known when a packet is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownOutages<'a> {
    /// By schedule.
    pub(crate) scheduled: &'a [Outage],
    /// Forced from outside, and perhaps ended early.
    pub(crate) forced: Option<&'a Outage>,
}

impl KnownOutages<'_> {
    /// True if no outage is known of, at any time.
    pub(crate) fn are_none(&self) -> bool {
        self.scheduled.is_empty() && self.forced.is_none()
    }

    /// True if a packet is lost for certain, by what is known at `now`. `is_doubtful`: what
    /// [`may_take`](Self::may_take) says of it.
    pub(crate) fn takes(&self, service: ServiceInterval, is_doubtful: bool, now: Instant) -> bool {
        is_doubtful && service.start <= now || is_down_during(self.scheduled, service.start, service.end)
    }

    /// True if a packet is lost unless the forced outage ends early.
    pub(crate) fn may_take(&self, service: ServiceInterval) -> bool {
        self.forced.is_some_and(|outage| service.start < outage.to && outage.from <= service.end)
    }
}

/// True if the link is down at any instant from `start` to `end`, both included.
pub(crate) fn is_down_during(outages: &[Outage], start: Instant, end: Instant) -> bool {
    let first_not_over = outages.partition_point(|outage| outage.to <= start);
    outages.get(first_not_over).is_some_and(|outage| outage.from <= end)
}

impl Outage {
    /// Union of outages: sorted, those that overlap or touch made one.
    pub fn merged(outages: Vec<Self>) -> Vec<Self> {
        merged(outages)
    }
}

/// Union of outages: sorted, those that overlap or touch made one.
pub(crate) fn merged(mut outages: Vec<Outage>) -> Vec<Outage> {
    outages.sort_unstable_by_key(|outage| outage.from);
    let mut merged: Vec<Outage> = Vec::new();
    for outage in outages {
        match merged.last_mut() {
            Some(last) if outage.from <= last.to => last.to = last.to.max(outage.to),
            _ => merged.push(outage),
        }
    }
    merged
}
