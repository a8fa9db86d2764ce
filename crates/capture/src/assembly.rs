//! Which events stand with which packet.

use std::collections::BTreeMap;

use skyhaul_core::{Event, Instant};

use crate::Record;
use crate::comment::has_comment;

/// Events that a packet has at most; further ones are left out.
const MAX_EVENTS: usize = 1024;
/// Packets that engines have told of and that have not been seen yet; the oldest is forgotten first.
const MAX_TOLD: usize = 4096;

/// Events and packets of one end or of a whole run, put together. An event stands with the packet whose
/// arrival led to it, and otherwise with the next one that its end sends.
#[derive(Debug, Default)]
pub struct Assembly {
    /// Packet that arrived and is being handled.
    arrived: Option<(Instant, Record)>,
    /// Events that wait for a packet to be told of, by end.
    loose: BTreeMap<u32, Vec<Event>>,
    /// Events of packets that were told of.
    told: BTreeMap<u64, Vec<Event>>,
}

impl Assembly {
    /// A packet arrived. What the engine says at that instant, until [`take`](Self::take), belongs to it.
    /// Gives the one that arrived before it.
    pub fn arrived(&mut self, at: Instant, record: Record) -> Option<Record> {
        self.arrived.replace((at, record)).map(|(_, record)| record)
    }

    /// The packet that arrived last, if it was not given yet: it is complete.
    pub fn take(&mut self) -> Option<Record> {
        self.arrived.take().map(|(_, record)| record)
    }

    /// The engine at `end` says something. `packet`: the one that a `Sent` event tells of.
    pub fn event(&mut self, at: Instant, end: u32, event: Event, packet: Option<u64>) {
        if let Some(packet) = packet {
            let mut events = self.loose.remove(&end).unwrap_or_default();
            push(&mut events, event);
            self.told.insert(packet, events);
            if self.told.len() > MAX_TOLD {
                self.told.pop_first();
            }
            return;
        }
        match &mut self.arrived {
            Some((when, record)) if *when == at => push(&mut record.events, event),
            _ => push(self.loose.entry(end).or_default(), event),
        }
    }

    /// Events of the packet that was told of under this name; none the second time.
    pub fn of_sent(&mut self, packet: u64) -> Vec<Event> {
        self.told.remove(&packet).unwrap_or_default()
    }

    /// Events of `end` that wait, for the next packet that it sends, where nobody knows which one an event
    /// tells of.
    pub fn take_loose(&mut self, end: u32) -> Vec<Event> {
        self.loose.remove(&end).unwrap_or_default()
    }
}

fn push(events: &mut Vec<Event>, event: Event) {
    if events.len() < MAX_EVENTS && has_comment(&event) {
        events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;
    use bytes::Bytes;

    fn record(at_ns: u64) -> Record {
        let (bytes, events) = (Bytes::new(), Vec::new());
        Record { at_ns, interface: 0, direction: Direction::Inbound, heads: None, bytes, events }
    }

    fn rate(rate_bps: u64) -> Event {
        Event::Rate { rate_bps }
    }

    #[test]
    fn an_event_stands_with_what_led_to_it_or_with_what_follows() {
        let (now, later) = (Instant::from_ns(5), Instant::from_ns(6));
        let mut assembly = Assembly::default();
        assert!(assembly.arrived(now, record(5)).is_none());
        assembly.event(now, 1, rate(1), None);
        assembly.event(later, 1, rate(2), None);
        assembly.event(later, 2, rate(3), None);
        let sent = Event::Sent { types: 1, number: 0, payload_bytes: 1, wire_bytes: 1, repeat: None };
        assembly.event(later, 1, sent, Some(70));
        assert_eq!(assembly.take().unwrap().events, [rate(1)]);
        assert_eq!(assembly.of_sent(70), [rate(2)], "of the other end it is not");
        assert_eq!(assembly.of_sent(70), [], "once");
    }

    #[test]
    fn nothing_grows_without_bound() {
        let mut assembly = Assembly::default();
        for n in 0..10_000 {
            assembly.event(Instant::ZERO, 1, rate(n), None);
        }
        assert_eq!(assembly.loose[&1].len(), MAX_EVENTS);
        for n in 0..10_000 {
            assembly.event(Instant::ZERO, 1, rate(n), Some(n));
        }
        assert_eq!(assembly.told.len(), MAX_TOLD);
    }
}
