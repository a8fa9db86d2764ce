//! What lies behind the queue of one direction: serialisation, outages, the channel and chance.
//! Needs no packet, only its size, so that links and the capacity computation run the same code.

use skyhaul_core::Instant;
use skyhaul_core::event::DropCause;

use crate::chance::Chance;
use crate::channel::{Channel, Passage};
use crate::impairments::Impairments;
use crate::outages::is_down_during;
use crate::serializer::{Serializer, Slot};
use crate::{Damage, DirectionConfig, LinkConfig, Order, Outage};

/// How a packet fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Lost at the end of its serialisation.
    Lost(DropCause),
    /// Delivered then.
    Arrives(Instant, Journey),
}

/// What chance does to a packet that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Journey {
    /// With bits changed.
    pub(crate) damaged: bool,
    /// Later than its turn.
    pub(crate) late: bool,
    /// And a copy right behind it.
    pub(crate) twice: bool,
}

/// Serialisation, outages, channel, chance and propagation of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    serializer: Serializer,
    impairments: Impairments,
    channel: Option<Channel>,
    damage: Damage,
    delay_ns: u64,
    /// Of a packet that is late, on top.
    extra_delay_ns: u64,
    order: Order,
    /// The latest time that a packet was to be delivered, not counting the extra delay of those
    /// picked to be overtaken.
    latest: Instant,
}

impl Wire {
    /// The wire that starts at `port` of a link with a valid configuration.
    pub(crate) fn new(config: &LinkConfig, port: u32, seed: u64) -> Self {
        let direction: &DirectionConfig = config.direction(port);
        let name = config.direction_name(port);
        Self {
            serializer: Serializer::new(direction.rate_bps),
            impairments: Impairments::new(direction, seed, &name),
            channel: Channel::new(config, port, seed),
            damage: direction.damage,
            delay_ns: direction.delay_ns,
            extra_delay_ns: direction.reordering.extra_delay_ns,
            order: direction.order,
            latest: Instant::ZERO,
        }
    }

    /// Sends a packet that is there at `now`, after all those before it. `has_bytes`: it has bytes
    /// of its own, which can be damaged.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        wire_bytes: u32,
        has_bytes: bool,
        outages: &[Outage],
    ) -> (Slot, Fate) {
        let slot = self.serializer.serve(now, wire_bytes);
        // Drawn in any case: an outage must not shift the draws of the packets after it.
        let drawn = self.impairments.draw(wire_bytes);
        let passage = self.pass_channel(slot.end);
        let fate = if is_down_during(outages, slot.start, slot.end) {
            Fate::Lost(DropCause::Outage)
        } else if let Some(cause) = passage.lost {
            Fate::Lost(cause)
        } else if drawn.lost {
            Fate::Lost(DropCause::RandomLoss)
        } else if drawn.hit && !(has_bytes && self.damage == Damage::Deliver) {
            Fate::Lost(DropCause::BitError)
        } else {
            let journey = Journey { damaged: drawn.hit, late: drawn.late, twice: drawn.twice };
            Fate::Arrives(self.arrival(slot.end, passage.delay_ns, journey.late), journey)
        };
        (slot, fate)
    }

    fn pass_channel(&mut self, sent: Instant) -> Passage {
        const FREE: Passage = Passage { lost: None, delay_ns: 0 };
        self.channel.as_mut().map_or(FREE, |channel| channel.pass(sent))
    }

    /// When a packet is delivered.
    fn arrival(&mut self, sent: Instant, channel_delay_ns: u64, late: bool) -> Instant {
        let mut arrival = sent.after(self.delay_ns).after(channel_delay_ns);
        if self.order == Order::Preserve {
            self.latest = self.latest.max(arrival);
            arrival = self.latest;
        }
        if late { arrival.after(self.extra_delay_ns) } else { arrival }
    }

    /// No packet whose serialisation ends at `sent` or later is delivered before this.
    pub(crate) fn earliest_arrival(&self, sent: Instant) -> Instant {
        let channel_delay_ns = self.channel.as_ref().map_or(0, Channel::min_delay_ns);
        sent.after(self.delay_ns).after(channel_delay_ns)
    }

    /// The chance that a packet of so many bytes is hit by a bit error.
    pub(crate) fn bit_error_chance(&self, wire_bytes: u32) -> Chance {
        self.impairments.bit_error_chance(wire_bytes)
    }
}
