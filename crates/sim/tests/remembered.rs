//! Transfers that begin with what an earlier connection found out about the path, right or wrong.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use skyhaul_congestion::memory::is_worth_saving;
use skyhaul_core::event::ResumePhase;
use skyhaul_core::event::ResumePhase::{Confirmed, Contradicted, SafeRetreat, Unvalidated, Validating};
use skyhaul_core::{Event, Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
use skyhaul_sim::{Outcome, Source, Transfer};
use skyhaul_stp::{ControllerKind, SavedPath};

const SAVED: SavedPath = SavedPath { rate_bps: 10_000_000, rtt_min_ns: 550 * MS, age_ns: 0 };
/// Of what was saved: 687,500 bytes under way.
const JUMP_BYTES: u64 = 343_750;

fn link(rate_bps: u64, delay_ms: u64) -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: delay_ms * MS,
        queue: QueueLimit::Bytes(687_500),
        ..DirectionConfig::default()
    };
    LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}

type Events = Vec<(Instant, Source, Event)>;

fn run(link: LinkConfig, bytes: u64, remembered: Option<SavedPath>) -> (Outcome, Events) {
    let mut transfer = Transfer::new(link, 1, bytes);
    transfer.sender.controller = ControllerKind::Model;
    transfer.sender.remembered = remembered;
    let mut events = Events::new();
    let outcome = transfer.run(&mut events).unwrap();
    (outcome, events)
}

fn phases(events: &Events) -> Vec<ResumePhase> {
    let phase = |event: &Event| match event {
        Event::Resume { phase, .. } => Some(*phase),
        _ => None,
    };
    events.iter().filter_map(|(_, _, event)| phase(event)).collect()
}

/// IP bytes with data that left before `until`.
fn sent_before(events: &Events, until: Instant) -> u64 {
    let bytes = |event: &Event| match event {
        Event::Sent { payload_bytes, wire_bytes, .. } if *payload_bytes > 0 => u64::from(*wire_bytes),
        _ => 0,
    };
    events.iter().filter(|(at, ..)| *at < until).map(|(_, _, event)| bytes(event)).sum()
}

#[test]
fn a_right_memory_uses_the_first_round_trip_and_is_confirmed() {
    let (without, _) = run(link(10_000_000, 275), 20_000_000, None);
    let (with, events) = run(link(10_000_000, 275), 20_000_000, Some(SAVED));
    assert_eq!(phases(&events), [Unvalidated, Validating, Confirmed]);
    assert_eq!(with.sender.resume, Some(Confirmed));
    assert!(with.elapsed_ns + 200 * MS < without.elapsed_ns, "{} {}", with.elapsed_ns, without.elapsed_ns);
    assert!(with.share().unwrap() > 0.97, "{:?}", with.share());
    let first_flight = sent_before(&events, Instant::from_ns(550 * MS));
    assert!((300_000..=JUMP_BYTES + 20_000).contains(&first_flight), "{first_flight}");
}

#[test]
fn what_is_worth_remembering_is_what_the_path_carries() {
    let (outcome, _) = run(link(10_000_000, 275), 5_000_000, None);
    let estimate = outcome.sender.path_estimate.unwrap();
    assert!(is_worth_saving(&estimate), "{estimate:?}");
    assert!((9_000_000..=11_000_000).contains(&estimate.rate_bps), "{estimate:?}");
    assert!((550 * MS..555 * MS).contains(&estimate.rtt_min_ns), "{estimate:?}");
    assert!(estimate.confirmed_bytes <= outcome.sender.sent_bytes, "{estimate:?}");
    let (short, _) = run(link(10_000_000, 275), 5000, None);
    assert!(!short.sender.path_estimate.is_some_and(|estimate| is_worth_saving(&estimate)));
}

#[test]
fn a_path_that_has_become_slower_is_sent_no_more_than_half_of_what_was_under_way() {
    for rate_bps in [28_000, 1_000_000, 4_000_000] {
        let (outcome, events) = run(link(rate_bps, 275), 400_000, Some(SAVED));
        assert_eq!(phases(&events)[..3], [Unvalidated, Validating, SafeRetreat], "{rate_bps}");
        let first_flight = sent_before(&events, Instant::from_ns(550 * MS));
        assert!(first_flight <= JUMP_BYTES + 20_000, "{rate_bps}: {first_flight}");
        assert_eq!(outcome.link[0].dropped.congestion(), 0, "{rate_bps}: its queue takes the flight");
    }
}

#[test]
fn a_slower_path_is_found_out_and_then_used() {
    let (outcome, events) = run(link(1_000_000, 275), 5_000_000, Some(SAVED));
    assert_eq!(phases(&events), [Unvalidated, Validating, SafeRetreat, Contradicted]);
    assert!(outcome.share().unwrap() > 0.9, "{:?}", outcome.share());
    let estimate = outcome.sender.path_estimate.unwrap();
    assert!((900_000..=1_100_000).contains(&estimate.rate_bps), "{estimate:?}");
}

#[test]
fn another_round_trip_is_another_path() {
    let (outcome, events) = run(link(10_000_000, 20), 5_000_000, Some(SAVED));
    assert_eq!(phases(&events), [Unvalidated, SafeRetreat, Contradicted]);
    assert!(outcome.share().unwrap() > 0.9, "{:?}", outcome.share());
}

#[test]
fn what_is_older_than_an_hour_changes_nothing_before_a_round_trip_fits() {
    let (with, events) =
        run(link(10_000_000, 275), 5_000_000, Some(SavedPath { age_ns: 7200 * SECOND, ..SAVED }));
    assert_eq!(phases(&events)[0], ResumePhase::Reconnaissance);
    assert_eq!(with.sender.resume, Some(Confirmed));
    let (without, usual) = run(link(10_000_000, 275), 5_000_000, None);
    let until = Instant::from_ns(550 * MS);
    assert_eq!(sent_before(&events, until), sent_before(&usual, until));
    assert!(with.elapsed_ns <= without.elapsed_ns + 20 * MS);
}

#[test]
fn what_is_too_old_or_absurd_is_as_if_there_were_none() {
    let (without, _) = run(link(10_000_000, 275), 1_000_000, None);
    for saved in [
        SavedPath { age_ns: u64::MAX, ..SAVED },
        SavedPath { rate_bps: u64::MAX, ..SAVED },
        SavedPath { rate_bps: 0, ..SAVED },
        SavedPath { rtt_min_ns: u64::MAX, ..SAVED },
    ] {
        let (with, events) = run(link(10_000_000, 275), 1_000_000, Some(saved));
        assert_eq!((phases(&events), with.sender.resume), (vec![], None), "{saved:?}");
        assert_eq!(with.elapsed_ns, without.elapsed_ns, "{saved:?}");
    }
}
