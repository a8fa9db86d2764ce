//! Serialisation of packets one after the other, at an exact rate.

use skyhaul_core::{Instant, SECOND};

use crate::timeline::{Timeline, Walk};

/// Time in which a packet is serialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServiceInterval {
    /// First bit.
    pub(crate) start: Instant,
    /// Last bit; the next packet may start.
    pub(crate) end: Instant,
}

/// A server that works at the rate of a timeline in exact integers. Work is counted in units of 10^-9 bit: a
/// rate of n bit/s does n of them in a nanosecond.
#[derive(Clone, Debug)]
pub(crate) struct Serializer {
    rates: Walk,
    free_at: Instant,
    /// Work that is left at `free_at`, less than a nanosecond takes. Packets that follow each
    /// other without a gap therefore never drift; it is forgotten when the server idles.
    remainder: u64,
}

/// The work that so many bytes are.
pub(crate) fn work_of(bytes: u64) -> u128 {
    u128::from(bytes) * u128::from(8 * SECOND)
}

impl Serializer {
    pub(crate) fn new(timeline: &Timeline) -> Self {
        let free_at = Instant::ZERO;
        Self { rates: Walk::new(timeline, free_at), free_at, remainder: 0 }
    }

    /// Serves a packet that is there at `now`, after all those before it.
    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Instant, wire_bytes: u32) -> ServiceInterval {
        if now > self.free_at {
            self.remainder = 0;
        }
        let start = now.max(self.free_at);
        self.rates.reach(start);
        let end = self.spend(start, wire_bytes);
        self.free_at = end;
        ServiceInterval { start, end }
    }

    /// End of so many bytes that begin at `start`.
    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    fn spend(&mut self, start: Instant, wire_bytes: u32) -> Instant {
        let Some(rate_bps) = self.rates.step().rate_bps else { return self.work_off(start, 0) };
        let work = u64::from(wire_bytes).checked_mul(8 * SECOND).and_then(|w| w.checked_add(self.remainder));
        if let Some(work) = work {
            let end = start.after(work / rate_bps);
            if end < self.rates.end() {
                self.remainder = work % rate_bps;
                return end;
            }
        }
        // More than 2 GB in one piece, or across a change of the rate.
        self.work_off(start, work_of(wire_bytes.into()) + u128::from(self.remainder))
    }

    /// End of so much work that begins at `at`.
    #[inline(never)]
    fn work_off(&mut self, mut at: Instant, mut work: u128) -> Instant {
        while let Some(rate_bps) = self.rates.reach(at).rate_bps.map(u128::from) {
            let end = self.rates.end();
            let possible = u128::from(end.since(at)) * rate_bps;
            if work < possible || end == Instant::MAX {
                self.remainder = (work % rate_bps) as u64; // below the rate
                return at.after(u64::try_from(work / rate_bps).unwrap_or(u64::MAX));
            }
            work -= possible;
            at = end;
        }
        self.remainder = 0;
        at
    }

    /// From `now` on the rates are those of `timeline`, and the server is as good as free. Gives back the
    /// work that it had taken on and that was not done by then.
    pub(crate) fn interrupt(&mut self, now: Instant, timeline: &Timeline) -> u128 {
        let is_busy = self.free_at >= now;
        let left = self.rates.timeline().work(now, self.free_at.max(now));
        let left = if is_busy { left.saturating_add(self.remainder.into()) } else { 0 };
        *self = Self { rates: Walk::new(timeline, now), free_at: now, remainder: 0 };
        left
    }

    /// End of so much work, with which the server goes on after an interruption.
    pub(crate) fn go_on(&mut self, work: u128) -> Instant {
        self.free_at = self.work_off(self.free_at, work.saturating_add(self.remainder.into()));
        self.free_at
    }
}
