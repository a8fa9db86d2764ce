//! A duplex link.

use alloc::boxed::Box;

use skyhaul_core::{Event, EventSink, Instant, Packet};

use crate::direction::{Direction, DroppedPacket};
use crate::outages::KnownOutages;
use crate::{Conditions, ConfigError, LinkConfig, LinkCounters};

/// A duplex link: what enters port 0 leaves at port 1 and the other way round. Methods that take a
/// port panic if it is neither 0 nor 1.
#[derive(Clone, Debug)]
pub struct Link {
    pub(super) config: LinkConfig,
    source: u64,
    /// By the port at which they start.
    pub(super) directions: [Direction; 2],
    pub(super) conditions: Conditions,
}

impl Link {
    /// A link whose random numbers are those of `seed` and the configured name. Events carry
    /// `source`, which tells the links of one run apart.
    pub fn new(config: LinkConfig, seed: u64, source: u64) -> Result<Self, ConfigError> {
        let conditions = Conditions::new(&config, seed)?;
        let directions = [0, 1].map(|port| Direction::new(&config, port, seed));
        Ok(Self { config, source, directions, conditions })
    }

    /// Configuration that the link was built with. Changes since are in [`conditions`](Self::conditions).
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// A packet enters at `port`. All that will happen to it is decided now. If it is dropped,
    /// [`Event::LinkDrop`] is emitted in this call and the drop is counted; the event's time is
    /// when the drop happens: now if the queue is full, the end of the packet's serialisation
    /// otherwise, which may lie ahead of `now`. Until then the packet fills its place in the queue.
    ///
    /// A change while the link runs may change what was decided for packets that wait, see
    /// [`set_rate`](Self::set_rate).
    ///
    /// A time earlier than that of a previous call for this port counts as the time of that call.
    pub fn handle(&mut self, now: Instant, port: u32, packet: Packet, sink: &mut dyn EventSink) {
        self.enter(now, port, Box::new(packet), sink);
    }

    /// [`handle`](Self::handle) of a packet in a box, which goes from link to link as it is: each move of a
    /// packet costs.
    pub fn enter(&mut self, now: Instant, port: u32, packet: Box<Packet>, sink: &mut dyn EventSink) {
        if self.conditions.forced_outage().is_some() {
            self.settle(now, sink);
        }
        self.conditions.pass(now);
        let down = KnownOutages { scheduled: &self.config.outages, forced: self.conditions.forced_outage() };
        let dropped = self.directions[port as usize].enter(now, packet, down);
        if let Some(dropped) = dropped {
            self.report(port, &[dropped], sink);
        }
    }

    #[cold]
    pub(super) fn report(&self, port: u32, drops: &[DroppedPacket], sink: &mut dyn EventSink) {
        for &DroppedPacket { at, cause, order, id, wire_bytes } in drops {
            if sink.wants() {
                sink.emit(at, self.source, Event::LinkDrop { port, order, packet: id, wire_bytes, cause });
            }
        }
    }

    /// Time at which a change takes effect: not before anything that has happened to the link.
    pub(super) fn present(&self, now: Instant) -> Instant {
        let [forward, reverse] = self.directions.each_ref().map(Direction::present);
        now.max(forward).max(reverse)
    }

    /// Counts the losses of the forced outage until `now`, and ends it if its time has come.
    #[cold]
    pub(super) fn settle(&mut self, now: Instant, sink: &mut dyn EventSink) {
        let now = self.present(now);
        self.directions.iter_mut().for_each(|direction| direction.advance(now));
        self.lose_until(now.after(1), sink);
        if self.conditions.forced_outage().is_some_and(|outage| outage.to <= now) {
            self.conditions.end_forced(now);
        }
    }

    /// Counts as lost the packets that were held and begun before `until`.
    pub(super) fn lose_until(&mut self, until: Instant, sink: &mut dyn EventSink) {
        for port in [0, 1] {
            let dropped = self.directions[port as usize].settle(until);
            self.report(port, &dropped, sink);
        }
    }

    /// The next packet whose delivery time has come, and the port at which it leaves: in the order
    /// of delivery times; at equal times those that leave at port 1 first, then in the order in
    /// which they entered.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(u32, Packet)> {
        self.poll(now).map(|(port, packet)| (port, *packet))
    }

    /// [`poll_transmit`](Self::poll_transmit) of a packet in the box that it goes on in.
    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    pub fn poll(&mut self, now: Instant) -> Option<(u32, Box<Packet>)> {
        let (at, start) = self.next_delivery();
        if at > now || at == Instant::MAX {
            return None;
        }
        Some((1 - start as u32, self.directions[start].deliver()?))
    }

    /// Next time at which [`poll_transmit`](Self::poll_transmit) has a packet; in the past if it has one now.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        let (at, _) = self.next_delivery();
        (at < Instant::MAX).then_some(at)
    }

    /// Time of the next delivery, the end of time if there is none, and the port at which the packet started.
    #[inline]
    fn next_delivery(&self) -> (Instant, usize) {
        let [first, second] = [0, 1].map(|start| self.directions[start].next_delivery());
        if second < first { (second, 1) } else { (first, 0) }
    }

    /// From now on counts, for [`take_damaged`](Self::take_damaged), the packets that would leave at `port`
    /// and that noise takes. A link that nobody asks does nothing for it.
    pub fn watch_damage(&mut self, port: u32) {
        self.directions[1 - port as usize].watch_damage();
    }

    /// Packets that noise took - bit errors, random losses, states of the channel - as the router at `port`
    /// sees them: those that would have left there by `now`, since the last call; 0 without
    /// [`watch_damage`](Self::watch_damage). Packets that are delivered with wrong bits are not among them,
    /// nor are more than 4096 at a time.
    pub fn take_damaged(&mut self, port: u32, now: Instant) -> u64 {
        self.directions[1 - port as usize].take_damaged(now)
    }

    /// True if neither an outage nor a state of the channel that loses everything covers `now`.
    pub fn is_up(&self, now: Instant) -> bool {
        self.conditions.is_up(now)
    }

    /// Realised conditions of the link, at any time, past or future.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Bytes that entered at `port` and wait or are in service at `now`, which should not be earlier
    /// than the previous call of [`handle`](Self::handle).
    pub fn queue_bytes(&self, port: u32, now: Instant) -> u64 {
        self.directions[port as usize].queue_bytes(now)
    }

    /// Packets that entered at `port` and will be delivered (or may be, if a forced outage ends early), but
    /// were not yet, copies not counted.
    pub fn packets_inside(&self, port: u32) -> usize {
        self.directions[port as usize].packets_inside()
    }

    /// Totals of the packets that entered at `port` so far, with the queue as at `now`.
    pub fn counters(&self, port: u32, now: Instant) -> LinkCounters {
        self.directions[port as usize].counters(now)
    }
}
