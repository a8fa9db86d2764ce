//! Packets that are overtaken: what a report called missing and came later was not lost. While that goes on,
//! missing packets are waited for (`docs/spec/stp.md`, 6.3), as RACK does for TCP [RFC 8985 6.2].

use skyhaul_core::Instant;

/// Part of the shortest round trip by which the wait grows, in each round trip that shows it to be too short.
const STEP_PART: u64 = 4;
/// Round trips after the last overtaken packet for which others are waited for.
const KEPT_RTTS: u64 = 16;

/// Time for which missing packets are waited for, and what it goes by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reordering {
    /// Longest time by which a packet was late.
    late_ns: u64,
    /// Steps that the wait has grown by, and when it did last.
    steps: u64,
    grown_at: Instant,
    /// When a packet last came late.
    seen_at: Instant,
    window_ns: u64,
}

impl Reordering {
    /// Time from a packet's leaving to that of the POLL which finds it missing, below which it is waited for,
    /// in ns; 0: no packet has been late of late.
    pub(super) fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// Takes in that packets went again which came all the same, up to so late.
    pub(super) fn saw_late(&mut self, now: Instant, late_ns: u64, rtt_min_ns: u64, rtt_ns: u64) {
        self.seen_at = now;
        self.late_ns = self.late_ns.max(late_ns);
        // Those of one round trip left before the wait had grown.
        if self.steps == 0 || now.since(self.grown_at) > rtt_ns {
            (self.steps, self.grown_at) = (self.steps + 1, now);
        }
        let grown_ns = (rtt_min_ns / STEP_PART).saturating_mul(self.steps);
        self.window_ns = self.late_ns.min(grown_ns).min(rtt_ns);
    }

    /// Takes in that a packet came that was waited for.
    pub(super) fn goes_on(&mut self, now: Instant) {
        self.seen_at = now;
    }

    /// Forgets all of it when nothing has been late for long.
    pub(super) fn expire(&mut self, now: Instant, rtt_ns: u64) {
        if self.steps > 0 && now.since(self.seen_at) > KEPT_RTTS.saturating_mul(rtt_ns) {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::MS;

    use super::*;

    #[test]
    fn the_wait_grows_as_far_as_packets_are_late_and_ends_when_they_are_no_more() {
        let mut reordering = Reordering::default();
        let at = |ms: u64| Instant::from_ns(ms * MS);
        let mut late = |at_ms, late_ms: u64| {
            reordering.saw_late(at(at_ms), late_ms * MS, 100 * MS, 120 * MS);
            reordering.window_ns() / MS
        };
        assert_eq!([late(0, 15), late(10, 40), late(50, 90), late(200, 30)], [15, 25, 25, 50]);
        assert_eq!([late(400, 30), late(600, 300), late(800, 300), late(1000, 0)], [75, 100, 120, 120]);
        reordering.goes_on(at(2000));
        reordering.expire(at(3900), 120 * MS);
        assert_eq!(reordering.window_ns(), 120 * MS);
        reordering.expire(at(4000), 120 * MS);
        assert_eq!(reordering.window_ns(), 0);
    }
}
