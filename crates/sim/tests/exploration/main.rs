//! Bounded exhaustive exploration: two engines exchange a few packets, and every segment that leaves
//! meets every fault there is, in all combinations up to a number of faults. Then the link is perfect,
//! and every byte must have arrived once and in order, both sides must end cleanly, and nothing may
//! remain. The engines are cloned at each choice, so the whole tree is walked.
//!
//! `SKYHAUL_EXPLORE=N` allows N faults in a run instead of what each test allows.

mod explorer;
mod talk;
mod world;

use skyhaul_stp::Config;

use explorer::explore;
use talk::Plan;

/// Walks the trees of a profile, with its probing and without, all plans, so many faults for each.
/// `least_runs`: fewer mean that the explorer has not done its work.
fn walk(config: &Config, faults: u32, least_runs: u64) {
    let allowed = std::env::var("SKYHAUL_EXPLORE").ok().and_then(|n| n.parse().ok());
    let faults = allowed.unwrap_or(faults);
    let (mut runs, mut states) = (0, 0);
    for probing in [config.probing, None] {
        for plan in Plan::ALL {
            let config = Config { probing, ..config.clone() };
            let found = explore(&config, plan, faults);
            runs += found.runs;
            states += found.states;
        }
    }
    println!("{faults} faults: {runs} runs, {states} states");
    assert!(allowed.is_some() || runs >= least_runs, "only {runs} runs, {states} states");
}

#[test]
fn the_standard_profile_survives_every_pair_of_faults() {
    walk(&Config::standard(), 2, 8_000);
}

#[test]
fn the_standard_profile_with_a_declared_rate_survives_every_pair_of_faults() {
    walk(&Config { rate_bps: Some(200_000), ..Config::standard() }, 2, 8_000);
}

#[test]
fn the_profile_of_the_paper_survives_every_pair_of_faults() {
    walk(&Config::paper(), 2, 8_000);
}

#[test]
fn the_profile_of_the_paper_with_a_declared_rate_survives_every_pair_of_faults() {
    walk(&Config { rate_bps: Some(200_000), ..Config::paper() }, 2, 8_000);
}
