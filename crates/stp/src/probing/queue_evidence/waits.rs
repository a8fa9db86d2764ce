//! Waiting of POLLs: the longest and the shortest delay of late, and the length of the queue beside them.

use skyhaul_core::{Instant, MS, SECOND};

/// Time in which a path shows its longest and its shortest delay: over one such window at least, two at most.
const WINDOW_NS: u64 = 15 * SECOND;
const WINDOW_RTTS: u64 = 30;
/// Waiting that is no queue of anybody: three times the one that the path's controller aims at.
const NOISE_PART: u64 = 50;
const MIN_NOISE_NS: u64 = 2 * MS;
const MAX_NOISE_NS: u64 = 10 * MS;
const NOISE_PACKETS: u64 = 2;
/// A packet takes no more of a round trip: beside others our rate is lower than the path's.
const PACKET_PART: u64 = 100;
const NOISE_FACTOR: u64 = 3;
/// Factor of what is no queue of anybody by which the longest exceeds it, if the queue of others shows: they
/// fill and empty it between two POLLs.
const SHOWN_FACTOR: u64 = 4;
/// Part of what the queue is known to have held that is as good as empty, ...
const ROOMY_PART: u64 = 2;
/// ... with so many packets more: what is shorter holds too little to be told from a full one.
const ROOMY_PACKETS: u64 = 2;

/// Length of the queue, beside the longest of late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    Short,
    Middling,
    Long,
}

/// Shortest and longest delay of a window.
#[derive(Clone, Copy, Debug)]
struct Range {
    min_ns: i64,
    max_ns: i64,
}

impl Range {
    fn with(self, delay_ns: i64) -> Self {
        Self { min_ns: self.min_ns.min(delay_ns), max_ns: self.max_ns.max(delay_ns) }
    }

    /// The longest waiting.
    fn longest_ns(self) -> u64 {
        self.max_ns.saturating_sub(self.min_ns).unsigned_abs()
    }
}

/// Delays of answered POLLs, up to a constant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    since: Option<Instant>,
    previous: Option<Range>,
    current: Option<Range>,
    /// Longest delay of any POLL of late, of those behind a train, too: the queue has held that.
    deepest_ns: [Option<i64>; 2],
    rtt_min_ns: u64,
    noise_ns: u64,
    /// Time of a packet at the highest of our rates; 0: not known yet.
    packet_ns: u64,
}

impl Waits {
    /// Takes the delay of an answered POLL. `packet_ns`: time of a packet at our rate.
    pub(super) fn answered(&mut self, now: Instant, delay_ns: i64, rtt_min_ns: u64, packet_ns: u64) {
        self.rtt_min_ns = rtt_min_ns;
        let packet_ns = packet_ns.min(rtt_min_ns / PACKET_PART);
        self.packet_ns = if self.packet_ns == 0 { packet_ns } else { self.packet_ns.min(packet_ns) };
        let part_ns = (rtt_min_ns / NOISE_PART).clamp(MIN_NOISE_NS, MAX_NOISE_NS);
        self.noise_ns = NOISE_FACTOR.saturating_mul(part_ns.saturating_add(NOISE_PACKETS * self.packet_ns));
        self.turn_window(now);
        let here = Range { min_ns: delay_ns, max_ns: delay_ns };
        self.current = Some(self.current.map_or(here, |range| range.with(delay_ns)));
    }

    /// Takes the delay of any answered POLL, one behind a train, too.
    pub(super) fn held(&mut self, delay_ns: i64) {
        self.deepest_ns[0] = self.deepest_ns[0].max(Some(delay_ns));
    }

    /// Time in ns for which what was seen counts, at least.
    pub(super) fn window_ns(&self) -> u64 {
        WINDOW_NS.max(WINDOW_RTTS.saturating_mul(self.rtt_min_ns))
    }

    fn turn_window(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= self.window_ns() {
            self.previous = self.current.take();
            self.deepest_ns = [None, self.deepest_ns[0]];
            self.since = Some(now);
        }
    }

    fn range(&self) -> Option<Range> {
        match (self.previous, self.current) {
            (Some(a), Some(b)) => Some(a.with(b.min_ns).with(b.max_ns)),
            (a, b) => a.or(b),
        }
    }

    /// Length of the queue that a POLL of this delay met.
    pub(super) fn queue(&self, delay_ns: i64) -> Queue {
        let Some(range) = self.range() else { return Queue::Short };
        let waited_ns = delay_ns.saturating_sub(range.min_ns).unsigned_abs();
        let longest_ns = range.longest_ns();
        if waited_ns <= self.noise_ns || waited_ns < longest_ns / 2 {
            Queue::Short
        } else if waited_ns >= longest_ns / 4 * 3 {
            Queue::Long
        } else {
            Queue::Middling
        }
    }

    /// True if round trips are no longer than what is taken for no queue.
    pub(super) fn are_short(&self) -> bool {
        self.rtt_min_ns <= NOISE_FACTOR * MIN_NOISE_NS
    }

    /// True if a queue that empties in this time is too short to show.
    pub(super) fn hide(&self, queue_ns: u64) -> bool {
        queue_ns <= self.noise_ns
    }

    /// True if the longest waiting was plainly somebody's queue.
    pub(super) fn show_queue(&self) -> bool {
        self.range().is_some_and(|range| range.longest_ns() > SHOWN_FACTOR * self.noise_ns)
    }

    /// True if the queue is known to have held more than twice what waits at this delay; also where nobody
    /// looks for what it holds, as under a declared rate.
    pub(super) fn are_roomy(&self, delay_ns: i64) -> bool {
        let deepest_ns = self.deepest_ns.into_iter().flatten().max();
        let Some((range, deepest_ns)) = self.range().zip(deepest_ns) else { return true };
        let waits_ns = |delay_ns: i64| delay_ns.saturating_sub(range.min_ns).max(0).unsigned_abs();
        (waits_ns(delay_ns) + ROOMY_PACKETS * self.packet_ns) * ROOMY_PART <= waits_ns(deepest_ns)
    }
}
