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

use common::dose::{Dose, caught, number};
use common::trace::LastEvents;
use shape::Shape;
use world::{Summary, run};

/// Seeds of the small dose.
const SMALL_DOSE: u64 = 300;

fn try_seed(seed: u64) -> Result<Summary, String> {
    run(&Shape::of(seed), LastEvents::from_environment())
}

#[test]
fn after_all_faults_every_byte_arrives_and_nothing_remains() {
    let mut total = Summary::default();
    for summary in (Dose { test: "swarm", seeds: SMALL_DOSE }).run(try_seed) {
        total.connections += summary.connections;
        total.failed += summary.failed;
        total.bytes += summary.bytes;
    }
    println!("{total:?}");
}

#[test]
fn replay() {
    let Some(seed) = number("SKYHAUL_SEED") else { return };
    println!("{:#?}", Shape::of(seed));
    let result = caught(seed, try_seed);
    println!("{result:?}");
    assert!(result.is_ok(), "{result:?}");
}
