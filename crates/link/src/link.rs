//! A duplex link.

use skyhaul_core::{Event, EventSink, Instant, Packet};

use crate::direction::{Direction, Dropped};
use crate::outages::Down;
use crate::{Conditions, ConfigError, Counters, LinkConfig};

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

    /// What the link was built to be like. What was changed since is in [`conditions`](Self::conditions).
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// A packet enters at `port`. All that will happen to it is decided now. If it is dropped,
    /// [`Event::LinkDrop`] is emitted in this call and the drop is counted; the event's time is
    /// when the drop happens: now if the queue is full, the end of the packet's serialisation
    /// otherwise, which may lie ahead of `now`. Until then the packet fills its place in the queue.
    ///
    /// What is changed while the link runs may change what was decided for packets that wait, see
    /// [`set_rate`](Self::set_rate).
    ///
    /// A time earlier than that of a previous call for this port counts as the time of that call.
    pub fn handle(&mut self, now: Instant, port: u32, packet: Packet, sink: &mut dyn EventSink) {
        if self.conditions.forced_outage().is_some() {
            self.settle(now, sink);
        }
        self.conditions.pass(now);
        let down = Down { scheduled: &self.config.outages, forced: self.conditions.forced_outage() };
        let dropped = self.directions[port as usize].enter(now, packet, down);
        if let Some(dropped) = dropped {
            self.report(port, &[dropped], sink);
        }
    }

    pub(super) fn report(&self, port: u32, drops: &[Dropped], sink: &mut dyn EventSink) {
        for &Dropped { at, cause, order, id, wire_bytes } in drops {
            if sink.wants() {
                sink.emit(at, self.source, Event::LinkDrop { port, order, packet: id, wire_bytes, cause });
            }
        }
    }

    /// The next packet whose delivery time has come, and the port at which it leaves: in the order
    /// of delivery times; at equal times those that leave at port 1 first, then in the order in
    /// which they entered.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(u32, Packet)> {
        let (at, start) = self.next_delivery()?;
        if at > now {
            return None;
        }
        let packet = self.directions[start].deliver()?;
        Some((1 - start as u32, packet))
    }

    /// When [`poll_transmit`](Self::poll_transmit) has something next; in the past if it has now.
    pub fn deadline(&self) -> Option<Instant> {
        self.next_delivery().map(|(at, _)| at)
    }

    fn next_delivery(&self) -> Option<(Instant, usize)> {
        let [first, second] = [0, 1].map(|start| self.directions[start].next_delivery());
        match (first, second) {
            (Some(at), Some(other)) if other < at => Some((other, 1)),
            (Some(at), _) => Some((at, 0)),
            (None, at) => at.map(|at| (at, 1)),
        }
    }

    /// Whether neither an outage nor a state of the channel that loses everything covers `now`.
    pub fn is_up(&self, now: Instant) -> bool {
        self.conditions.is_up(now)
    }

    /// What the link is really like, at any time, past or future.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Bytes that entered at `port` and wait or are in service at `now`, which should not be earlier
    /// than the previous call of [`handle`](Self::handle).
    pub fn queue_bytes(&self, port: u32, now: Instant) -> u64 {
        self.directions[port as usize].queue_bytes(now)
    }

    /// Packets that entered at `port` and will be delivered (or may be, if a forced outage ends early), but were
    /// not yet, copies not counted.
    pub fn packets_inside(&self, port: u32) -> usize {
        self.directions[port as usize].packets_inside()
    }

    /// What happened so far to the packets that entered at `port`, with the queue as at `now`.
    pub fn counters(&self, port: u32, now: Instant) -> Counters {
        self.directions[port as usize].counters(now)
    }
}
