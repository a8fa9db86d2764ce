//! One direction of a link: queue, wire, and the packets under way.

use alloc::format;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Ecn, Instant, Packet, Stream};

use crate::damage::damaged;
use crate::queue::{MAX_PACKETS, Queue};
use crate::red::{Judgement, Red};
use crate::serializer::Slot;
use crate::under_way::UnderWay;
use crate::wire::{Fate, Journey, Wire};
use crate::{Counters, DirectionConfig, LinkConfig, Outage};

/// A drop: when and why.
pub(crate) type Dropped = (Instant, DropCause);

/// A packet that will be delivered.
#[derive(Clone, Debug)]
struct Flight {
    packet: Packet,
    journey: Journey,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    queue: Queue,
    red: Option<Red>,
    wire: Wire,
    damage_stream: Stream,
    /// Packets that will be delivered.
    under_way: UnderWay<Flight>,
    /// The latest time that a packet came in: time does not run backwards in here.
    clock: Instant,
    /// One past the latest place delivered.
    delivered_end: u64,
    counters: Counters,
}

impl Direction {
    /// The direction that starts at `port` of a link with a valid configuration.
    pub(crate) fn new(config: &LinkConfig, port: u32, seed: u64) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("{}/{what}", config.direction_name(port)));
        let &DirectionConfig { queue, red, rate_bps, .. } = config.direction(port);
        Self {
            queue: Queue::new(queue),
            red: red.and_then(|red| Red::new(red, rate_bps, stream("red"))),
            wire: Wire::new(config, port, seed),
            damage_stream: stream("damage"),
            under_way: UnderWay::new(),
            clock: Instant::ZERO,
            delivered_end: 0,
            counters: Counters::default(),
        }
    }

    /// Takes a packet and decides all that will happen to it.
    pub(crate) fn enter(&mut self, now: Instant, mut packet: Packet, outages: &[Outage]) -> Option<Dropped> {
        self.clock = self.clock.max(now);
        let wire_bytes = packet.meta.wire_bytes;
        self.counters.enter(wire_bytes);
        self.queue.release(self.clock);
        let dropped = match self.admit(&mut packet) {
            Ok(()) => self.send(packet, outages),
            Err(cause) => Some((self.clock, cause)),
        };
        if let Some((_, cause)) = dropped {
            self.counters.drop(wire_bytes, cause);
        }
        dropped
    }

    /// Packets that came in so far.
    pub(crate) fn entered_packets(&self) -> u64 {
        self.counters.entered_packets
    }

    /// Whether the queue takes it; it may be marked.
    fn admit(&mut self, packet: &mut Packet) -> Result<(), DropCause> {
        let wire_bytes = packet.meta.wire_bytes;
        let judgement = self.red.as_mut().map_or(Judgement::Pass, |red| {
            let (length, empty_since) = (self.queue.length(), self.queue.empty_since());
            red.judge(self.clock, packet.meta.ecn, wire_bytes, length, empty_since)
        });
        if !self.has_room(wire_bytes) {
            return Err(DropCause::QueueFull);
        }
        match judgement {
            Judgement::Pass => {}
            Judgement::Mark => {
                packet.meta.ecn = Ecn::Ce;
                self.counters.marked_packets += 1;
            }
            Judgement::Drop => return Err(DropCause::Early),
        }
        Ok(())
    }

    fn has_room(&self, wire_bytes: u32) -> bool {
        self.queue.has_room(wire_bytes) && self.under_way.len() < MAX_PACKETS
    }

    fn send(&mut self, packet: Packet, outages: &[Outage]) -> Option<Dropped> {
        let wire_bytes = packet.meta.wire_bytes;
        let (slot, fate) = self.wire.send(self.clock, wire_bytes, !packet.bytes.is_empty(), outages);
        self.occupy(slot, wire_bytes);
        self.counters.serve(wire_bytes, slot.start.since(self.clock));
        match fate {
            Fate::Lost(cause) => Some((slot.end, cause)),
            Fate::Arrives(arrival, journey) => {
                let packet = if journey.damaged { self.damaged(packet) } else { packet };
                self.under_way.push(arrival, Flight { packet, journey });
                None
            }
        }
    }

    /// Takes a place in the queue until the serialisation ends; none if that is at once.
    fn occupy(&mut self, slot: Slot, wire_bytes: u32) {
        if slot.end > self.clock {
            self.queue.push(slot.end, wire_bytes);
            // All that has left was released when this packet came in.
            self.counters.max_queue_bytes = self.counters.max_queue_bytes.max(self.queue.held_bytes());
        }
    }

    fn damaged(&mut self, mut packet: Packet) -> Packet {
        let again = self.wire.bit_error_chance(packet.meta.wire_bytes);
        packet.bytes = damaged(&packet.bytes, again, &mut self.damage_stream);
        packet
    }

    /// When the next packet is delivered.
    pub(crate) fn next_delivery(&self) -> Option<Instant> {
        self.under_way.next().map(|(at, _, _)| at)
    }

    /// Gives back the next packet, due or not.
    pub(crate) fn deliver(&mut self) -> Option<Packet> {
        let (_, place, flight) = self.under_way.next_mut()?;
        self.counters.deliver(flight.packet.meta.wire_bytes);
        self.counters.damaged_packets += u64::from(flight.journey.damaged);
        self.counters.reordered_packets += u64::from(place < self.delivered_end);
        if flight.journey.twice {
            flight.journey.twice = false;
            self.counters.duplicated_packets += 1;
            return Some(flight.packet.clone()); // its twin keeps the place, and comes next
        }
        self.delivered_end = self.delivered_end.max(place + 1);
        self.under_way.pop().map(|flight| flight.packet)
    }

    pub(crate) fn packets_inside(&self) -> usize {
        self.under_way.len()
    }

    pub(crate) fn queue_bytes(&self, now: Instant) -> u64 {
        self.queue.bytes(now)
    }

    pub(crate) fn counters(&self, now: Instant) -> Counters {
        Counters { queue_bytes: self.queue_bytes(now), ..self.counters }
    }
}
