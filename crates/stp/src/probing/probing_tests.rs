//! The map and the judgement, one rule a test.

use alloc::vec::Vec;

use skyhaul_core::{Instant, MS, RttEstimator, SECOND, Verdict};

use super::{Cycle, Evidence, Judgement, Match, ProbeMap, ProbingConfig, Row};

const LOSS_RTT_NS: u64 = 600 * MS;

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

/// An estimate that has only ever seen one round-trip time.
fn rtt(ns: u64) -> RttEstimator {
    let mut rtt = RttEstimator::new(ns);
    rtt.sample(ns);
    rtt
}

fn cycle(config: ProbingConfig) -> Cycle {
    Cycle::start(config, false, at(10_000), &rtt(LOSS_RTT_NS))
}

/// A probe at `sent_ms` that is answered after `rtt_ms`.
fn exchange(cycle: &mut Cycle, timestamp: u32, sent_ms: u64, rtt_ms: u64) {
    cycle.probe_sent(at(sent_ms), timestamp);
    cycle.heard_echo(at(sent_ms + rtt_ms), timestamp, Some(at(sent_ms)), cycle.alarm_rtt_ns);
    cycle.answered(at(sent_ms + rtt_ms), timestamp, at(sent_ms));
}

/// Nothing special about the missing packets.
const SPARSE: Evidence = Evidence {
    row: Row { packets: 1, duration_ns: 0, end_order: 1 },
    missing_packets: 1,
    listed_packets: 100,
    went_on: true,
};

fn row(packets: u64, duration_ms: u64) -> Evidence {
    Evidence { row: Row { packets, duration_ns: duration_ms * MS, ..SPARSE.row }, ..SPARSE }
}

fn missing(missing_packets: u64, listed_packets: u64) -> Evidence {
    Evidence { missing_packets, listed_packets, ..SPARSE }
}

fn verdict(judgement: Option<Judgement>) -> Option<Verdict> {
    judgement.map(|judgement| judgement.verdict)
}

fn judged(config: ProbingConfig, rtts_ms: [u64; 2]) -> Option<Verdict> {
    let mut cycle = cycle(config);
    exchange(&mut cycle, 1, 10_000, rtts_ms[0]);
    exchange(&mut cycle, 2, 10_600, rtts_ms[1]);
    verdict(cycle.judge(at(11_300), &SPARSE))
}

#[test]
fn the_first_probe_goes_behind_the_entry_for_answers_from_before_the_loss() {
    let mut map = ProbeMap::new(4);
    map.sent(at(100), 10);
    assert_eq!(map.answered(at(107), 10, at(100), false), Match::Probe);
    assert!(map.complete(2).is_none(), "one exchange only");
    assert_eq!(map.answered(at(108), 8, at(103), true), Match::PreLoss);
    assert!(map.complete(2).unwrap().eq([5 * MS, 7 * MS]), "the answer from before completes the cycle");
}

#[test]
fn the_latest_answer_from_before_the_loss_counts() {
    let mut map = ProbeMap::new(4);
    map.answered(at(75), 7, at(70), true);
    map.answered(at(86), 8, at(80), true);
    map.sent(at(100), 10);
    map.answered(at(107), 10, at(100), false);
    assert!(map.complete(2).unwrap().eq([6 * MS, 7 * MS]));
}

#[test]
fn exchanges_must_be_consecutive() {
    let mut map = ProbeMap::new(5);
    for timestamp in [1, 2, 3, 4] {
        map.sent(at(100), timestamp);
    }
    let mut answered = |timestamps: &[u32]| {
        for &timestamp in timestamps {
            map.answered(at(100 + 10 * u64::from(timestamp)), timestamp, at(100), false);
        }
        map.complete(2).map(Iterator::collect::<Vec<u64>>)
    };
    assert_eq!(answered(&[1, 3]), None, "the one between them is missing");
    assert_eq!(answered(&[4]), Some([30 * MS, 40 * MS].to_vec()));
}

#[test]
fn the_oldest_exchange_makes_room_and_its_answer_is_obsolete() {
    let mut map = ProbeMap::new(3);
    let answered = |map: &mut ProbeMap, timestamp| map.answered(at(101), timestamp, at(100), timestamp == 0);
    for timestamp in [1, 2] {
        map.sent(at(100), timestamp);
    }
    assert_eq!(answered(&mut map, 0), Match::PreLoss, "still reserved");
    map.sent(at(100), 3); // pushes out the reserved entry
    assert_eq!(answered(&mut map, 0), Match::Obsolete);
    map.sent(at(100), 4); // pushes out the first probe
    assert_eq!(answered(&mut map, 1), Match::Obsolete);
    assert_eq!(answered(&mut map, 2), Match::Probe);
}

#[test]
fn round_trips_as_short_as_before_put_the_blame_on_the_link() {
    assert_eq!(judged(ProbingConfig::paper(), [600, 600]), Some(Verdict::Corruption));
    assert_eq!(judged(ProbingConfig::paper(), [100, 500]), Some(Verdict::Corruption));
}

#[test]
fn one_longer_round_trip_means_congestion() {
    assert_eq!(judged(ProbingConfig::paper(), [600, 601]), Some(Verdict::Congestion));
    assert_eq!(judged(ProbingConfig::paper(), [601, 600]), Some(Verdict::Congestion));
}

#[test]
fn the_tolerance_forgives_a_part_of_the_round_trip() {
    let tolerant = ProbingConfig { rtt_tolerance_percent: 10, ..ProbingConfig::paper() };
    assert_eq!(judged(tolerant, [600, 660]), Some(Verdict::Corruption));
    assert_eq!(judged(tolerant, [600, 661]), Some(Verdict::Congestion));
}

#[test]
fn unanswered_probes_mean_an_outage() {
    let mut cycle = cycle(ProbingConfig::standard());
    cycle.probe_sent(at(10_000), 1);
    cycle.probe_sent(at(10_150), 2);
    exchange(&mut cycle, 3, 10_300, 600);
    exchange(&mut cycle, 4, 10_450, 600);
    assert_eq!(verdict(cycle.judge(at(11_050), &SPARSE)), Some(Verdict::Outage));
}

/// Probes every 150 ms, the fourth of which is answered 650 ms after it left, when the last round trip
/// before took `before_ms`; then the fifth after 600 ms.
fn answered_from_the_fourth_on(config: ProbingConfig, before_ms: u64) -> Option<Judgement> {
    let mut cycle = cycle(config);
    for timestamp in 1..=5u32 {
        cycle.probe_sent(at(9_850 + 150 * u64::from(timestamp)), timestamp);
    }
    for (timestamp, sent_ms, rtt_ms, latest_ms) in [(4, 10_450, 650, before_ms), (5, 10_600, 600, 650)] {
        cycle.heard_echo(at(sent_ms + rtt_ms), timestamp, Some(at(sent_ms)), latest_ms * MS);
        cycle.answered(at(sent_ms + rtt_ms), timestamp, at(sent_ms));
    }
    cycle.judge(at(11_200), &SPARSE)
}

#[test]
fn probes_that_a_full_queue_delivers_together_are_no_outage() {
    let standard = ProbingConfig::standard();
    // The queue is empty 450 ms after the first probe: all four arrive then, and one STAT answers them.
    let judgement = answered_from_the_fourth_on(standard, 1100).unwrap();
    assert_eq!(judgement.verdict, Verdict::Congestion);
    assert_eq!(judgement.worst_rtt_ns, 1100 * MS, "of the first probe");
    let grown = answered_from_the_fourth_on(standard, 900).unwrap();
    assert_eq!(grown.verdict, Verdict::Congestion, "the queue had grown since the last answer");
    let gone = answered_from_the_fourth_on(standard, 600).unwrap();
    assert_eq!(gone.verdict, Verdict::Outage, "no queue held them");
    assert_eq!(gone.worst_rtt_ns, 650 * MS);
}

#[test]
fn the_paper_has_a_queue_hold_no_probes() {
    let asked = ProbingConfig { queue_holds_probes: false, ..ProbingConfig::standard() };
    let judgement = answered_from_the_fourth_on(asked, 1100).unwrap();
    assert_eq!((judgement.verdict, judgement.worst_rtt_ns), (Verdict::Outage, 650 * MS));
    assert!(!ProbingConfig::paper().queue_holds_probes);
}

#[test]
fn a_single_unanswered_probe_may_be_damage() {
    let mut cycle = cycle(ProbingConfig::standard());
    cycle.probe_sent(at(10_000), 1);
    exchange(&mut cycle, 2, 10_150, 600);
    exchange(&mut cycle, 3, 10_300, 600);
    assert_eq!(verdict(cycle.judge(at(10_900), &SPARSE)), Some(Verdict::Corruption));
}

#[test]
fn a_long_row_of_losses_means_an_outage() {
    let mut cycle = cycle(ProbingConfig::standard());
    exchange(&mut cycle, 1, 10_000, 600);
    exchange(&mut cycle, 2, 10_150, 600);
    let judged = |evidence| verdict(cycle.judge(at(10_900), &evidence));
    assert_eq!(judged(row(7, 100)), Some(Verdict::Corruption), "too few");
    assert_eq!(judged(row(8, 74)), Some(Verdict::Corruption), "a burst");
    assert_eq!(judged(row(8, 75)), Some(Verdict::Outage));
}

#[test]
fn the_end_of_a_burst_that_found_no_room_is_no_outage_however_short_the_round_trip() {
    let lost = |packets, duration_ns| {
        let row = Row { packets, duration_ns, end_order: packets };
        Evidence { row, missing_packets: packets, listed_packets: packets, went_on: false }
    };
    let judged = |evidence| {
        let mut cycle = Cycle::start(ProbingConfig::standard(), true, at(10_000), &rtt(MS / 5));
        exchange(&mut cycle, 1, 10_000, 1);
        verdict(cycle.judge(at(10_001), &evidence))
    };
    // A train of 33 packets in front of a queue of 20: its end left within 0.15 ms, and nothing behind it.
    assert_eq!(judged(lost(32, 150_000)), Some(Verdict::Congestion));
    assert_eq!(judged(Evidence { listed_packets: 400, ..lost(32, 150_000) }), Some(Verdict::Corruption));
    assert_eq!(judged(lost(32, 9 * MS)), Some(Verdict::Congestion));
    assert_eq!(judged(lost(32, 10 * MS)), Some(Verdict::Outage));
    assert_eq!(judged(lost(83, 50 * MS)), Some(Verdict::Outage), "between two satellites");
}

#[test]
fn a_fifth_missing_is_congestion_whatever_the_round_trips() {
    let standard = ProbingConfig::standard();
    let judged = |config, evidence| {
        let mut cycle = cycle(config);
        exchange(&mut cycle, 1, 10_000, 600);
        exchange(&mut cycle, 2, 10_600, 600);
        verdict(cycle.judge(at(11_200), &evidence))
    };
    assert_eq!(judged(standard, missing(19, 100)), Some(Verdict::Corruption));
    assert_eq!(judged(standard, missing(20, 100)), Some(Verdict::Congestion));
    assert_eq!(judged(standard, missing(7, 10)), Some(Verdict::Corruption), "too few for a percentage");
    assert_eq!(judged(ProbingConfig::paper(), missing(20, 100)), Some(Verdict::Corruption), "[XSTP 4]");
    let gone = Evidence { row: Row { packets: 40, duration_ns: 200 * MS, ..SPARSE.row }, ..missing(53, 100) };
    assert_eq!(judged(standard, gone), Some(Verdict::Outage));
    let many_rows = Evidence { missing_packets: 54, ..gone };
    assert_eq!(judged(standard, many_rows), Some(Verdict::Congestion), "a full queue loses many rows");
}

#[test]
fn after_an_outage_the_orbit_may_be_longer() {
    let mut cycle = cycle(ProbingConfig::standard());
    cycle.probe_sent(at(10_000), 1);
    cycle.probe_sent(at(10_150), 2);
    exchange(&mut cycle, 3, 10_300, 900);
    exchange(&mut cycle, 4, 10_450, 900);
    assert_eq!(verdict(cycle.judge(at(11_350), &SPARSE)), Some(Verdict::Outage), "half as long again");
    assert_eq!(judged(ProbingConfig::standard(), [900, 900]), Some(Verdict::Congestion), "without one");
}

#[test]
fn with_a_declared_rate_one_answer_is_enough() {
    let mut cycle = Cycle::start(ProbingConfig::standard(), true, at(10_000), &rtt(LOSS_RTT_NS));
    exchange(&mut cycle, 1, 10_000, 600);
    assert!(cycle.judge(at(10_600), &SPARSE).is_some());
}

/// Gaps between probes in ms, for a cycle of `until_ms` without an answer.
fn gaps_ms(config: ProbingConfig, probe_ns: u64, until_ms: u64) -> Vec<u64> {
    let mut cycle = cycle(config);
    let mut times = Vec::new();
    let mut now = at(10_000);
    while now < at(10_000 + until_ms) {
        assert!(cycle.probe_due(probe_ns) <= now);
        cycle.probe_sent(now, times.len() as u32);
        times.push(now);
        now = cycle.probe_due(probe_ns);
    }
    times.windows(2).map(|pair| pair[1].since(pair[0]) / MS).collect()
}

#[test]
fn the_paper_probes_once_a_round_trip_without_backing_off() {
    let gaps = gaps_ms(ProbingConfig::paper(), 0, 3_600_000);
    assert!(gaps.len() > 5000 && gaps.iter().all(|&gap| gap == 600));
}

#[test]
fn default_probes_back_off_with_the_age_of_the_silence() {
    let gaps = gaps_ms(ProbingConfig::standard(), 0, 3_600_000);
    assert_eq!(gaps[0], 150);
    assert!(gaps.windows(2).all(|pair| pair[0] <= pair[1]));
    assert_eq!(gaps.last(), Some(&2000));
    assert!(gaps.len() < 3000, "{} probes in an hour", gaps.len());
}

#[test]
fn probes_take_a_small_part_of_a_declared_rate() {
    // 10 kbit/s: 49 octets take 39.2 ms.
    let gaps = gaps_ms(ProbingConfig::standard(), 39_200_000, 10_000);
    assert_eq!(gaps[0], 784, "5 percent");
}

#[test]
fn a_cycle_knows_how_long_it_took() {
    let mut cycle = cycle(ProbingConfig::paper());
    exchange(&mut cycle, 1, 10_000, 500);
    exchange(&mut cycle, 2, 10_600, 550);
    let judgement = cycle.judge(at(11_150), &SPARSE).unwrap();
    assert_eq!(judgement.duration_ns, 1150 * MS);
    assert_eq!(judgement.worst_rtt_ns, 550 * MS);
    assert!(judgement.duration_ns > SECOND);
}

#[test]
fn a_long_round_trip_before_the_alarm_shows_a_queue_that_has_drained_since() {
    let judged = |config, silent| {
        let mut estimate = rtt(LOSS_RTT_NS);
        estimate.sample(2 * LOSS_RTT_NS);
        let mut cycle = Cycle::start(config, false, at(10_000), &estimate);
        for timestamp in 0..silent {
            cycle.probe_sent(at(10_000), timestamp);
        }
        exchange(&mut cycle, 11, 11_000, 600);
        exchange(&mut cycle, 12, 11_150, 600);
        verdict(cycle.judge(at(11_750), &Evidence { row: row(20, 200).row, ..missing(26, 100) }))
    };
    let blind = ProbingConfig { counts_alarm_rtt: false, ..ProbingConfig::standard() };
    assert_eq!(judged(blind, 0), Some(Verdict::Outage));
    assert_eq!(judged(ProbingConfig::standard(), 0), Some(Verdict::Congestion));
    assert_eq!(
        judged(ProbingConfig::standard(), 2),
        Some(Verdict::Outage),
        "no queue held the first probes for 1.6 s"
    );
}

#[test]
fn on_a_short_path_some_milliseconds_are_no_queue() {
    let judged = |config, longest_ms| {
        let mut cycle = Cycle::start(config, false, at(10_000), &rtt(MS));
        exchange(&mut cycle, 1, 10_000, 1);
        exchange(&mut cycle, 2, 10_040, longest_ms);
        verdict(cycle.judge(at(10_100), &SPARSE))
    };
    assert_eq!(judged(ProbingConfig::standard(), 21), Some(Verdict::Corruption));
    assert_eq!(judged(ProbingConfig::standard(), 22), Some(Verdict::Congestion));
    assert_eq!(judged(ProbingConfig::paper(), 2), Some(Verdict::Congestion));
}

/// Gap in ms between the last probe, at `last_ms`, and the next one.
fn next_gap_ms(cycle: &Cycle, last_ms: u64) -> u64 {
    cycle.probe_due(0).since(at(last_ms)) / MS
}

/// Else several senders that share the queue fill it for hours: each further answer is a round trip away.
#[test]
fn an_answer_that_took_minutes_moves_probes_apart_as_far_as_that_takes_at_once() {
    let mut cycle = cycle(ProbingConfig::paper());
    let mut last_ms = 0;
    for timestamp in 0..200u32 {
        last_ms = 10_000 + 600 * u64::from(timestamp);
        cycle.probe_sent(at(last_ms), timestamp);
    }
    assert_eq!(next_gap_ms(&cycle, last_ms), 600);
    cycle.heard_echo(at(130_000), 0, Some(at(10_000)), cycle.alarm_rtt_ns);
    assert_eq!(next_gap_ms(&cycle, last_ms), 80_000, "three follow one that is answered after 120 s");
    cycle.heard_echo(at(130_100), 1, Some(at(10_600)), cycle.alarm_rtt_ns);
    assert_eq!(next_gap_ms(&cycle, last_ms), 80_000, "the same queue");
}

#[test]
fn an_echo_of_a_poll_from_before_the_cycle_moves_no_probes_apart() {
    let mut cycle = cycle(ProbingConfig::paper());
    for timestamp in 100..110 {
        cycle.probe_sent(at(10_000 + 600 * u64::from(timestamp)), timestamp);
    }
    cycle.heard_echo(at(100_000), 99, Some(at(9_000)), cycle.alarm_rtt_ns);
    assert_eq!(next_gap_ms(&cycle, 10_000 + 600 * 109), 600);
}

/// The queue of the last cycle is still there.
#[test]
fn a_cycle_that_starts_behind_a_long_round_trip_probes_no_faster_than_its_map_holds() {
    let mut estimate = rtt(LOSS_RTT_NS);
    estimate.sample(100 * LOSS_RTT_NS);
    let mut cycle = Cycle::start(ProbingConfig::standard(), false, at(10_000), &estimate);
    cycle.probe_sent(at(10_000), 1);
    assert_eq!(next_gap_ms(&cycle, 10_000), 2 * 60_000 / 31);
}

/// A queue of few places before a link that carries a packet for each two probes.
#[test]
fn probes_every_other_of_which_finds_no_room_move_apart() {
    let mut cycle = cycle(ProbingConfig::paper());
    let mut gaps = Vec::new();
    let mut now_ms = 10_000;
    for timestamp in 0..17 {
        if timestamp % 2 == 0 {
            exchange(&mut cycle, timestamp, now_ms, 600);
        } else {
            cycle.probe_sent(at(now_ms), timestamp);
        }
        assert!(cycle.judge(at(now_ms), &SPARSE).is_none());
        gaps.push(next_gap_ms(&cycle, now_ms));
        now_ms += 600;
    }
    assert_eq!(gaps[..14], [600; 14], "seven answers may have had no neighbour by chance");
    assert_eq!(gaps[14..], [1200; 3]);
}
