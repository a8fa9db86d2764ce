//! The random part of one direction.

use alloc::format;

use skyhaul_core::Stream;

use crate::burst::Burst;
use crate::chance::{BitErrors, Chance};
use crate::{DirectionConfig, Reordering};

/// What chance does to one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Impairment {
    /// Lost, whatever else.
    pub(crate) lost: bool,
    /// Hit by a bit error.
    pub(crate) hit: bool,
    /// Arrives later than its turn by so much.
    pub(crate) extra_delay_ns: u64,
}

/// The random streams of one direction. Each packet takes exactly one draw (for bursts two) of every
/// stream that is in use, so the n-th packet meets the n-th draw, whatever its length and whatever
/// became of the packets before it. (A stream is not in use if its probability is zero for every packet.)
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    loss: Chance,
    burst: Burst,
    bit_errors: BitErrors,
    reorder: Chance,
    extra_delay_ns: u64,
    loss_stream: Stream,
    bits_stream: Stream,
    reorder_stream: Stream,
}

impl Impairments {
    pub(crate) fn new(config: &DirectionConfig, seed: u64, direction_name: &str) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("{direction_name}/{what}"));
        let Reordering { probability, extra_delay_ns } = config.reordering;
        Self {
            loss: Chance::new(config.loss),
            burst: Burst::new(config.burst_loss, stream("burst")),
            bit_errors: BitErrors::new(config.bit_error_rate),
            reorder: Chance::new(probability),
            extra_delay_ns,
            loss_stream: stream("loss"),
            bits_stream: stream("bits"),
            reorder_stream: stream("reorder"),
        }
    }

    /// Draws for the next packet.
    pub(crate) fn draw(&mut self, wire_bytes: u32) -> Impairment {
        let picked = self.reorder != Chance::NEVER && self.reorder.hit(self.reorder_stream.next_u64());
        let burst = self.burst.draw();
        let single = self.loss != Chance::NEVER && self.loss.hit(self.loss_stream.next_u64());
        Impairment {
            lost: single || burst,
            hit: self.draw_bit_error(wire_bytes),
            extra_delay_ns: if picked { self.extra_delay_ns } else { 0 },
        }
    }

    /// The chance that a packet of so many bytes is hit by a bit error.
    pub(crate) fn bit_error_chance(&self, wire_bytes: u32) -> Chance {
        self.bit_errors.chance(wire_bytes)
    }

    fn draw_bit_error(&mut self, wire_bytes: u32) -> bool {
        !self.bit_errors.is_never() && self.bit_errors.chance(wire_bytes).hit(self.bits_stream.next_u64())
    }
}
