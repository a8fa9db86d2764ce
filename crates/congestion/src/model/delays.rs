//! Delays of a path: round trips, and how long packets wait in its queues on the way there.

use skyhaul_core::{Instant, PathSample, SECOND};

use super::min_delay::MinDelayFilter;

/// Time in which a path without a queue shows its shortest delay: windows of [`MinDelayFilter`] are at least
/// so long.
const BASE_WINDOW_NS: u64 = 10 * SECOND;
const BASE_WINDOW_RTTS: u64 = 20;
/// To empty a queue costs up to a packet's time: so many packets are sent in a window, ...
const BASE_WINDOW_PACKETS: u64 = 200;
/// ... up to this time, in which clocks drift by less than a packet.
const MAX_BASE_WINDOW_NS: u64 = 60 * SECOND;

/// Round trips and waiting of the last marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    min_delay: MinDelayFilter,
    /// Shortest and latest round trip.
    rtt_min_ns: u64,
    rtt_ns: u64,
    /// Waiting of the last two marks that stood behind no train, the latest first.
    waits_ns: [u64; 2],
}

impl Default for Delays {
    fn default() -> Self {
        Self { min_delay: MinDelayFilter::default(), rtt_min_ns: u64::MAX, rtt_ns: 0, waits_ns: [0; 2] }
    }
}

impl Delays {
    /// Takes in the delays of a report. `packet_ns`: time of a packet at the rate that the path carries.
    pub(crate) fn saw(&mut self, now: Instant, sample: &PathSample, packet_ns: f64) {
        self.rtt_min_ns = self.rtt_min_ns.min(sample.rtt_ns).max(1);
        self.rtt_ns = sample.rtt_ns;
        if !sample.behind_train {
            let delay_ns = (sample.arrived_ns as i64).wrapping_sub(sample.sent_at.as_ns() as i64);
            let window_ns = self.window_ns(packet_ns);
            self.waits_ns = [self.min_delay.waited_ns(now, delay_ns, window_ns), self.waits_ns[0]];
        }
    }

    /// Shortest round trip in ns; [`u64::MAX`] before the first.
    pub(super) fn rtt_min_ns(&self) -> u64 {
        self.rtt_min_ns
    }

    /// Latest round trip in ns, or the shortest, if that is longer.
    pub(super) fn rtt_ns(&self) -> u64 {
        self.rtt_ns.max(self.rtt_min_ns)
    }

    /// Waiting of the last mark on the way there, in ns.
    pub(super) fn waited_ns(&self) -> u64 {
        self.waits_ns[0]
    }

    /// Waiting that the last two marks have met, both of them, in ns.
    pub(crate) fn least_waited_ns(&self) -> u64 {
        self.waits_ns[0].min(self.waits_ns[1])
    }

    /// Time in ns in which the path shows its shortest delay once.
    pub(super) fn window_ns(&self, packet_ns: f64) -> u64 {
        let packets_ns = ((BASE_WINDOW_PACKETS as f64 * packet_ns) as u64).min(MAX_BASE_WINDOW_NS);
        BASE_WINDOW_NS.max(packets_ns).max(BASE_WINDOW_RTTS.saturating_mul(self.rtt_min_ns))
    }

    /// Forgets the shortest delay: the path has become longer.
    pub(super) fn forget_shortest(&mut self) {
        self.min_delay.forget();
    }

    /// Forgets all waiting: it may be another path now.
    pub(super) fn forget(&mut self) {
        self.min_delay.forget();
        self.waits_ns = [0; 2];
    }
}
