//! What lies behind the queue of one direction: serialisation, outages and chance. Needs no packet,
//! only its size, so that links and the capacity computation run the same code.

use skyhaul_core::Instant;
use skyhaul_core::event::DropCause;

use crate::chance::Chance;
use crate::impairments::Impairments;
use crate::outages::is_down_during;
use crate::serializer::{Serializer, Slot};
use crate::{DirectionConfig, LinkConfig, Outage};

/// How a packet fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Lost at the end of its serialisation.
    Lost(DropCause),
    /// Hit by bit errors and not lost otherwise.
    Hit {
        /// Beyond the direction's delay.
        extra_delay_ns: u64,
    },
    /// Arrives as it was sent.
    Intact {
        /// Beyond the direction's delay.
        extra_delay_ns: u64,
    },
}

/// Serialisation, outages and chance of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    serializer: Serializer,
    impairments: Impairments,
}

impl Channel {
    /// The channel that starts at `port` of a link with a valid configuration.
    pub(crate) fn new(config: &LinkConfig, port: u32, seed: u64) -> Self {
        let direction: &DirectionConfig = config.direction(port);
        let name = config.direction_name(port);
        Self {
            serializer: Serializer::new(direction.rate_bps),
            impairments: Impairments::new(direction, seed, &name),
        }
    }

    /// Sends a packet that is there at `now`, after all those before it.
    pub(crate) fn send(&mut self, now: Instant, wire_bytes: u32, outages: &[Outage]) -> (Slot, Fate) {
        let slot = self.serializer.serve(now, wire_bytes);
        // Drawn in any case: an outage must not shift the draws of the packets after it.
        let drawn = self.impairments.draw(wire_bytes);
        let extra_delay_ns = drawn.extra_delay_ns;
        let fate = match drawn {
            _ if is_down_during(outages, slot.start, slot.end) => Fate::Lost(DropCause::Outage),
            drawn if drawn.lost => Fate::Lost(DropCause::RandomLoss),
            drawn if drawn.hit => Fate::Hit { extra_delay_ns },
            _ => Fate::Intact { extra_delay_ns },
        };
        (slot, fate)
    }

    /// The chance that a packet of so many bytes is hit by a bit error.
    pub(crate) fn bit_error_chance(&self, wire_bytes: u32) -> Chance {
        self.impairments.bit_error_chance(wire_bytes)
    }
}
