//! Retransmission timeout [RFC 6298].

use skyhaul_core::{Instant, RttEstimator};

use crate::accelerated::RoundTrip;
use crate::ack_policy::AckPolicy;
use crate::config::Config;

/// Round trips and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct Rto {
    rtt: RttEstimator,
    granularity_ns: u64,
    initial_ns: u64,
    min_ns: u64,
    margin_ns: u64,
    /// Way in which the peer acknowledges, where that is rarely.
    acks: AckPolicy,
    /// The margin holds over the last round trip, too.
    follows: bool,
    /// The last round trip known, be it a sample or not.
    last_ns: u64,
    max_ns: u64,
    doublings: u32,
}

/// After a lost SYN the timeout for data begins here at least [RFC 6298 5.7].
const AFTER_LOST_SYN_NS: u64 = 3 * skyhaul_core::SECOND;

impl Rto {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rtt: RttEstimator::new(config.initial_rto_ns),
            granularity_ns: config.timer_granularity_ns,
            initial_ns: config.initial_rto_ns,
            min_ns: config.min_rto_ns,
            margin_ns: config.rto_margin_ns.max(config.timer_granularity_ns),
            acks: AckPolicy::Immediate,
            follows: config.rto_margin_ns > 0,
            last_ns: 0,
            max_ns: config.max_rto_ns.max(config.min_rto_ns),
            doublings: 0,
        }
    }

    /// The peer acknowledges in this way. The timer starts with an acknowledgement, and the round trip that
    /// is measured begins with the next segment: it tells nothing of how long the next one may wait.
    pub(super) fn expect_acks(&mut self, policy: AckPolicy) {
        self.acks = policy;
    }

    /// Time that passes between acknowledgements of a stream of data at most.
    pub(super) fn ack_wait_ns(&self) -> u64 {
        self.acks.longest_wait_ns(self.rtt.smoothed_ns())
    }

    pub(super) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Takes the round trip of earlier connections for the first timeout [RFC 1644 4.3].
    pub(super) fn assume(&mut self, known: RoundTrip) {
        let margin_ns = known.variance_ns.saturating_mul(4).max(self.margin_ns);
        self.initial_ns = known.smoothed_ns.saturating_add(margin_ns);
    }

    /// Takes a round trip, as the clock can tell it. Its backoff ends [RFC 6298 5.7].
    pub(super) fn sample(&mut self, rtt_ns: u64) {
        self.rtt.sample(self.in_ticks(rtt_ns));
        self.doublings = 0;
        self.glimpse(rtt_ns);
    }

    /// Takes a round trip that is no sample, since there was one in this round already.
    pub(super) fn glimpse(&mut self, rtt_ns: u64) {
        self.last_ns = self.in_ticks(rtt_ns);
    }

    /// The timer ran out: twice as long next time [RFC 6298 5.5].
    pub(super) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(20);
    }

    pub(super) fn is_backed_off(&self) -> bool {
        self.doublings > 0
    }

    /// The handshake is done, and its SYN was lost.
    pub(super) fn syn_was_lost(&mut self) {
        self.initial_ns = self.initial_ns.max(AFTER_LOST_SYN_NS);
        self.doublings = 0;
    }

    /// Timeout [RFC 6298 2.2, 2.3]: SRTT + max(G, 4 RTTVAR), within its bounds. The margin is at least G.
    /// With a margin of its own it is also so much longer than the last round trip: a slow start fills a long
    /// queue within a round trip or two, and one sample in each moves SRTT by an eighth.
    pub(super) fn timeout_ns(&self) -> u64 {
        let base_ns = if self.rtt.is_known() {
            let smoothed_ns = self.rtt.smoothed_ns();
            let margin_ns = self.margin_ns.saturating_add(self.ack_wait_ns());
            let mean_ns = smoothed_ns.saturating_add((4 * self.rtt.variance_ns()).max(margin_ns));
            if self.follows { mean_ns.max(self.last_ns.saturating_add(margin_ns)) } else { mean_ns }
        } else {
            self.initial_ns
        };
        let bounded_ns = base_ns.clamp(self.min_ns, self.max_ns);
        bounded_ns.saturating_mul(1 << self.doublings).min(self.max_ns)
    }

    /// Time that so many timeouts take, each of which backs off.
    pub(super) fn backed_off_ns(&self, timeouts: u32) -> u64 {
        let after = |doublings: u32| {
            let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
            self.timeout_ns().saturating_mul(factor).min(self.max_ns)
        };
        (1..=timeouts).fold(0, |sum: u64, doublings| sum.saturating_add(after(doublings)))
    }

    /// Moment at which a timer that is started now runs out: never early, and at a tick of the clock.
    pub(super) fn due(&self, now: Instant) -> Instant {
        Instant::from_ns(self.in_ticks(now.after(self.timeout_ns()).as_ns()))
    }

    fn in_ticks(&self, ns: u64) -> u64 {
        if self.granularity_ns == 0 { ns } else { ns.next_multiple_of(self.granularity_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::{MS, SECOND};

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut rto = Rto::new(&Config::standard());
        assert_eq!(rto.timeout_ns(), SECOND);
        rto.sample(500 * MS);
        assert_eq!(rto.timeout_ns(), 1500 * MS, "SRTT + 4 * SRTT / 2");
    }

    #[test]
    fn a_timeout_has_bounds_and_doubles_until_a_sample() {
        let mut rto = Rto::new(&Config { rto_margin_ns: 0, ..Config::standard() });
        rto.sample(MS);
        assert_eq!(rto.timeout_ns(), 200 * MS);
        rto.back_off();
        assert_eq!(rto.timeout_ns(), 400 * MS);
        (0..30).for_each(|_| rto.back_off());
        assert_eq!(rto.timeout_ns(), 60 * SECOND);
        rto.sample(MS);
        assert_eq!(rto.timeout_ns(), 200 * MS);
    }

    #[test]
    fn a_steady_round_trip_has_its_margin() {
        let mut rto = Rto::new(&Config::standard());
        (0..100).for_each(|_| rto.sample(300 * MS));
        assert!((500 * MS..502 * MS).contains(&rto.timeout_ns()), "{}", rto.timeout_ns());
    }

    #[test]
    fn the_margin_holds_over_the_last_round_trip_too() {
        let mut rto = Rto::new(&Config::standard());
        (0..100).for_each(|_| rto.sample(200 * MS));
        rto.glimpse(500 * MS);
        assert_eq!(rto.timeout_ns(), 700 * MS);
        rto.glimpse(210 * MS);
        assert!(rto.timeout_ns() <= 412 * MS, "it is not kept");
        let mut rto = Rto::new(&Config { rto_margin_ns: 0, ..Config::standard() });
        (0..100).for_each(|_| rto.sample(200 * MS));
        rto.glimpse(500 * MS);
        assert!(rto.timeout_ns() < 210 * MS, "the RFC's, where no margin is wanted");
    }

    #[test]
    fn acknowledgements_that_come_once_a_round_trip_are_waited_for() {
        let mut rto = Rto::new(&Config { rto_margin_ns: 0, ..Config::standard() });
        rto.expect_acks(AckPolicy::PerRoundTrip { acks: 1 });
        (0..100).for_each(|_| rto.sample(8 * SECOND));
        assert_eq!(rto.timeout_ns(), 16 * SECOND);
        rto.expect_acks(AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 3 * SECOND });
        assert_eq!(rto.timeout_ns(), 11 * SECOND);
    }

    #[test]
    fn coarse_clocks_measure_and_fire_at_ticks() {
        let mut rto = Rto::new(&Config::paper());
        rto.sample(532 * MS);
        assert_eq!(rto.rtt().smoothed_ns(), SECOND);
        assert_eq!(rto.timeout_ns(), 3 * SECOND);
        assert_eq!(rto.due(Instant::from_ns(100 * MS)), Instant::from_ns(3500 * MS));
    }

    #[test]
    fn after_a_lost_syn_data_waits_three_seconds() {
        let mut rto = Rto::new(&Config::standard());
        rto.back_off();
        rto.syn_was_lost();
        assert_eq!(rto.timeout_ns(), 3 * SECOND);
    }
}
