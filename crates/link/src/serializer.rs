//! Putting packets on the wire one after the other, at an exact rate.

use skyhaul_core::{Instant, SECOND};

/// When a packet was on its way onto the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// First bit.
    pub(crate) start: Instant,
    /// Last bit; the next packet may start.
    pub(crate) end: Instant,
}

/// A server that works at a rate in exact integers.
#[derive(Clone, Debug)]
pub(crate) struct Serializer {
    rate_bps: Option<u64>,
    free_at: Instant,
    /// Part of a nanosecond not yet spent, in units of 1/`rate_bps` ns. Packets that follow each
    /// other without a gap therefore never drift; it is forgotten when the server idles.
    remainder: u64,
}

impl Serializer {
    pub(crate) fn new(rate_bps: Option<u64>) -> Self {
        Self { rate_bps, free_at: Instant::ZERO, remainder: 0 }
    }

    /// Serves a packet that is there at `now`, after all those before it.
    pub(crate) fn serve(&mut self, now: Instant, wire_bytes: u32) -> Slot {
        if now > self.free_at {
            self.remainder = 0;
        }
        let start = now.max(self.free_at);
        let end = start.after(self.spend_ns(wire_bytes));
        self.free_at = end;
        Slot { start, end }
    }

    fn spend_ns(&mut self, wire_bytes: u32) -> u64 {
        let Some(rate_bps) = self.rate_bps else { return 0 };
        let cost = u64::from(wire_bytes).checked_mul(8 * SECOND).and_then(|c| c.checked_add(self.remainder));
        if let Some(cost) = cost {
            self.remainder = cost % rate_bps;
            return cost / rate_bps;
        }
        // More than 2 GB in one piece.
        let rate = u128::from(rate_bps);
        let cost = u128::from(wire_bytes) * 8 * u128::from(SECOND) + u128::from(self.remainder);
        self.remainder = (cost % rate) as u64;
        u64::try_from(cost / rate).unwrap_or(u64::MAX)
    }
}
