//! Bounded exhaustive exploration: two engines exchange a few packets, and every segment that leaves
//! meets every fault there is, in all combinations up to a number of faults. Then the link is perfect,
//! and every byte must have arrived once and in order, both sides must end cleanly, and nothing may
//! remain. The engines are cloned at each choice, so the whole tree is walked.
//!
//! `SKYHAUL_EXPLORE=N` allows N faults in a run instead of what each test allows.

#[path = "../common/mod.rs"]
mod common;
mod explorer;
mod talk;
mod world;

use common::family::Parameters;
use skyhaul_tcp::ControllerKind;

use explorer::explore;
use talk::Plan;

/// Walks the trees of these parameters and plans, so many faults for each.
/// `least_runs`: fewer mean that the explorer has not done its work.
fn walk(configs: &[Parameters], plans: &[Plan], faults: u32, least_runs: u64) {
    let allowed = std::env::var("SKYHAUL_EXPLORE").ok().and_then(|n| n.parse().ok());
    let faults = allowed.unwrap_or(faults);
    let (mut runs, mut states) = (0, 0);
    for config in configs {
        for &plan in plans {
            let found = explore(config, plan, faults);
            runs += found.runs;
            states += found.states;
        }
    }
    println!("{faults} faults: {runs} runs, {states} states");
    assert!(allowed.is_some() || runs >= least_runs, "only {runs} runs, {states} states");
}

/// A profile of STP, with its probing and without.
fn walk_stp(config: &skyhaul_stp::Config, least_runs: u64) {
    let configs =
        [config.probing, None].map(|probing| skyhaul_stp::Config { probing, ..config.clone() }.into());
    walk(&configs, &Plan::ALL, 2, least_runs);
}

/// A profile of TCP; two openings that meet are a plan of their own.
fn walk_tcp(config: skyhaul_tcp::Config) {
    let [question, crossing, greeting] = Plan::ALL;
    walk(&[config.into()], &[question, crossing, greeting, Plan::Meeting], 2, 4_000);
}

#[test]
fn the_standard_profile_survives_every_pair_of_faults() {
    walk_stp(&skyhaul_stp::Config::standard(), 5_500);
    let window = ControllerKind::SlowStartAvoidance;
    walk_stp(&skyhaul_stp::Config { controller: window, ..skyhaul_stp::Config::standard() }, 8_000);
}

#[test]
fn the_standard_profile_with_a_declared_rate_survives_every_pair_of_faults() {
    walk_stp(&skyhaul_stp::Config { rate_bps: Some(200_000), ..skyhaul_stp::Config::standard() }, 8_000);
}

#[test]
fn the_profile_of_the_paper_survives_every_pair_of_faults() {
    walk_stp(&skyhaul_stp::Config::paper(), 8_000);
}

#[test]
fn the_profile_of_the_paper_with_a_declared_rate_survives_every_pair_of_faults() {
    walk_stp(&skyhaul_stp::Config { rate_bps: Some(200_000), ..skyhaul_stp::Config::paper() }, 8_000);
}

#[test]
fn tcp_survives_every_pair_of_faults() {
    walk_tcp(skyhaul_tcp::Config::standard());
}

#[test]
fn tcp_with_bbr_survives_every_pair_of_faults() {
    walk_tcp(skyhaul_tcp::Config { controller: ControllerKind::Bbr, ..skyhaul_tcp::Config::standard() });
}

#[test]
fn tcp_of_the_papers_survives_every_pair_of_faults() {
    walk_tcp(skyhaul_tcp::Config::paper());
}

#[test]
fn tcp_of_sunos_survives_every_pair_of_faults() {
    walk_tcp(skyhaul_tcp::Config::sunos_4_1_3());
}
