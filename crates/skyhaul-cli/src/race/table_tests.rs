//! Texts about a race.

use super::*;
use skyhaul_lab::race::Racer;
use skyhaul_lab::standard;

fn racer(name: &str) -> Racer {
    Racer::all(&standard()).find(|racer| racer.name() == name).unwrap()
}

fn row(runs: Vec<RaceRun>) -> RacerRuns {
    RacerRuns { racer: racer("xstp-undeclared"), runs }
}

fn complete(goodput_bps: f64, limit_bps: f64) -> RaceRun {
    let run = RaceRun { complete: true, payload_bytes: 1_000_000, ..RaceRun::default() };
    let elapsed_ns = (8e15 / goodput_bps) as u64;
    run.with_time(elapsed_ns, Some((limit_bps / goodput_bps * 1e6) as u64))
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
    let by = |racer: Racer, goodput_bps| RacerRuns { racer, runs: vec![complete(goodput_bps, 1e7)] };
    let text = |rows: &[RacerRuns]| {
        let lines = firsts(&judge(rows)[..1]);
        lines.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (ours, bbr) = (by(racer("skyhaul"), 8e6), by(racer("tcp-bbr"), 4e6));
    assert_eq!(text(&[ours.clone(), bbr.clone()]), "most goodput: skyhaul wins");
    assert_eq!(text(std::slice::from_ref(&bbr)), "most goodput: tcp-bbr");
    let declared = by(racer("xstp-declared"), 1e7);
    let told = "most goodput: behind xstp-declared (1.25 times skyhaul's; told the rate)";
    assert_eq!(text(&[ours, bbr, declared]), told);
}
