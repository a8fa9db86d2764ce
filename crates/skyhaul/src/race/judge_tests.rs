//! Who is first.

use skyhaul_congestion::ControllerKind;

use super::super::outcome::Run;
use super::super::racer::Racer;
use super::*;
use crate::result::Traffic;

const XSTP: Racer = Racer::Stp { probing: true, declared: true };
const STP: Racer = Racer::Stp { probing: false, declared: true };
const BBR: Racer = Racer::Tcp(ControllerKind::Bbr);

fn row(racer: Racer, goodputs: &[f64], forward_bytes: u64, complete: bool) -> Row {
    let run = |&goodput_bps: &f64| Run {
        goodput_bps: Some(goodput_bps),
        payload_bytes: 1000,
        forward: Traffic { packets: 1, bytes: forward_bytes },
        complete,
        ..Run::default()
    };
    Row { racer, runs: goodputs.iter().map(run).collect() }
}

#[test]
fn the_medians_decide_and_one_in_a_hundred_is_a_tie() {
    let rows = [row(BBR, &[9.05, 0.0, 99.0], 1100, true), row(XSTP, &[9.0], 1050, true)];
    let judged = judge(&rows);
    assert_eq!((judged[0].first, judged[0].xstp_wins), ("xstp-declared", true), "{judged:?}");
    assert_eq!((judged[1].first, judged[1].xstp_wins), ("xstp-declared", true), "{judged:?}");
}

#[test]
fn whoever_is_before_xstp_is_named_with_by_how_much() {
    let rows = [row(XSTP, &[8.0], 1100, true), row(STP, &[10.0], 1000, true), row(BBR, &[9.0], 2000, true)];
    let [goodput, sent, _] = judge(&rows).try_into().unwrap();
    assert_eq!(goodput.before_xstp, [("stp-declared", 1.25), ("tcp-bbr", 1.125)]);
    assert_eq!((sent.first, sent.before_xstp.len(), sent.xstp_wins), ("stp-declared", 1, false));
}

#[test]
fn of_those_that_are_equal_the_first_to_be_named_is_first() {
    let other = Racer::Stp { probing: true, declared: false };
    let judged = judge(&[row(XSTP, &[9.0], 1100, true), row(other, &[9.05], 1000, true)]);
    assert_eq!((judged[0].first, judged[1].first), ("xstp-declared", "xstp-undeclared"), "{judged:?}");
}

#[test]
fn whoever_delivers_nothing_wins_nothing() {
    let rows = [row(XSTP, &[8.0], 1100, true), row(BBR, &[1.0], 1000, false)];
    assert!(judge(&rows).iter().all(|first| first.xstp_wins), "{:?}", judge(&rows));
    let alone = judge(&[row(BBR, &[1.0], 1000, true)]);
    assert!(!alone[0].xstp_wins && alone[0].before_xstp.is_empty(), "nobody of XSTP was there");
}
