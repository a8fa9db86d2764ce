//! Runs of boards.

use skyhaul_link::Discipline;
use skyhaul_scenario::Workload;

use super::super::cases::{CASES, CaseName};
use super::super::contestants::{ContestantName, contestants};
use super::*;
use crate::race::shipped;

/// Order of these cases and contestants; of all if there is none.
fn order(cases: &[&str], names: &[&str]) -> BoardOrder {
    let cases: Vec<CaseName> = cases.iter().map(|name| name.parse().unwrap()).collect();
    let is_chosen = |case: &&Case| cases.is_empty() || cases.iter().any(|name| name.means(case));
    let names: Vec<_> = names.iter().map(|name| ContestantName::find(&standard(), name).unwrap()).collect();
    BoardOrder {
        mode: RaceMode::Simulated,
        cases: CASES.iter().filter(is_chosen).collect(),
        contestants: contestants(&standard(), &names),
        runs: 20,
        seed: 1,
        size_bytes: None,
        time_limit_ns: None,
    }
}

fn board(order: &BoardOrder) -> Board {
    Board::new(order).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn everybody_has_a_run_of_each_seed_on_every_case() {
    let board = board(&order(&[], &[]));
    assert_eq!((board.trials.len(), board.header.replications), (CASES.len(), 20));
    let last = board.header.runs().last().unwrap();
    let (trial, contestant) = board.at(last);
    assert_eq!((trial.case.name, contestant.name), ("joining", "scps-tp-declared"));
    assert_eq!(board.header.seed_of(last), 20);
}

#[test]
fn flows_beside_others_carry_the_contestant_and_a_fair_part_is_declared() {
    let board = board(&order(&["beside-bbr", "joining", "fairness"], &["xstp-declared"]));
    let parts = [5_000_000, 2_000_000, 10_000_000];
    for (trial, part_bps) in board.trials.iter().zip(parts) {
        let scenario = trial.flows_with(board.contestants[0].racer).unwrap();
        let own: Vec<_> = scenario.flows.iter().filter(|flow| trial.is_of_contestant(&flow.name)).collect();
        assert_eq!(own.len(), 1, "{}", trial.case.name);
        let transport = &own[0].transport;
        let declared = transport.protocol().declared_rate_bps(&transport.opener);
        assert_eq!(declared, Some(part_bps), "{}", trial.case.name);
        assert!(
            scenario.flows.iter().all(|flow| matches!(flow.workload, Workload::Bulk { bytes: None, .. }))
        );
    }
    let flows = board.trials[0].flows_with(shipped("skyhaul")).unwrap().flows;
    let rival = flows.iter().find(|flow| flow.name == "rival").unwrap();
    assert!(format!("{:?}", rival.transport).contains("Bbr"), "{rival:?}");
}

#[test]
fn links_are_routers_for_who_follows_them_traced_ones_too() {
    let names = ["skyhaul", "skyhaul-xcp", "tcp-p-xcp", "tcp-peach-plus"];
    let board = board(&order(&["geo", "rain-fade", "joining"], &names));
    for trial in &board.trials {
        let (link, port) = trial.plan.bottleneck();
        let discipline = |name| {
            let alone = || trial.plan.scenario(shipped(name), Work::Bulk, 1);
            let scenario = trial.flows_with(shipped(name)).unwrap_or_else(alone);
            let config = &scenario.links[link].config;
            assert_eq!(config.direction(1 - port).explicit, None, "the way back, {name}");
            config.direction(port).explicit.map(|explicit| explicit.discipline)
        };
        let found = names.map(discipline);
        assert_eq!(found, [None, Some(Discipline::Xcp), Some(Discipline::PXcp), None], "{}", trial.case.name);
    }
}

#[test]
fn routers_of_the_file_stay_as_they_are() {
    let set = ("links.geo.forward.explicit.discipline".to_string(), "untaken".to_string());
    let race = RaceOrder { set: vec![set], ..board(&order(&["geo"], &["skyhaul"])).trials[0].order.clone() };
    let folder = unpacked().unwrap();
    let file = load(&standard(), &folder.path().join("geo.toml"), &race.set).unwrap();
    let plan = RacePlan::new(&race, &file).unwrap();
    let (link, port) = plan.bottleneck();
    for name in ["skyhaul", "skyhaul-p-xcp"] {
        let scenario = plan.scenario(shipped(name), Work::Bulk, 1);
        let explicit = scenario.links[link].config.direction(port).explicit.unwrap();
        assert_eq!(explicit.discipline, Discipline::Untaken, "{name}");
    }
}

#[test]
fn all_that_decides_about_results_is_in_the_digest() {
    let plain = || order(&["geo", "joining"], &[]);
    let digest = |order: &BoardOrder| board(order).header.digest;
    let own = digest(&plain());
    assert_eq!(own, digest(&BoardOrder { runs: 3, ..plain() }), "more runs of the same");
    let others = [
        BoardOrder { size_bytes: Some(1_000_000), ..plain() },
        BoardOrder { time_limit_ns: Some(120_000_000_000), ..plain() },
        order(&["geo", "joining"], &["xstp"]),
    ];
    for other in others {
        assert_ne!(own, digest(&other), "{other:?}");
    }
}
