//! The ladder from a saved rate to a confirmed one, and the ways back.

use skyhaul_core::event::ResumePhase;
use skyhaul_core::{Instant, MS, PathEstimate, SECOND};

use super::*;

/// 8 Mbit/s and 500 ms: 500,000 bytes under way.
const SAVED: SavedPath = SavedPath { rate_bps: 8_000_000, rtt_min_ns: 500 * MS, age_ns: 0 };
const RTT_MS: u64 = 510;

fn begin(saved: SavedPath) -> Resume {
    Resume::new(saved).expect("it is fit")
}

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

/// A question that left at this time was answered a round trip later, and nothing is wrong.
fn good(sent_ms: u64) -> ResumeReport {
    let rtt_ns = RTT_MS * MS;
    ResumeReport { sent_at: at(sent_ms), rtt_ns, carried: None, capacity_bps: None, congested: false }
}

fn report(resume: &mut Resume, sent_ms: u64, change: impl Fn(&mut ResumeReport)) -> Option<ResumePhase> {
    let mut report = good(sent_ms);
    change(&mut report);
    resume.on_report(at(sent_ms + RTT_MS), &report)
}

#[test]
fn a_young_path_is_used_from_the_first_packet_on_by_half() {
    let resume = begin(SAVED);
    assert_eq!(resume.phase(), ResumePhase::Unvalidated);
    assert_eq!(resume.rate_bps(), Some(4_000_000));
    assert_eq!(resume.window_bytes(), Some(250_000));
}

#[test]
fn a_measured_capacity_is_used_at_once() {
    let mut resume = begin(SAVED);
    let first = report(&mut resume, 0, |r| r.capacity_bps = Some(9_000_000));
    assert_eq!(first, Some(ResumePhase::Validating));
    assert_eq!((resume.rate_bps(), resume.window_bytes()), (Some(9_000_000), None));
    assert_eq!(report(&mut resume, 510, |r| r.capacity_bps = Some(6_000_000)), None, "of the first flight");
    assert_eq!(resume.rate_bps(), Some(6_000_000));
    assert_eq!(report(&mut resume, 511, |_| {}), Some(ResumePhase::Confirmed));
    assert_eq!((resume.rate_bps(), resume.contradiction()), (None, None));
    assert_eq!(report(&mut resume, 600, |r| r.congested = true), None, "it is over");
}

#[test]
fn without_a_measured_capacity_half_of_the_rate_is_kept_until_the_flight_is_accounted_for() {
    let mut resume = begin(SAVED);
    report(&mut resume, 0, |_| {});
    assert_eq!(resume.rate_bps(), Some(4_000_000));
}

#[test]
fn an_older_path_waits_for_a_round_trip_that_fits() {
    let mut resume = begin(SavedPath { age_ns: FIRST_FLIGHT_AGE_NS + 1, ..SAVED });
    assert_eq!((resume.phase(), resume.rate_bps()), (ResumePhase::Reconnaissance, None));
    assert_eq!(report(&mut resume, 0, |_| {}), Some(ResumePhase::Unvalidated));
    assert_eq!(resume.rate_bps(), Some(4_000_000));
    assert_eq!(report(&mut resume, 100, |_| {}), None, "that is of the usual start");
    assert_eq!(report(&mut resume, 511, |_| {}), Some(ResumePhase::Validating));
    assert_eq!(report(&mut resume, 1022, |_| {}), Some(ResumePhase::Confirmed));
}

#[test]
fn an_older_path_that_is_contradicted_has_nothing_to_retreat_from() {
    let mut resume = begin(SavedPath { age_ns: FIRST_FLIGHT_AGE_NS + 1, ..SAVED });
    assert_eq!(report(&mut resume, 0, |r| r.rtt_ns = 50 * MS), Some(ResumePhase::Contradicted));
}

#[test]
fn a_busy_machine_makes_no_other_path_of_a_short_one() {
    let saved = SavedPath { rate_bps: 500_000_000, rtt_min_ns: MS / 10, age_ns: 0 };
    for (rtt_ns, phase) in [(15 * MS, ResumePhase::Validating), (25 * MS, ResumePhase::SafeRetreat)] {
        let mut resume = begin(saved);
        assert_eq!(report(&mut resume, 0, |r| r.rtt_ns = rtt_ns), Some(phase), "{rtt_ns} ns");
    }
}

#[test]
fn each_contradiction_ends_in_half_of_what_arrives_until_the_flight_is_accounted_for() {
    const LOSSY: Carried = Carried { sent_bytes: 64_000, arrived_bytes: 44_000, arrived_ns: SECOND };
    type Change = dyn Fn(&mut ResumeReport);
    let cases: [(&str, Contradiction, &Change); 5] = [
        ("shorter", Contradiction::RoundTrip, &|r| r.rtt_ns = 250 * MS),
        ("longer", Contradiction::RoundTrip, &|r| r.rtt_ns = 5001 * MS),
        ("full", Contradiction::Congestion, &|r| r.congested = true),
        ("slower", Contradiction::Rate, &|r| r.capacity_bps = Some(3_999_999)),
        ("lossy", Contradiction::Missing, &|r| r.carried = Some(LOSSY)),
    ];
    for (name, why, change) in cases {
        let mut resume = begin(SAVED);
        assert_eq!(report(&mut resume, 0, change), Some(ResumePhase::SafeRetreat), "{name}");
        assert_eq!(resume.contradiction(), Some(why), "{name}");
        assert_eq!(report(&mut resume, 510, |r| r.congested = true), None, "{name}");
        assert_eq!(report(&mut resume, 511, |_| {}), Some(ResumePhase::Contradicted), "{name}");
        assert_eq!((resume.rate_bps(), resume.window_bytes()), (None, None), "{name}");
    }
}

#[test]
fn in_retreat_the_rate_is_half_of_what_the_path_lets_through_or_of_what_arrives() {
    let mut resume = begin(SAVED);
    report(&mut resume, 0, |r| r.congested = true);
    assert_eq!((resume.rate_bps(), resume.window_bytes()), (Some(1), Some(0)), "nothing is known to arrive");
    let carried = Carried { sent_bytes: 50_000, arrived_bytes: 25_000, arrived_ns: 100 * MS };
    report(&mut resume, 100, |r| r.carried = Some(carried));
    assert_eq!((resume.rate_bps(), resume.window_bytes()), (Some(1_000_000), Some(63_750)));
    report(&mut resume, 200, |r| r.capacity_bps = Some(500_000));
    assert_eq!(resume.rate_bps(), Some(250_000));
    report(&mut resume, 300, |r| r.capacity_bps = Some(u64::MAX));
    assert_eq!(resume.rate_bps(), Some(4_000_000), "never above the jump");
}

#[test]
fn what_a_noisy_link_damages_contradicts_nothing() {
    let noisy = Carried { sent_bytes: 100_000, arrived_bytes: 70_000, arrived_ns: SECOND };
    assert_eq!(report(&mut begin(SAVED), 0, |r| r.carried = Some(noisy)), Some(ResumePhase::Validating));
    let few = Carried { sent_bytes: 63_999, arrived_bytes: 1, arrived_ns: SECOND };
    assert_eq!(report(&mut begin(SAVED), 0, |r| r.carried = Some(few)), Some(ResumePhase::Validating));
}

#[test]
fn what_is_too_old_or_absurd_is_not_used() {
    let refused = |saved| Resume::new(saved).err();
    assert_eq!(refused(SavedPath { age_ns: LIFETIME_NS + 1, ..SAVED }), Some(Unfit::TooOld));
    assert_eq!(refused(SavedPath { age_ns: LIFETIME_NS, ..SAVED }), None);
    for rate_bps in [0, 99, 1_000_000_000_001, u64::MAX] {
        assert_eq!(refused(SavedPath { rate_bps, ..SAVED }), Some(Unfit::Absurd), "{rate_bps}");
    }
    for rtt_min_ns in [0, 999, 60 * SECOND + 1, u64::MAX] {
        assert_eq!(refused(SavedPath { rtt_min_ns, ..SAVED }), Some(Unfit::Absurd), "{rtt_min_ns}");
    }
}

#[test]
fn only_a_rate_that_lasted_is_worth_saving() {
    let worth = |rate_bps, rtt_ms: u64, confirmed_bytes| {
        is_worth_saving(&PathEstimate { rate_bps, rtt_min_ns: rtt_ms * MS, confirmed_bytes })
    };
    assert!(worth(8_000_000, 500, 1_000_000), "two round trips");
    assert!(!worth(8_000_000, 500, 999_999));
    assert!(worth(8_000_000, 1, 200_000), "200 ms");
    assert!(!worth(8_000_000, 1, 199_999));
    assert!(!worth(0, 500, u64::MAX));
    assert!(!worth(8_000_000, 61_000, u64::MAX));
}

#[test]
fn what_is_stored_is_replaced_by_a_measurement_and_deleted_by_a_contradiction() {
    let long = PathEstimate { rate_bps: 1_000_000, rtt_min_ns: 500 * MS, confirmed_bytes: 1 << 20 };
    let short = PathEstimate { confirmed_bytes: 1, ..long };
    for phase in [None, Some(ResumePhase::Confirmed), Some(ResumePhase::Unvalidated)] {
        assert_eq!(verdict(phase, None), None);
        assert_eq!(verdict(phase, Some(short)), None);
        assert_eq!(verdict(phase, Some(long)), Some(Some(long)));
    }
    assert_eq!(verdict(Some(ResumePhase::Contradicted), Some(short)), Some(None));
    assert_eq!(verdict(Some(ResumePhase::SafeRetreat), Some(long)), Some(Some(long)));
}

#[test]
fn any_order_of_extreme_reports_is_survived_and_nothing_unmeasured_exceeds_half_of_the_saved_rate() {
    let extremes = [0, 1, 250_000, 510 * MS, u64::MAX];
    for (age_ns, a, b) in
        extremes.iter().flat_map(|&a| extremes.map(|b| [(0, a, b), (LIFETIME_NS, a, b)])).flatten()
    {
        let mut resume = begin(SavedPath { age_ns, ..SAVED });
        let carried = Some(Carried { sent_bytes: a, arrived_bytes: b, arrived_ns: a });
        for (rtt_ns, sent_at) in [(510 * MS, a), (b, b), (510 * MS, b), (a, 0)] {
            let sent_at = Instant::from_ns(sent_at);
            let report = ResumeReport { sent_at, rtt_ns, carried, capacity_bps: Some(b), congested: a < b };
            resume.on_report(Instant::from_ns(a), &report);
            let max_bps = if resume.phase() == ResumePhase::Validating { b } else { SAVED.rate_bps / 2 };
            assert!(resume.rate_bps().is_none_or(|bps| bps > 0 && bps <= max_bps));
            resume.window_bytes();
        }
    }
}
