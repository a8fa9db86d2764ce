use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use proptest::prelude::*;

use alloc::sync::Arc;

use skyhaul_core::{DeclaredRate, Instant, Path, PathConfig, Terms};

use super::super::poll_history::PollHistory;
use super::super::{Entropy, Missing, PollRecord, Sender, Situation};
use super::ReportedGaps;
use crate::Config;
use crate::receive::Assembly;
use crate::segment::{GapList, ListBounds, Opening, Options, Report};

const FIRST: u64 = 1000;

proptest! {
    /// A receiver leaves out exactly what a sender takes nothing from.
    #[test]
    fn a_list_with_a_silent_range_says_the_truth_about_all_others(
        arrived in proptest::collection::btree_set(FIRST..FIRST + 60, 0..50),
        silent_first in 0u64..60,
        silent_packets in 0u64..40,
    ) {
        let mut assembly = Assembly::new(FIRST, 1 << 20);
        for &number in &arrived {
            assembly.insert(number, &[1]);
        }
        let upper = FIRST + 60;
        let first = (FIRST + silent_first).max(assembly.next());
        let silent = (first, (first + silent_packets).min(upper).max(first));
        let bounds = ListBounds { max_bytes: 1400, max_gaps: 100 };
        let GapList { first: start, runs, .. } = assembly.list(assembly.next(), upper, silent, bounds);
        let next = assembly.next();
        let start = start.map_or(0, |start| (start - next) as u32);
        let range = (silent.1 > silent.0).then(|| ((silent.0 - next) as u32, (silent.1 - silent.0) as u32));
        let report = Report { silent: range, start, runs, ..Report::default() };
        let poll = record(upper);
        let missing = Missing::new(&report, next, Some(poll));
        let is_told = |number: &u64| !(silent.0..silent.1).contains(number);
        let all = next..upper;
        let expected: Vec<u64> = all.clone().filter(|n| !arrived.contains(n)).filter(is_told).collect();
        prop_assert_eq!(missing.numbers().collect::<Vec<u64>>(), expected);
        let received: BTreeSet<u64> = missing.received().flat_map(|(from, end)| from..end).collect();
        let beyond_a_gap = !report.runs.is_empty() || range.is_some();
        let expected: BTreeSet<u64> =
            all.filter(|n| beyond_a_gap && arrived.contains(n)).filter(is_told).collect();
        prop_assert!(expected.is_subset(&received) && received.is_subset(&arrived), "{received:?}");
        prop_assert!(missing.end() <= upper);
    }
}

fn record(next: u64) -> PollRecord {
    let mut clock = PollHistory::new(0, 0);
    let echo = clock.send(Instant::ZERO, 0, next, (None, false));
    clock.answer(Instant::ZERO, echo, |_| {}).unwrap().0
}

/// List up to packet `upper`, silent about [first, end), from `start` on.
fn take(
    told: &mut ReportedGaps,
    upper: u64,
    silent: Option<(u64, u64)>,
    start: u32,
    runs: &[u32],
    more: bool,
) {
    let silent = silent.map(|(first, end)| ((first - FIRST) as u32, (end - first) as u32));
    let report = Report { silent, start, runs: runs.to_vec(), more, ..Report::default() };
    told.take(&record(upper), &Missing::new(&report, FIRST, None));
}

#[test]
fn what_is_told_without_a_hole_is_settled_up_to_the_first_packet_that_waits() {
    let mut told = ReportedGaps::new(FIRST);
    take(&mut told, FIRST + 100, None, 0, &[1, 9, 1], false);
    assert_eq!(told.settled(None), Some(FIRST + 100));
    assert_eq!(told.settled(Some(FIRST + 10)), Some(FIRST + 10));
    take(&mut told, FIRST + 200, Some((FIRST, FIRST + 100)), 120, &[1], false);
    assert_eq!(told.settled(None), Some(FIRST + 200));
}

#[test]
fn a_stat_that_was_lost_leaves_a_hole_until_everything_was_told() {
    let mut told = ReportedGaps::new(FIRST);
    take(&mut told, FIRST + 100, None, 0, &[1], false);
    take(&mut told, FIRST + 300, Some((FIRST, FIRST + 200)), 0, &[], false);
    assert_eq!(told.settled(None), None);
    take(&mut told, FIRST + 400, Some((FIRST, FIRST + 300)), 0, &[], false);
    assert_eq!(told.settled(None), None);
    take(&mut told, FIRST + 500, None, 0, &[1], false);
    assert_eq!(told.settled(None), Some(FIRST + 500));
}

#[test]
fn parts_count_only_when_all_of_them_came() {
    let mut told = ReportedGaps::new(FIRST);
    take(&mut told, FIRST + 100, None, 10, &[1], false);
    assert_eq!(told.settled(None), Some(FIRST), "the first part is missing");
    take(&mut told, FIRST + 100, None, 0, &[1, 9], true);
    assert_eq!(told.settled(None), Some(FIRST), "more is to follow");
    take(&mut told, FIRST + 100, None, 10, &[1], false);
    assert_eq!(told.settled(None), Some(FIRST + 100));
}

/// Sender with ten packets under way, of which the first two wait to be sent again, and a window of
/// `window_bytes`.
fn with_window(window_bytes: u64) -> Sender {
    let mut path = Path::new(PathConfig { mtu_bytes: 1500, carrier_bytes: 28, head_bytes: 0, tail_bytes: 0 });
    path.declare(Instant::ZERO, DeclaredRate { rate_bps: 1_000_000, burst_ns: 0, peak: None });
    let entropy = Entropy { initial: 0, timestamp_offset: 0, secret: 0, last_timestamp: None };
    let config = Arc::new(Config { rate_bps: Some(1_000_000), ..Config::standard() });
    let mut sender = Sender::new(&config, entropy, Instant::ZERO, &path);
    sender.regulator.take_terms(Instant::ZERO, Terms::unmeasured(window_bytes, "model"));
    let options = Options { increments: true, ..Options::default() };
    let opening = Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, options, ..Opening::default() };
    sender.learn_peer(&opening, &mut path);
    sender.write(&alloc::vec![0; 20_000]).unwrap();
    let first = sender.cache.first();
    for order in 0..10 {
        sender.cache.send_new(1000, Instant::ZERO, order);
    }
    sender.told.to = first + 10;
    for number in [first, first + 1] {
        sender.cache.lose(number, false);
    }
    sender
}

fn settled(sender: &Sender) -> Option<u64> {
    sender.settled(&Situation {
        is_opened: true,
        is_lingering: false,
        last_report_bytes: 0,
        is_proven: true,
        is_peer_free: true,
        last_heard: Instant::ZERO,
        allowance_bytes: 1472,
        probe_at: None,
        begin_at: None,
        begins_again: false,
        end_at: None,
        has_ended: false,
        doubts_size: false,
        reply: None,
        reply_at: None,
    })
}

#[test]
fn while_the_window_holds_repeats_back_everything_is_asked_for() {
    let roomy = with_window(20_000);
    assert_eq!(settled(&roomy), Some(roomy.cache.first()));
    assert_eq!(settled(&with_window(8500)), None, "8000 are under way");
}
