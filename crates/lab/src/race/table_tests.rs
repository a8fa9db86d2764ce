//! Tables of races.

use super::super::outcome::RaceRun;
use super::super::racer::shipped;
use super::*;

fn row(runs: Vec<RaceRun>) -> RacerRuns {
    RacerRuns { racer: shipped("xstp-undeclared"), runs }
}

fn complete(goodput_bps: f64, limit_bps: f64) -> RaceRun {
    let run = RaceRun { complete: true, payload_bytes: 1_000_000, ..RaceRun::default() };
    let elapsed_ns = (8e15 / goodput_bps) as u64;
    run.with_time(elapsed_ns, Some((limit_bps / goodput_bps * 1e6) as u64))
}

#[test]
fn the_range_stands_behind_the_median_where_there_is_one() {
    let three = row(vec![complete(8e6, 1e7), complete(7e6, 1e7), complete(9e6, 1e7)]);
    let text = transfers(&[three]).to_terminal();
    assert!(text.contains("8.00 (7.00-9.00)") && text.contains("0.800 (0.700-0.900)"), "{text}");
    let one = transfers(&[row(vec![complete(8e5, 1e6)])]).to_terminal();
    assert!(one.contains("kbit/s") && one.contains(" 800  ") && !one.contains('('), "{one}");
}

#[test]
fn a_run_that_was_ended_is_marked() {
    let ended = RaceRun { payload_bytes: 500, ..RaceRun::default() }.with_time(60_000_000_000, None);
    let text = transfers(&[row(vec![ended])]).to_terminal();
    assert!(text.contains("xstp-undeclared *") && text.contains(">60.0"), "{text}");
}
