//! Choices by a seeded stream.

use skyhaul_core::Stream;

/// Rolls for one part of a run.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Stream);

impl Dice {
    /// The dice called `name` of the run with this `seed`.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Self(Stream::new(seed, name))
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// True in so many of a million cases.
    pub(crate) fn ppm(&mut self, ppm: u64) -> bool {
        self.below(1_000_000) < ppm
    }

    /// A number of [low, high], small ones as likely as large ones: every doubling has the same chance.
    pub(crate) fn scale(&mut self, low: u64, high: u64) -> u64 {
        let doublings = u64::from((high / low.max(1)).max(1).ilog2()) + 1;
        let base = low.max(1) << self.below(doublings);
        (base + self.below(base)).clamp(low, high)
    }

    /// One of the values.
    pub(crate) fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize].clone()
    }
}
