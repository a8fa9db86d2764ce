//! When a running link is changed: what was to happen to packets that have not left yet is decided again.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use skyhaul_core::Instant;
use skyhaul_core::event::DropCause;

use crate::direction::{Direction, Dropped, Flight, Held};
use crate::outages::Down;
use crate::serializer::{Slot, work_of};
use crate::timeline::Timeline;
use crate::wire::Fate;
use crate::{Stay, Stays};

impl Direction {
    /// The latest time that something happened in here.
    pub(crate) fn present(&self) -> Instant {
        self.clock.max(self.delivered_at)
    }

    /// Time does not run backwards behind this.
    pub(crate) fn advance(&mut self, now: Instant) {
        self.clock = self.clock.max(now);
    }

    /// Packets that were held and whose serialisation had begun before `until` are lost.
    pub(crate) fn settle(&mut self, until: Instant) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        while self.held.front().is_some_and(|held| held.slot.start < until) {
            let Some(held) = self.held.pop_front() else { break };
            dropped.push(self.lose(held.slot.end, held.order, &held.flight));
        }
        dropped
    }

    fn lose(&mut self, at: Instant, order: u64, flight: &Flight) -> Dropped {
        let (id, wire_bytes) = (flight.packet.meta.id, flight.packet.meta.wire_bytes);
        self.counters.drop(wire_bytes, DropCause::Outage);
        Dropped { at, cause: DropCause::Outage, order, id, wire_bytes }
    }

    /// Packets that have not left by `now` are sent anew: the rest of the one in service, then the others, with
    /// the rates and delays of `timeline`, the channel in a stay that others follow, and outages that are now known.
    /// What was drawn for them holds.
    pub(crate) fn replan(
        &mut self,
        now: Instant,
        timeline: &Timeline,
        stays: Option<(Stay, Stays)>,
        down: Down<'_>,
    ) -> Vec<Dropped> {
        self.queue.release(now);
        let mut waiting = self.take_waiting();
        let turn = |(arrival, flight): (Instant, &Flight)| self.wire.turn(arrival, flight.journey);
        let latest = self.under_way.iter().map(turn).max().unwrap_or(Instant::ZERO);
        let left = self.wire.interrupt(now, timeline, stays, latest);
        let slots = self.slots_anew(now, left);
        // One that was held may have ended at this instant: it has no place in the queue any more.
        let first = slots.first().map_or(u64::MAX, |&(order, _)| order);
        let gone: Vec<u64> = waiting.range(..first).map(|(&order, _)| order).collect();
        let gone = gone.into_iter().map(|order| (order, Slot { start: now, end: now }));
        let mut dropped = Vec::new();
        for (order, slot) in gone.chain(slots) {
            if let Some(flight) = waiting.remove(&order) {
                dropped.extend(self.send_anew(now, order, slot, flight, down));
            }
        }
        dropped
    }

    /// Packets that have not left and are not lost, by their order of entry.
    fn take_waiting(&mut self) -> BTreeMap<u64, Flight> {
        let held = self.held.drain(..).map(|held| (held.order, held.flight));
        let mut waiting: BTreeMap<u64, Flight> = held.collect();
        if let Some((first, _)) = self.queue.first() {
            waiting.extend(self.under_way.take_from(first));
        }
        waiting
    }

    /// When each packet of the queue is sent, if so much work is left at `now`.
    fn slots_anew(&mut self, now: Instant, left: u128) -> Vec<(u64, Slot)> {
        // What is left of the last packet if none waits, less than a nanosecond's work, is forgotten.
        let first_bytes = self.queue.first().map_or(0, |(_, bytes)| bytes);
        let others = work_of(self.queue.held_bytes() - first_bytes);
        let mut rest = Some(left.saturating_sub(others));
        let wire = &mut self.wire;
        let ends = self.queue.serve_anew(|bytes| wire.go_on(rest.take().unwrap_or_else(|| work_of(bytes))));
        let mut start = now;
        let slot = |(order, end)| (order, Slot { start: core::mem::replace(&mut start, end), end });
        ends.into_iter().map(slot).collect()
    }

    fn send_anew(
        &mut self,
        now: Instant,
        order: u64,
        slot: Slot,
        flight: Flight,
        down: Down<'_>,
    ) -> Option<Dropped> {
        match self.wire.send_anew(now, slot, flight.journey, down) {
            Fate::Lost(_) => return Some(self.lose(slot.end, order, &flight)),
            Fate::Arrives(arrival, _) => self.under_way.push(arrival, order, flight),
            Fate::Held(_) => self.held.push_back(Held { order, slot, flight }),
        }
        None
    }
}
