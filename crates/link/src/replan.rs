//! Decisions taken again after a change of a running link, for packets that have not left yet.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use skyhaul_core::Instant;
use skyhaul_core::event::DropCause;

use crate::direction::{Direction, DroppedPacket, Flight, Held};
use crate::line::Fate;
use crate::outages::KnownOutages;
use crate::serializer::{ServiceInterval, work_of};
use crate::timeline::Timeline;
use crate::{Stay, Stays};

impl Direction {
    /// Packets that were held and whose serialisation had begun before `until` are lost.
    pub(crate) fn settle(&mut self, until: Instant) -> Vec<DroppedPacket> {
        let mut dropped = Vec::new();
        while self.held.front().is_some_and(|held| held.service.start < until) {
            let Some(held) = self.held.pop_front() else { break };
            dropped.push(self.lose(held.service.end, held.order, &held.flight));
        }
        dropped
    }

    fn lose(&mut self, at: Instant, order: u64, flight: &Flight) -> DroppedPacket {
        let (id, wire_bytes) = (flight.packet.meta.id, flight.packet.meta.wire_bytes);
        self.counters.lose(wire_bytes, DropCause::Outage);
        self.forget(order);
        DroppedPacket { at, cause: DropCause::Outage, order, id, wire_bytes }
    }

    /// Packets that have not left by `now` are sent anew: the rest of the one in service, then the others,
    /// with the rates and delays of `timeline`, the channel in a stay that others follow, and outages that
    /// are now known. Their draws hold.
    pub(crate) fn replan(
        &mut self,
        now: Instant,
        timeline: &Timeline,
        stays: Option<(Stay, Stays)>,
        down: KnownOutages<'_>,
    ) -> Vec<DroppedPacket> {
        self.queue.release(now);
        if let (Some(explicit), line) = self.router_of_line() {
            explicit.work_off(now, line);
        }
        let mut waiting = self.take_waiting();
        let turn =
            |(arrival, flight): (Instant, &Flight)| self.line.in_order_arrival(arrival, flight.journey);
        let latest = self.under_way.iter().map(turn).max().unwrap_or(Instant::ZERO);
        let left = self.line.interrupt(now, timeline, stays, latest);
        let services = self.services_anew(now, left);
        if let (Some(explicit), _) = self.router_of_line() {
            explicit.replan(&services);
        }
        // One that was held may have ended at this instant: it has no place in the queue any more.
        let first = services.first().map_or(u64::MAX, |&(order, _)| order);
        let gone: Vec<u64> = waiting.range(..first).map(|(&order, _)| order).collect();
        let gone = gone.into_iter().map(|order| (order, ServiceInterval { start: now, end: now }));
        let mut dropped = Vec::new();
        for (order, service) in gone.chain(services) {
            if let Some(flight) = waiting.remove(&order) {
                dropped.extend(self.send_anew(now, order, service, flight, down));
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
    fn services_anew(&mut self, now: Instant, left: u128) -> Vec<(u64, ServiceInterval)> {
        // What is left of the last packet if none waits, less than a nanosecond's work, is forgotten.
        let first_bytes = self.queue.first().map_or(0, |(_, bytes)| bytes);
        let others = work_of(self.queue.held_bytes() - first_bytes);
        let mut rest = Some(left.saturating_sub(others));
        let line = &mut self.line;
        let ends = self.queue.serve_anew(|bytes| line.go_on(rest.take().unwrap_or_else(|| work_of(bytes))));
        let mut start = now;
        let service =
            |(order, end)| (order, ServiceInterval { start: core::mem::replace(&mut start, end), end });
        ends.into_iter().map(service).collect()
    }

    fn send_anew(
        &mut self,
        now: Instant,
        order: u64,
        service: ServiceInterval,
        flight: Flight,
        down: KnownOutages<'_>,
    ) -> Option<DroppedPacket> {
        match self.line.send_anew(now, service, flight.journey, down) {
            Fate::Lost(_) | Fate::Damaged(..) => return Some(self.lose(service.end, order, &flight)),
            Fate::Arrives(arrival, _) => self.under_way.push(arrival, order, flight),
            Fate::Held(_) => self.held.push_back(Held { order, service, flight }),
        }
        None
    }
}
