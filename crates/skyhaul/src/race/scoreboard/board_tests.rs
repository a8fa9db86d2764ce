//! What is to be run.

use clap::Parser as _;
use skyhaul_sim::scenario::Workload;

use super::super::cases::CASES;
use super::*;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    args: ScoreboardArgs,
}

fn board(words: &[&str]) -> Board {
    let line = Line::try_parse_from([&["scoreboard"], words].concat());
    Board::new(&line.unwrap_or_else(|error| panic!("{error}")).args).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn everybody_has_a_run_of_each_seed_on_every_case() {
    let board = board(&[]);
    assert_eq!((board.trials.len(), board.header.replications), (CASES.len(), 20));
    let last = board.header.runs().last().unwrap();
    let (trial, contestant) = board.at(last);
    assert_eq!((trial.case.name, contestant.name), ("joining", "tcp-reno"));
    assert_eq!(board.header.seed_of(last), 20);
}

#[test]
fn flows_beside_others_carry_the_contestant_and_a_fair_part_is_declared() {
    let board = board(&["--scenarios", "beside-bbr,joining,fairness", "--with", "xstp-declared"]);
    let parts = [5_000_000, 2_000_000, 10_000_000];
    for (trial, part_bps) in board.trials.iter().zip(parts) {
        let scenario = trial.flows_with(board.contestants[0].racer).unwrap();
        let own: Vec<_> = scenario.flows.iter().filter(|flow| trial.is_of_contestant(&flow.name)).collect();
        assert_eq!(own.len(), 1, "{}", trial.case.name);
        assert_eq!(own[0].transport.opener.stp().unwrap().rate_bps, Some(part_bps), "{}", trial.case.name);
        assert!(
            scenario.flows.iter().all(|flow| matches!(flow.workload, Workload::Bulk { bytes: None, .. }))
        );
    }
    let flows = board.trials[0].flows_with(Racer::Standard).unwrap().flows;
    let rival = flows.iter().find(|flow| flow.name == "rival").unwrap();
    assert!(format!("{:?}", rival.transport).contains("Bbr"), "{rival:?}");
}

#[test]
fn all_that_decides_about_results_is_in_the_digest() {
    let digest = |words: &[&str]| board(&[&["--scenarios", "geo,joining"], words].concat()).header.digest;
    let plain = digest(&[]);
    assert_eq!(plain, digest(&["--runs", "3", "--simulated"]), "more runs of the same");
    let others = [&["--size", "1MB"][..], &["--time-limit", "2min"], &["--with", "xstp"]];
    for other in others {
        assert_ne!(plain, digest(other), "{other:?}");
    }
}
