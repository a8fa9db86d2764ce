//! The random part of one direction.

use alloc::boxed::Box;
use alloc::format;

use skyhaul_core::Stream;

use crate::DirectionConfig;
use crate::burst::GilbertElliott;
use crate::chance::{BitErrors, Chance};
use crate::fragments::Pieces;

/// Random effects on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Impairment {
    /// Lost, whatever else.
    pub(crate) lost: bool,
    /// Hit by a bit error.
    pub(crate) hit: bool,
    /// Arrives later than its turn.
    pub(crate) late: bool,
    /// Arrives twice, if it does.
    pub(crate) twice: bool,
    /// Time for which it is longer on its way.
    pub(crate) jitter_ns: u64,
}

impl Impairment {
    const NONE: Self = Self { lost: false, hit: false, late: false, twice: false, jitter_ns: 0 };
}

/// The random streams of one direction. Each packet takes exactly one draw (for bursts two) of every
/// stream that is in use, so the n-th packet meets the n-th draw, whatever its length and whatever
/// became of the packets before it. (A stream is not in use if its probability is zero for every packet.)
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    /// True if no stream is in use: nothing ever happens to a packet.
    is_clear: bool,
    loss: Chance,
    reorder: Chance,
    duplicate: Chance,
    /// Most of a packet's jitter.
    jitter_ns: u64,
    /// What is large, and not looked at while nothing ever happens.
    large: Box<Large>,
}

#[derive(Clone, Debug)]
struct Large {
    burst: GilbertElliott,
    bit_errors: BitErrors,
    loss_stream: Stream,
    bits_stream: Stream,
    reorder_stream: Stream,
    duplicate_stream: Stream,
    jitter_stream: Stream,
}

impl Impairments {
    pub(crate) fn new(config: &DirectionConfig, seed: u64, direction_name: &str) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("{direction_name}/{what}"));
        let impairments = Self {
            is_clear: false,
            loss: Chance::new(config.loss),
            reorder: Chance::new(config.reordering.probability),
            duplicate: Chance::new(config.duplication),
            jitter_ns: config.jitter_ns,
            large: Box::new(Large {
                burst: GilbertElliott::new(config.burst_loss, stream("burst")),
                bit_errors: BitErrors::new(config.bit_error_rate),
                loss_stream: stream("loss"),
                bits_stream: stream("bits"),
                reorder_stream: stream("reorder"),
                duplicate_stream: stream("duplicate"),
                jitter_stream: stream("jitter"),
            }),
        };
        Self { is_clear: impairments.uses_none(), ..impairments }
    }

    fn uses_none(&self) -> bool {
        let chances = [self.loss, self.reorder, self.duplicate];
        chances == [Chance::NEVER; 3]
            && self.large.burst.is_never()
            && self.large.bit_errors.is_never()
            && self.jitter_ns == 0
    }

    /// For packets that are drawn for from now on.
    pub(crate) fn set_loss(&mut self, probability: f64) {
        self.loss = Chance::new(probability);
        self.is_clear = self.uses_none();
    }

    /// True if no stream is in use: nothing ever happens to a packet.
    pub(crate) fn are_none(&self) -> bool {
        self.is_clear
    }

    /// Draws for the pieces of the next packet, and what they come to for the packet: it is lost, hit or late
    /// if any piece is, as long on its way as the slowest, and comes twice if all do.
    #[inline]
    pub(crate) fn draw_pieces(&mut self, pieces: Pieces) -> Impairment {
        if self.is_clear {
            return Impairment::NONE;
        }
        let first = self.draw(pieces.piece_bytes);
        if pieces.count == 1 { first } else { self.draw_others(first, pieces) }
    }

    #[cold]
    fn draw_others(&mut self, first: Impairment, pieces: Pieces) -> Impairment {
        pieces.each().skip(1).fold(first, |all, piece_bytes| {
            let drawn = self.draw(piece_bytes);
            Impairment {
                lost: all.lost || drawn.lost,
                hit: all.hit || drawn.hit,
                late: all.late || drawn.late,
                twice: all.twice && drawn.twice,
                jitter_ns: all.jitter_ns.max(drawn.jitter_ns),
            }
        })
    }

    /// Draws for the next packet.
    pub(crate) fn draw(&mut self, wire_bytes: u32) -> Impairment {
        let burst = self.large.burst.draw();
        let single = draw(self.loss, &mut self.large.loss_stream);
        Impairment {
            lost: single || burst,
            hit: self.draw_bit_error(wire_bytes),
            late: draw(self.reorder, &mut self.large.reorder_stream),
            twice: draw(self.duplicate, &mut self.large.duplicate_stream),
            jitter_ns: self.draw_jitter_ns(),
        }
    }

    /// Draws for how much longer a packet is on its way; anew if a change of a running link sends it anew.
    pub(crate) fn draw_jitter_ns(&mut self) -> u64 {
        if self.jitter_ns == 0 { 0 } else { self.large.jitter_stream.below(self.jitter_ns.saturating_add(1)) }
    }

    /// The chance that a packet of so many bytes is hit by a bit error.
    pub(crate) fn bit_error_chance(&self, wire_bytes: u32) -> Chance {
        self.large.bit_errors.chance(wire_bytes)
    }

    fn draw_bit_error(&mut self, wire_bytes: u32) -> bool {
        !self.large.bit_errors.is_never()
            && self.large.bit_errors.chance(wire_bytes).hit(self.large.bits_stream.next_u64())
    }
}

/// A draw, unless it can have no effect.
fn draw(chance: Chance, stream: &mut Stream) -> bool {
    chance != Chance::NEVER && chance.hit(stream.next_u64())
}
