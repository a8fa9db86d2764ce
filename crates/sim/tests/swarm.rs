//! Swarm: the seed picks the shape of a run; faults come first, then the link heals, then every byte
//! must have arrived once and in order, every connection must close cleanly, and nothing may remain.
//!
//! `SKYHAUL_SWARM=N` runs N seeds (from `SKYHAUL_SWARM_FROM` on) instead of a small dose;
//! `SKYHAUL_SEED=S cargo test -p skyhaul-sim --test swarm replay -- --nocapture` runs one, with
//! `SKYHAUL_TRACE=N` it prints the last N events.

#[path = "swarm/air.rs"]
mod air;
mod common;
#[path = "swarm/shape.rs"]
mod shape;
#[path = "swarm/talker.rs"]
mod talker;
#[path = "swarm/watch.rs"]
mod watch;
#[path = "swarm/world.rs"]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::trace::LastEvents;
use shape::Shape;
use world::{Summary, run};

/// Seeds of the small dose.
const SMALL_DOSE: u64 = 300;
/// Failures after which a dose ends.
const MAX_FAILURES: usize = 20;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs a seed; a panic of the engine is a failure like any other.
fn try_seed(seed: u64) -> Result<Summary, String> {
    let run = || run(&Shape::of(seed), LastEvents::from_environment());
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

#[test]
fn after_all_faults_every_byte_arrives_and_nothing_remains() {
    let seeds = number("SKYHAUL_SWARM").unwrap_or(SMALL_DOSE);
    let from = number("SKYHAUL_SWARM_FROM").unwrap_or(1);
    let mut failures = Vec::new();
    let mut total = Summary::default();
    for seed in from..from + seeds {
        match try_seed(seed) {
            Ok(summary) => {
                total.connections += summary.connections;
                total.failed += summary.failed;
                total.bytes += summary.bytes;
            }
            Err(why) => failures.push(format!(
                "seed {seed}: {}\n  replay: SKYHAUL_SEED={seed} cargo test -p skyhaul-sim --test swarm replay -- --nocapture",
                why.lines().next().unwrap_or_default()
            )),
        }
        if failures.len() >= MAX_FAILURES {
            break;
        }
    }
    println!("{seeds} seeds: {total:?}");
    assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn replay() {
    let Some(seed) = number("SKYHAUL_SEED") else { return };
    println!("{:#?}", Shape::of(seed));
    let result = try_seed(seed);
    println!("{result:?}");
    assert!(result.is_ok(), "{result:?}");
}
