//! One direction of a link: queue, line, and the packets under way.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Class, Ecn, Instant, Packet, Stream};

use crate::damage::damaged;
use crate::explicit::Explicit;
use crate::fragments::Pieces;
use crate::line::{Fate, Journey, TransmissionLine};
use crate::outages::KnownOutages;
use crate::policer::Policer;
use crate::queue::{MAX_PACKETS, Queue};
use crate::red::{Idle, Red, RedDecision};
use crate::serializer::ServiceInterval;
use crate::under_way::UnderWay;
use crate::{DirectionConfig, LinkConfig, LinkCounters, LowLimit, MAX_MTU_BYTES};

/// Damaged packets that nobody has asked for; further ones are not told.
const MAX_DAMAGED: usize = 4096;

/// A drop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DroppedPacket {
    pub(crate) at: Instant,
    pub(crate) cause: DropCause,
    /// Place of the packet in the order of entry.
    pub(crate) order: u64,
    /// Number that its sender gave it.
    pub(crate) id: u64,
    pub(crate) wire_bytes: u32,
}

/// A packet that will be delivered, unless it is sent at another time.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) packet: Box<Packet>,
    pub(super) journey: Journey,
}

/// A packet that waits, and is lost if the forced outage lasts.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) order: u64,
    pub(super) service: ServiceInterval,
    pub(super) flight: Flight,
}

/// Those that look at a packet before the queue does.
#[derive(Clone, Debug)]
struct Guard {
    policer: Option<Policer>,
    red: Option<Red>,
    /// Router of explicit rate control.
    explicit: Option<Explicit>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// `None`: nobody does. That there may be somebody is one question for a packet that enters.
    guard: Option<Box<Guard>>,
    pub(super) queue: Queue,
    low_limit: LowLimit,
    pub(super) line: TransmissionLine,
    damage_stream: Box<Stream>,
    /// When packets that noise took would have arrived, where somebody wants to know.
    damaged: Option<VecDeque<Instant>>,
    /// Packets that will be delivered.
    pub(super) under_way: UnderWay<Flight>,
    /// Packets of which is not known whether they will be, in the order of entry. All of them are in the
    /// queue.
    pub(super) held: VecDeque<Held>,
    /// The latest time that a packet came in: time does not run backwards in here.
    clock: Instant,
    /// Time of the latest delivery.
    pub(super) delivered_at: Instant,
    /// One past the latest place delivered.
    delivered_end: u64,
    /// In a box, as what is rare is: a link is moved when it is made, and what is used of it lies together.
    pub(super) counters: Box<LinkCounters>,
}

impl Direction {
    /// The direction that starts at `port` of a link with a valid configuration.
    pub(crate) fn new(config: &LinkConfig, port: u32, seed: u64) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("{}/{what}", config.direction_name(port)));
        let &DirectionConfig { policer, queue, red, low_limit, explicit, delay_ns, .. } =
            config.direction(port);
        let is_guarded = policer.is_some() || red.is_some() || explicit.is_some();
        let guard = || Guard {
            policer: policer.map(Policer::new),
            red: red.and_then(|red| Red::new(red, stream("red"))),
            explicit: explicit.map(|explicit| Explicit::new(explicit, delay_ns)),
        };
        Self {
            guard: is_guarded.then(|| Box::new(guard())),
            queue: Queue::new(queue),
            low_limit,
            line: TransmissionLine::new(config, port, seed),
            damage_stream: Box::new(stream("damage")),
            damaged: None,
            under_way: UnderWay::new(),
            held: VecDeque::new(),
            clock: Instant::ZERO,
            delivered_at: Instant::ZERO,
            delivered_end: 0,
            counters: Box::default(),
        }
    }

    /// The latest time that something happened in here.
    pub(crate) fn present(&self) -> Instant {
        self.clock.max(self.delivered_at)
    }

    /// Time does not run backwards behind this.
    pub(crate) fn advance(&mut self, now: Instant) {
        self.clock = self.clock.max(now);
    }

    /// Takes a packet and decides all that will happen to it. Nothing is left of one that goes on.
    pub(crate) fn enter(
        &mut self,
        now: Instant,
        mut packet: Box<Packet>,
        down: KnownOutages<'_>,
    ) -> Option<DroppedPacket> {
        self.advance(now);
        let (order, id, wire_bytes) = (self.counters.entered_packets, packet.meta.id, packet.meta.wire_bytes);
        self.counters.enter(wire_bytes);
        self.queue.release(self.clock);
        let lost = match self.cut(&mut packet) {
            Ok(pieces) => match self.refuse(&mut packet, pieces) {
                None => self.send(packet, pieces, order, down),
                Some(cause) => Some((self.clock, cause)),
            },
            Err(cause) => Some((self.clock, cause)),
        };
        let (at, cause) = lost?;
        if self.guard.is_some() {
            self.forget(order);
        }
        self.counters.lose(wire_bytes, cause);
        Some(DroppedPacket { at, cause, order, id, wire_bytes })
    }

    /// Pieces that a packet crosses in, which its meta data say from here on.
    fn cut(&self, packet: &mut Packet) -> Result<Pieces, DropCause> {
        let meta = &mut packet.meta;
        if !self.line.has_mtu() && meta.fragment_bytes == 0 {
            return Ok(Pieces::whole(meta.wire_bytes));
        }
        let mtu_bytes = self.line.mtu_bytes(self.clock).unwrap_or(u32::MAX);
        let was_cut = meta.fragment_bytes > 0;
        let limit = if was_cut { mtu_bytes.min(meta.fragment_bytes) } else { mtu_bytes };
        if meta.wire_bytes <= limit {
            return Ok(Pieces::whole(meta.wire_bytes));
        }
        if !(was_cut || meta.fields.may_fragment) || meta.wire_bytes > MAX_MTU_BYTES {
            return Err(DropCause::TooLarge);
        }
        meta.fragment_bytes = limit;
        Ok(Pieces::fragments(meta.wire_bytes, limit))
    }

    /// Admission to the queue: why there is none; the packet may be marked.
    fn refuse(&mut self, packet: &mut Packet, pieces: Pieces) -> Option<DropCause> {
        if self.guard.is_some() {
            return self.refuse_guarded(packet, pieces.total_bytes);
        }
        let has_room = self.has_room(pieces.total_bytes, packet.meta.fields.class);
        if has_room { None } else { Some(DropCause::QueueFull) }
    }

    /// Admission where somebody looks at the packet before the queue does. Apart: what it needs is not in the
    /// way of the packets of other links.
    #[cold]
    #[inline(never)]
    fn refuse_guarded(&mut self, packet: &mut Packet, wire_bytes: u32) -> Option<DropCause> {
        let Some(guard) = &mut self.guard else { return None };
        let now = self.clock;
        if guard.policer.as_mut().is_some_and(|policer| !policer.passes(now, wire_bytes)) {
            return Some(DropCause::Policed); // it knows no classes: what the queue has no room for took tokens
        }
        if let Some(explicit) = &mut guard.explicit {
            explicit.arrive(self.clock, wire_bytes, packet.meta.fields.path_header.as_ref(), &self.line);
        }
        let judgement = guard.red.as_mut().map_or(RedDecision::Pass, |red| {
            let idle = self
                .queue
                .empty_since()
                .map(|since| Idle { ns: self.clock.since(since), rate_bps: self.line.rate_bps(self.clock) });
            red.judge(packet.meta.fields.ecn, wire_bytes, self.queue.length(), idle)
        });
        if !self.has_room(wire_bytes, packet.meta.fields.class) {
            return Some(DropCause::QueueFull);
        }
        match judgement {
            RedDecision::Pass => {}
            RedDecision::Mark => {
                packet.meta.fields.ecn = Ecn::Ce;
                self.counters.marked_packets += 1;
            }
            RedDecision::Drop => return Some(DropCause::Early),
        }
        None
    }

    fn has_room(&self, wire_bytes: u32, class: Class) -> bool {
        let has_place = class == Class::Normal || self.queue.is_as_short_as(self.low_limit);
        has_place && self.queue.has_room(wire_bytes) && self.packets_inside() < MAX_PACKETS
    }

    fn send(
        &mut self,
        packet: Box<Packet>,
        pieces: Pieces,
        order: u64,
        down: KnownOutages<'_>,
    ) -> Option<(Instant, DropCause)> {
        let wire_bytes = pieces.total_bytes;
        self.counters.fragmented_packets += u64::from(pieces.count > 1);
        let service = self.line.serve(self.clock, wire_bytes);
        self.occupy(service, wire_bytes, order);
        self.counters.serve(wire_bytes, service.start.since(self.clock));
        let mark = if self.guard.is_some() {
            self.note_departure(order, service.start, wire_bytes, &packet)
        } else {
            Journey::UNHARMED
        };
        if !self.line.is_clear() || !down.are_none() {
            return self.meet_fate(packet, pieces, order, (service, mark), down);
        }
        let arrival = self.line.clear_arrival(service);
        self.under_way.push(arrival, order, Flight { packet, journey: mark });
        None
    }

    /// Has a packet that is served meet its fate, where something may happen to it.
    #[inline(never)]
    fn meet_fate(
        &mut self,
        mut packet: Box<Packet>,
        pieces: Pieces,
        order: u64,
        (service, mark): (ServiceInterval, Journey),
        down: KnownOutages<'_>,
    ) -> Option<(Instant, DropCause)> {
        match self.line.fate(self.clock, service, pieces, !packet.bytes.is_empty(), down) {
            Fate::Lost(cause) => return Some((service.end, cause)),
            Fate::Damaged(cause, arrival) => {
                if let Some(damaged) = self.damaged.as_mut().filter(|damaged| damaged.len() < MAX_DAMAGED) {
                    damaged.push_back(arrival);
                }
                return Some((service.end, cause));
            }
            Fate::Arrives(arrival, journey) => {
                if journey.is_damaged() {
                    self.damage(&mut packet);
                }
                self.under_way.push(arrival, order, Flight { packet, journey: journey.with(mark) });
            }
            Fate::Held(journey) => self.hold(order, service, packet, journey.with(mark)),
        }
        None
    }

    /// Keeps packets that noise takes from now on for [`take_damaged`](Self::take_damaged).
    pub(crate) fn watch_damage(&mut self) {
        self.damaged.get_or_insert_default();
        self.line.trace_damage();
    }

    /// Number of those that would have arrived by `now`, since the last call.
    pub(crate) fn take_damaged(&mut self, now: Instant) -> u64 {
        let Some(damaged) = &mut self.damaged else { return 0 };
        let mut count = 0;
        while damaged.front().is_some_and(|&arrival| arrival <= now) {
            damaged.pop_front();
            count += 1;
        }
        count
    }

    /// Takes a place in the queue until the serialisation ends; none if that is at once.
    fn occupy(&mut self, service: ServiceInterval, wire_bytes: u32, order: u64) {
        if service.end > self.clock {
            self.queue.push(service.end, wire_bytes, order);
            // All that has left was released when this packet came in.
            self.counters.max_queue_bytes = self.counters.max_queue_bytes.max(self.queue.held_bytes());
        }
    }

    #[cold]
    fn hold(&mut self, order: u64, service: ServiceInterval, mut packet: Box<Packet>, journey: Journey) {
        if journey.is_damaged() {
            self.damage(&mut packet);
        }
        self.held.push_back(Held { order, service, flight: Flight { packet, journey } });
    }

    #[cold]
    fn damage(&mut self, packet: &mut Packet) {
        let again = self.line.bit_error_chance(packet.meta.wire_bytes);
        packet.bytes = damaged(&packet.bytes, again, &mut self.damage_stream);
    }

    /// Time of the next delivery; the end of time if there is none.
    #[inline]
    pub(crate) fn next_delivery(&self) -> Instant {
        self.under_way.next_at()
    }

    /// Gives back the next packet, due or not.
    #[inline]
    pub(crate) fn deliver(&mut self) -> Option<Box<Packet>> {
        if self.under_way.has_overtaking() {
            return self.deliver_either();
        }
        let (at, place, Flight { mut packet, journey }) = self.under_way.pop_in_order()?;
        self.end(at, place, &mut packet, journey);
        Some(packet)
    }

    #[cold]
    #[inline(never)]
    fn deliver_either(&mut self) -> Option<Box<Packet>> {
        let (at, place, Flight { mut packet, journey }) = self.under_way.pop()?;
        self.end(at, place, &mut packet, journey);
        Some(packet)
    }

    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    fn end(&mut self, at: Instant, place: u64, packet: &mut Packet, journey: Journey) {
        self.delivered_at = at;
        self.counters.deliver(packet.meta.wire_bytes);
        self.counters.damaged_packets += u64::from(journey.is_damaged());
        self.counters.reordered_packets += u64::from(place < self.delivered_end);
        if journey.is_twice_or_marked() {
            self.end_rare(at, place, packet, journey);
        } else {
            self.delivered_end = self.delivered_end.max(place + 1);
        }
    }

    /// Tells the router, if there is one, when a packet departs: its journey is marked then.
    #[cold]
    #[inline(never)]
    fn note_departure(&mut self, order: u64, at: Instant, wire_bytes: u32, packet: &Packet) -> Journey {
        let Some(explicit) = self.router() else { return Journey::UNHARMED };
        explicit.queue(order, at, wire_bytes, packet.meta.fields.path_header);
        Journey::MARKED
    }

    /// Router of explicit rate control.
    fn router(&mut self) -> Option<&mut Explicit> {
        self.guard.as_mut().and_then(|guard| guard.explicit.as_mut())
    }

    /// Router of explicit rate control, and the line.
    pub(super) fn router_of_line(&mut self) -> (Option<&mut Explicit>, &TransmissionLine) {
        (self.guard.as_mut().and_then(|guard| guard.explicit.as_mut()), &self.line)
    }

    /// What a packet has at its end whose copy follows, or that the router writes on.
    #[cold]
    #[inline(never)]
    fn end_rare(&mut self, at: Instant, place: u64, packet: &mut Packet, journey: Journey) {
        if journey.is_twice() {
            self.follow(at, place, packet, journey);
        } else {
            self.delivered_end = self.delivered_end.max(place + 1);
        }
        if let (Some(explicit), line) = self.router_of_line() {
            packet.meta.fields.path_header = explicit.header_of(place, journey.is_twice(), line);
        }
    }

    /// Tells the router that a packet is lost.
    #[cold]
    #[inline(never)]
    pub(super) fn forget(&mut self, order: u64) {
        if let Some(explicit) = self.router() {
            explicit.lose(order);
        }
    }

    /// Has a copy come right behind a packet.
    #[cold]
    fn follow(&mut self, at: Instant, place: u64, packet: &Packet, journey: Journey) {
        self.counters.duplicated_packets += 1;
        let twin = Flight { packet: Box::new(packet.clone()), journey: journey.once() };
        self.under_way.push_first(at, place, twin);
    }

    pub(crate) fn packets_inside(&self) -> usize {
        self.under_way.len() + self.held.len()
    }

    pub(crate) fn queue_bytes(&self, now: Instant) -> u64 {
        self.queue.bytes(now)
    }

    pub(crate) fn counters(&self, now: Instant) -> LinkCounters {
        LinkCounters { queue_bytes: self.queue_bytes(now), ..*self.counters }
    }
}
