//! Lists of outages: looking up a validated schedule, and making one list of several.

use alloc::vec::Vec;

use skyhaul_core::Instant;

use crate::Outage;
use crate::serializer::Slot;

/// When a link is down, for packets that are not sent yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Down<'a> {
    /// By schedule.
    pub(crate) scheduled: &'a [Outage],
    /// Because somebody says so, who may change his mind.
    pub(crate) forced: Option<Outage>,
}

impl Down<'_> {
    /// Whether it takes a packet for certain, as things are at `now`.
    pub(crate) fn takes(&self, slot: Slot, now: Instant) -> bool {
        is_down_during(self.scheduled, slot.start, slot.end) || slot.start <= now && self.may_take(slot)
    }

    /// Whether it takes a packet if the forced outage stays as it is.
    pub(crate) fn may_take(&self, slot: Slot) -> bool {
        self.forced.is_some_and(|outage| slot.start < outage.to && outage.from <= slot.end)
    }
}

/// Whether the link is down at any instant from `start` to `end`, both included.
pub(crate) fn is_down_during(outages: &[Outage], start: Instant, end: Instant) -> bool {
    let first_not_over = outages.partition_point(|outage| outage.to <= start);
    outages.get(first_not_over).is_some_and(|outage| outage.from <= end)
}

impl Outage {
    /// The same times, sorted, those that overlap or touch made one.
    pub fn merged(outages: Vec<Self>) -> Vec<Self> {
        merged(outages)
    }
}

/// The same times, sorted, those that overlap or touch made one.
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
