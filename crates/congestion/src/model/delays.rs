//! Delays of a path: round trips, and how long packets wait in its queues on the way there.

use skyhaul_core::{Instant, MS, PathSample, SECOND};

use super::min_delay::MinDelayFilter;
use super::rates::rate_bps;

/// Time in which a path without a queue shows its shortest delay: windows of [`MinDelayFilter`] are at least
/// so long.
const BASE_WINDOW_NS: u64 = 10 * SECOND;
const BASE_WINDOW_RTTS: u64 = 20;
/// To empty a queue costs up to a packet's time: so many packets are sent in a window, ...
const BASE_WINDOW_PACKETS: u64 = 200;
/// ... up to this time, in which clocks drift by less than a packet.
const MAX_BASE_WINDOW_NS: u64 = 60 * SECOND;

/// Time for which a queue has to stand where each packet takes longer by chance, as one of those in that
/// time does not [RFC 8289 3.2].
const STANDS_NS: u64 = 100 * MS;
/// Factor of what the path carries from which on more arrived than any queue lets out: what was before it
/// took longer.
const UNEVEN: f64 = 1.125;
/// Round trips for which that counts.
const UNEVEN_RTTS: u64 = 16;
/// Marks that are remembered: as many as are asked for in that time, and more.
const MARKS: usize = 8;

/// Round trips and waiting of the last marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    min_delay: MinDelayFilter,
    /// Shortest and latest round trip.
    rtt_min_ns: u64,
    rtt_ns: u64,
    /// Departures of the last marks that stood behind no train, and the waiting of each in ns, the latest
    /// first.
    waits: [(Instant, u64); MARKS],
    /// Departure of the last mark up to which more arrived than the path carries.
    uneven_at: Option<Instant>,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            min_delay: MinDelayFilter::default(),
            rtt_min_ns: u64::MAX,
            rtt_ns: 0,
            waits: [(Instant::ZERO, 0); MARKS],
            uneven_at: None,
        }
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
            let waited_ns = self.min_delay.waited_ns(now, delay_ns, window_ns);
            self.waits.rotate_right(1);
            self.waits[0] = (sample.sent_at, waited_ns);
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

    /// Takes in what the path carries in all, in bit/s, beside the report that was taken in last.
    pub(super) fn carries(&mut self, sample: &PathSample, bps: f64) {
        let seen_bps = sample.long.map_or(0.0, |long| rate_bps(long.arrived_bytes, long.arrived_ns.max(1)));
        if seen_bps > UNEVEN * bps {
            self.uneven_at = Some(sample.sent_at);
        }
    }

    /// True if packets arrive more unevenly than a queue lets them.
    fn are_uneven(&self) -> bool {
        let span_ns = UNEVEN_RTTS.saturating_mul(self.rtt_min_ns);
        self.uneven_at.is_some_and(|at| self.waits[0].0.since(at) < span_ns)
    }

    /// Waiting of the last mark on the way there, in ns; where packets arrive unevenly that of all marks
    /// shortly before it, too: a queue stands, and chance does not.
    pub(super) fn waited_ns(&self) -> u64 {
        let (last_at, last_ns) = self.waits[0];
        if !self.are_uneven() {
            return last_ns;
        }
        let shortly_before = self.waits[1..].iter().take_while(|(at, _)| last_at.since(*at) < STANDS_NS);
        shortly_before.fold(last_ns, |least_ns, (_, waited_ns)| least_ns.min(*waited_ns))
    }

    /// Waiting of the last mark on the way there, in ns, whatever chance made of it.
    pub(super) fn last_waited_ns(&self) -> u64 {
        self.waits[0].1
    }

    /// That of the last two marks at least, however far apart they are.
    pub(crate) fn least_waited_ns(&self) -> u64 {
        self.waited_ns().min(self.waits[1].1)
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

    /// Begins anew with the delays of this mark, which waited for nothing: the path has become longer
    /// within a moment.
    pub(super) fn became_longer(&mut self, now: Instant, sample: &PathSample) {
        self.forget();
        self.rtt_min_ns = u64::MAX;
        self.saw(now, sample, 0.0);
    }

    /// Forgets all waiting: it may be another path now.
    pub(super) fn forget(&mut self) {
        self.min_delay.forget();
        (self.waits, self.uneven_at) = ([(Instant::ZERO, 0); MARKS], None);
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::Interval;

    use super::*;

    /// Report of a mark that left at this time and waited for so long, and of an interval of 50 ms before it
    /// that arrived in so many ms.
    fn sample(at_ms: u64, waited_ms: u64, arrived_ms: u64) -> PathSample {
        let bytes = 62_500; // 10 Mbit/s
        PathSample {
            sent_at: Instant::from_ns(at_ms * MS),
            arrived_ns: (at_ms + 50 + waited_ms) * MS,
            rtt_ns: (100 + waited_ms) * MS,
            long: Some(Interval {
                sent_ns: 50 * MS,
                sent_bytes: bytes,
                arrived_ns: arrived_ms * MS,
                arrived_bytes: bytes,
            }),
            train: None,
            behind_train: false,
            since_bytes: 0,
        }
    }

    /// Waiting in ms after marks 20 ms apart that waited for so long, of which the last arrived in so many.
    fn waited_ms(waits_ms: &[u64], arrived_ms: u64) -> u64 {
        let mut delays = Delays::default();
        for (number, waited_ms) in waits_ms.iter().enumerate() {
            let sample = sample(number as u64 * 20, *waited_ms, arrived_ms);
            delays.saw(Instant::from_ns(number as u64 * 20 * MS + 100 * MS), &sample, 1.2e6);
            delays.carries(&sample, 10e6);
        }
        delays.waited_ns() / MS
    }

    #[test]
    fn what_waits_is_what_the_last_mark_met_while_packets_arrive_as_a_queue_lets_them() {
        assert_eq!(waited_ms(&[0, 18, 2, 17], 50), 17);
        assert_eq!(waited_ms(&[0, 18, 2, 17], 45), 17, "an estimate may be low by a little");
    }

    #[test]
    fn what_waits_is_what_stands_where_more_arrives_than_the_path_carries() {
        assert_eq!(waited_ms(&[0, 18, 2, 17], 40), 0);
        assert_eq!(waited_ms(&[0, 9, 18, 12, 17, 11], 40), 9, "the first left 100 ms before the last");
        assert_eq!(waited_ms(&[0, 30, 31, 32, 33, 34, 35], 40), 31, "a queue that grows");
    }
}
