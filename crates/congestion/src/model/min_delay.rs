//! Waiting of packets in queues: their one-way delay, by two clocks that do not agree, over the shortest of
//! late.

use skyhaul_core::Instant;

/// The base rises by at most this part of the time that goes by: what rises faster is a queue that stands for
/// longer than a window, unless it is found that it never changes.
const MAX_RISE_PART: u64 = 500;

/// Base of the delays, above which packets wait: it falls at once to the shortest of this window and the one
/// before, and rises towards that by [`MAX_RISE_PART`]. Two clocks drift apart by less than a ten-thousandth,
/// so what a window of ten seconds adds is below a millisecond.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinDelayFilter {
    /// Shortest of the window before, and of this one, in ns; offset by the difference of the clocks.
    previous_ns: Option<i64>,
    current_ns: Option<i64>,
    since: Option<Instant>,
    /// Delay above which packets wait, and when that was looked at.
    base: Option<(Instant, i64)>,
}

impl MinDelayFilter {
    /// Waiting of a packet with this delay, in ns.
    pub(super) fn waited_ns(&mut self, now: Instant, delay_ns: i64, window_ns: u64) -> u64 {
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= window_ns {
            self.previous_ns = self.current_ns.take();
            self.since = Some(now);
        }
        let current_ns = self.current_ns.map_or(delay_ns, |shortest| shortest.min(delay_ns));
        self.current_ns = Some(current_ns);
        let shortest_ns = self.previous_ns.map_or(current_ns, |shortest| shortest.min(current_ns));
        let rises_to_ns =
            |(at, base_ns): (Instant, i64)| base_ns.saturating_add((now.since(at) / MAX_RISE_PART) as i64);
        let base_ns = self.base.map_or(shortest_ns, |base| rises_to_ns(base).min(shortest_ns));
        self.base = Some((now, base_ns));
        delay_ns.saturating_sub(base_ns).unsigned_abs()
    }

    /// Forgets the delays: the path is another one.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::{MS, SECOND};

    #[test]
    fn what_is_longer_than_the_shortest_of_late_was_waiting() {
        let mut base = MinDelayFilter::default();
        let mut at = |seconds: u64, delay_ms: i64| {
            let now = Instant::from_ns(seconds * SECOND);
            base.waited_ns(now, delay_ms * MS as i64 - 77 * SECOND as i64, 10 * SECOND) / MS
        };
        assert_eq!([at(0, 275), at(1, 300), at(2, 270), at(3, 300)], [0, 25, 0, 30]);
        assert_eq!(at(12, 300), 30, "the window before counts");
        assert_eq!([at(34, 370), at(45, 370)], [70, 48], "what stays rises by 2 ms a second");
    }
}
