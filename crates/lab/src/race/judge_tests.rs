//! Verdicts.

use std::sync::LazyLock;

use super::super::outcome::RaceRun;
use super::super::racer::shipped;
use super::*;
use crate::transfer::Traffic;

static OURS: LazyLock<Racer> = LazyLock::new(|| shipped("skyhaul"));
static XSTP: LazyLock<Racer> = LazyLock::new(|| shipped("xstp-declared"));
static BBR: LazyLock<Racer> = LazyLock::new(|| shipped("tcp-bbr"));
static CUBIC: LazyLock<Racer> = LazyLock::new(|| shipped("tcp-cubic"));

fn row(racer: Racer, goodputs: &[f64], forward_bytes: u64, complete: bool) -> RacerRuns {
    let run = |&goodput_bps: &f64| RaceRun {
        goodput_bps: Some(goodput_bps),
        payload_bytes: 1000,
        forward: Traffic { packets: 1, bytes: forward_bytes },
        complete,
        ..RaceRun::default()
    };
    RacerRuns { racer, runs: goodputs.iter().map(run).collect() }
}

#[test]
fn the_medians_decide_and_one_in_a_hundred_is_a_tie() {
    let rows = [row(*BBR, &[9.05, 0.0, 99.0], 1100, true), row(*OURS, &[9.0], 1110, true)];
    for judged in judge(&rows) {
        assert_eq!((judged.first, judged.skyhaul_wins), (*OURS, Some(true)), "{judged:?}");
        assert!(judged.before_skyhaul.is_empty(), "{judged:?}");
    }
}

#[test]
fn whoever_is_before_skyhaul_is_named_with_by_how_much() {
    let rows =
        [row(*OURS, &[8.0], 1100, true), row(*XSTP, &[10.0], 1000, true), row(*BBR, &[9.0], 2000, true)];
    let [goodput, sent, _] = judge(&rows).try_into().unwrap();
    assert_eq!((goodput.first, goodput.skyhaul_wins), (*XSTP, Some(false)));
    assert_eq!(goodput.before_skyhaul, [(*XSTP, Some(1.25)), (*BBR, Some(1.125))]);
    assert_eq!(sent.before_skyhaul, [(*XSTP, Some(1000.0 / 1100.0))]);
}

#[test]
fn another_of_our_own_does_not_win_in_its_place() {
    let rows =
        [row(*OURS, &[8.0], 1000, true), row(*XSTP, &[9.0], 1000, true), row(*BBR, &[8.5], 1000, true)];
    let goodput = &judge(&rows)[0];
    assert_eq!(goodput.skyhaul_wins, Some(false));
    assert_eq!(goodput.before_skyhaul.len(), 2, "{goodput:?}");
}

#[test]
fn whoever_delivers_nothing_wins_nothing() {
    let rows = [row(*OURS, &[8.0], 1100, true), row(*BBR, &[1.0], 1000, false)];
    assert!(judge(&rows).iter().all(|first| first.skyhaul_wins == Some(true)), "{:?}", judge(&rows));
    let rows =
        [row(*OURS, &[8.0], 1000, false), row(*BBR, &[1.0], 1100, true), row(*CUBIC, &[1.0], 1200, true)];
    let [goodput, sent, _] = judge(&rows).try_into().unwrap();
    assert_eq!(goodput.skyhaul_wins, Some(true), "what was there by the end counts");
    assert_eq!((sent.first, sent.skyhaul_wins), (*BBR, Some(false)));
    assert_eq!(sent.before_skyhaul, [(*BBR, None), (*CUBIC, None)], "there is nothing to divide by");
}

#[test]
fn nothing_is_said_of_skyhaul_where_it_did_not_race() {
    for judged in judge(&[row(*CUBIC, &[1.0], 1000, true), row(*BBR, &[1.005], 1000, true)]) {
        assert_eq!((judged.skyhaul_wins, judged.before_skyhaul.len()), (None, 0), "{judged:?}");
    }
    assert_eq!(judge(&[row(*CUBIC, &[1.0], 1, true), row(*BBR, &[1.005], 1, true)])[0].first, *BBR);
}
