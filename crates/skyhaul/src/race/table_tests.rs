//! What people read.

use skyhaul_congestion::ControllerKind;

use super::super::racer::Racer;
use super::*;

fn row(runs: Vec<Run>) -> Row {
    Row { racer: Racer::Stp { probing: true, declared: false }, runs }
}

fn complete(goodput_bps: f64, limit_bps: f64) -> Run {
    let run = Run { complete: true, payload_bytes: 1_000_000, ..Run::default() };
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
    let ended = Run { payload_bytes: 500, ..Run::default() }.with_time(60_000_000_000, None);
    let text = transfers(&[row(vec![ended])]).to_terminal();
    assert!(text.contains("xstp-undeclared *") && text.contains(">60.0"), "{text}");
}

#[test]
fn bars_are_as_long_as_the_goodput_beside_the_limit() {
    let text = bars(&[row(vec![complete(5e6, 1e7)]), row(vec![])]);
    let lengths: Vec<usize> = text.lines().map(|line| line.matches('#').count()).collect();
    assert_eq!(lengths, [0, 30, 0, 0], "{text}");
    assert!(text.contains(&"-".repeat(60)) && text.contains("10.00 Mbit/s"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_verdict_says_whether_skyhaul_wins_and_why_whoever_is_told_the_rate_may_be_before_it() {
    let by = |racer: Racer, goodput_bps| Row { racer, runs: vec![complete(goodput_bps, 1e7)] };
    let text = |rows: &[Row]| {
        let lines = firsts(&judge(rows)[..1]);
        lines.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (ours, bbr) = (by(Racer::Standard, 8e6), by(Racer::Tcp(ControllerKind::Bbr), 4e6));
    assert_eq!(text(&[ours.clone(), bbr.clone()]), "most goodput: skyhaul wins");
    assert_eq!(text(std::slice::from_ref(&bbr)), "most goodput: tcp-bbr");
    let declared = by(Racer::Stp { probing: true, declared: true }, 1e7);
    let told = "most goodput: behind xstp-declared (1.25 times skyhaul's; told the rate)";
    assert_eq!(text(&[ours, bbr, declared]), told);
}
