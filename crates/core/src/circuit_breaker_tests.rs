//! Rounds of a declared rate.

use std::vec::Vec;

use super::*;
use crate::MS;

const RTT_NS: u64 = 100 * MS;
const DECLARED_BPS: u64 = 30_000_000;

/// Breaker with its clock.
struct Bench(CircuitBreaker, Instant);

impl Bench {
    fn new() -> Self {
        Self(CircuitBreaker::new(Instant::ZERO, DECLARED_BPS), Instant::ZERO)
    }

    /// A round of 1000 packets of which so many arrive.
    fn round(&mut self, arrived: u64) -> Option<u64> {
        self.1 = self.1.after(ROUND_RTTS * RTT_NS);
        self.0.count_arrived(arrived, 0);
        self.0.count_lost(1000 - arrived);
        self.0.conclude(self.1, RTT_NS, false)
    }

    /// Report, so much later, that tells of so many more packets of 1500 bytes, while repeats alone leave or
    /// not.
    fn report(&mut self, later_ns: u64, arrived: u64, lost: u64, only_repeats: bool) -> Option<u64> {
        self.1 = self.1.after(later_ns);
        self.0.count_arrived(arrived, 1500 * arrived);
        self.0.count_lost(lost);
        self.0.conclude(self.1, RTT_NS, only_repeats)
    }

    /// A round on a path that carries so much.
    fn over(&mut self, carried_bps: u64) -> Option<u64> {
        self.round((1000 * carried_bps / self.0.rate_bps).min(1000))
    }
}

#[test]
fn two_rounds_of_which_most_is_lost_lower_the_rate_to_what_gets_through() {
    let rates = |rounds: &[u64]| {
        let mut bench = Bench::new();
        rounds.iter().map(|&arrived| bench.round(arrived)).collect::<Vec<_>>()
    };
    assert_eq!(rates(&[200, 100, 1000, 990, 600, 600]), [None, Some(2_850_000), None, None, None, None]);
    assert_eq!(rates(&[200, 100, 800])[2], Some(2_166_000), "the queue had taken some");
    assert_eq!(rates(&[100, 500, 100, 600]), [None; 4], "not in a row");
    assert_eq!(rates(&[510; 8]), [None; 8], "less than half");
    assert_eq!(rates(&[200, 100, 1000, 400])[3], Some(1_083_000), "it has become less");
}

#[test]
fn a_rate_that_is_not_to_blame_holds_again_and_is_left_alone_for_a_while() {
    let mut bench = Bench::new();
    let told: Vec<_> = (0..50).map(|_| bench.round(300)).collect();
    assert_eq!(told[..3], [None, Some(8_550_000), Some(DECLARED_BPS)]);
    assert_eq!(told[3..], [None; 47], "for ten seconds");
    assert_eq!(bench.0.lowered_bps(), None);
}

#[test]
fn a_lowered_rate_is_raised_ever_more_rarely_until_the_path_carries_more() {
    let (mut bench, mut raised) = (Bench::new(), Vec::new());
    for _ in 0..1500 {
        let before = bench.0.rate_bps;
        if bench.over(3_000_000).is_some_and(|rate_bps| rate_bps > before) {
            raised.push(bench.1.as_ns() / SECOND);
            assert!(bench.0.rate_bps < 6_000_000, "once at a time");
        }
    }
    let pauses: Vec<u64> = raised.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        raised[0] <= 6 && pauses[..4].iter().zip([9, 19, 39, 79]).all(|(had, least)| *had >= least),
        "{raised:?}"
    );
    let rounds = (0..1000).take_while(|_| bench.over(DECLARED_BPS).is_some() || bench.0.is_open()).count();
    assert!(rounds < 1000 && bench.0.rate_bps == DECLARED_BPS, "{rounds}");
    assert_eq!((0..20).filter_map(|_| bench.over(DECLARED_BPS)).count(), 0);
}

#[test]
fn few_packets_a_short_time_and_an_outage_decide_nothing() {
    let Bench(mut breaker, _) = Bench::new();
    let later = Instant::ZERO.after(10 * SECOND);
    breaker.count_lost(ROUND_PACKETS - 1);
    assert_eq!(breaker.conclude(later, RTT_NS, false), None);
    breaker.count_lost(1);
    assert_eq!(breaker.conclude(Instant::ZERO.after(RTT_NS), RTT_NS, false), None);
    assert_eq!(breaker.conclude(later, RTT_NS, false), None);
    breaker.forget(later);
    breaker.count_lost(1000);
    assert_eq!(breaker.conclude(later.after(SECOND), RTT_NS, false), None, "the first round of two");
    breaker.count_lost(u64::MAX);
    assert_eq!(breaker.conclude(later.after(2 * SECOND), RTT_NS, false), Some(MIN_RATE_BPS));
}

/// Packets of 1500 bytes that a path of 6 Mbit/s carries in a tenth of a round trip of 100 ms.
const TENTH: (u64, u64) = (RTT_NS / 10, 5);

#[test]
fn where_repeats_alone_leave_the_first_reports_lower_the_rate_to_what_arrived_between_them() {
    // A queue of 200 packets was filled before the first loss.
    let (tenth_ns, carried) = TENTH;
    for only_repeats in [true, false] {
        let mut bench = Bench::new();
        assert_eq!(bench.report(RTT_NS, 200, 0, only_repeats), None);
        let rates: Vec<_> = (0..9).map(|_| bench.report(tenth_ns, carried, 60, only_repeats)).collect();
        let lowered = rates.iter().position(Option::is_some);
        assert_eq!(lowered, only_repeats.then_some(3), "{rates:?}");
        assert_eq!(rates[3], only_repeats.then_some(5_700_000), "19/20 of 6 Mbit/s, whatever the queue took");
    }
}

#[test]
fn repeats_of_what_is_less_than_half_or_few_or_not_measured_leave_the_rate() {
    let (tenth_ns, carried) = TENTH;
    let lowers = |arrived: u64, lost: u64, reports: u64, apart_ns: u64| {
        let mut bench = Bench::new();
        (0..reports).any(|_| bench.report(apart_ns, arrived, lost, true).is_some())
    };
    assert!(lowers(carried, 60, 9, tenth_ns));
    assert!(!lowers(60, 60, 9, tenth_ns), "half");
    assert!(!lowers(carried, 9, 7, tenth_ns), "98 packets");
    assert!(!lowers(40, 60, 2, tenth_ns), "a tenth of a round trip");
    assert!(lowers(40, 60, 2, 3 * tenth_ns), "three of them");
    let behind = |pause_ns: u64| {
        let mut bench = Bench::new();
        bench.report(RTT_NS, 10, 0, true);
        bench.report(pause_ns, 40, 160, true)
    };
    assert_eq!(behind(4 * RTT_NS), Some(1_140_000), "a queue of three round trips");
    assert_eq!(behind(PAUSE_RTTS * RTT_NS), None, "a pause");
}

#[test]
fn repeats_lower_no_rate_that_was_found_not_to_blame_just_before() {
    let (tenth_ns, carried) = TENTH;
    let mut bench = Bench::new();
    let told: Vec<_> = (0..3).map(|_| bench.round(300)).collect();
    assert_eq!(told[2], Some(DECLARED_BPS));
    let rates: Vec<_> = (0..20).filter_map(|_| bench.report(tenth_ns, carried, 60, true)).collect();
    assert!(rates.is_empty(), "{rates:?}");
}
