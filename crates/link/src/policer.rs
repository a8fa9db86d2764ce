//! Policer in front of a queue: a token bucket that drops what exceeds a rate and what was saved of it.

use skyhaul_core::Instant;

use crate::serializer::work_of;

/// Token bucket that drops [RFC 2697 3]: tokens of a byte each come in at a rate, a packet takes as many as
/// it has bytes on the wire, and one that does not find so many is dropped. In any time t at most
/// `rate * t + depth` passes, at whatever speed it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerConfig {
    /// Rate at which tokens come in, in bits per second; at least 1.
    pub rate_bps: u64,
    /// Most that the bucket holds, in bytes, and what it holds in the beginning; at least 1. A packet that is
    /// larger never passes.
    pub depth_bytes: u64,
}

/// Token bucket in exact integers: tokens are counted in units of 10^-9 bit, of which a rate of n bit/s
/// brings n in a nanosecond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policer {
    rate_bps: u64,
    depth: u128,
    tokens: u128,
    /// Time up to which tokens have come in.
    filled_at: Instant,
}

impl Policer {
    /// Full bucket.
    pub(crate) fn new(config: PolicerConfig) -> Self {
        let depth = work_of(config.depth_bytes);
        Self { rate_bps: config.rate_bps, depth, tokens: depth, filled_at: Instant::ZERO }
    }

    /// Takes the tokens of a packet that is there at `now`, which is not before the one in front of it.
    /// False: it finds too few, and takes none.
    pub(crate) fn passes(&mut self, now: Instant, wire_bytes: u32) -> bool {
        self.fill(now);
        let left = self.tokens.checked_sub(work_of(wire_bytes.into()));
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }

    /// Earliest time from `now` on at which so many bytes pass; the end of time if they never do.
    pub(crate) fn earliest(&self, now: Instant, wire_bytes: u32) -> Instant {
        let work = work_of(wire_bytes.into());
        if work > self.depth {
            return Instant::MAX;
        }
        let missing_ns = work.saturating_sub(self.tokens).div_ceil(u128::from(self.rate_bps.max(1)));
        now.max(self.filled_at.after(u64::try_from(missing_ns).unwrap_or(u64::MAX)))
    }

    fn fill(&mut self, now: Instant) {
        let new = u128::from(now.since(self.filled_at)) * u128::from(self.rate_bps);
        self.tokens = self.tokens.saturating_add(new).min(self.depth);
        self.filled_at = self.filled_at.max(now);
    }
}
