//! Swarm: the seed picks the shape of a run of two hosts that speak STP, or TCP; faults come first, then the
//! link heals, then every byte must have arrived once and in order, every connection must close cleanly, and
//! nothing may remain.
//!
//! `SKYHAUL_SWARM=N` runs N seeds (from `SKYHAUL_SWARM_FROM` on) instead of a small dose;
//! `SKYHAUL_SEED=S cargo test -p skyhaul-sim --test swarm tcp::replay -- --nocapture` runs one, with
//! `SKYHAUL_TRACE=N` it prints the last N events. `stp::` and `tcp::` alone pick one of the two.

#[path = "swarm/air.rs"]
mod air;
mod common;
#[path = "swarm/faults.rs"]
mod faults;
#[path = "swarm/hosts.rs"]
mod hosts;
#[path = "swarm/judge.rs"]
mod judge;
#[path = "swarm/shape.rs"]
mod shape;
#[path = "swarm/stp_config.rs"]
mod stp_config;
#[path = "swarm/talker.rs"]
mod talker;
#[path = "swarm/tcp_config.rs"]
mod tcp_config;
#[path = "swarm/watch/mod.rs"]
mod watch;
#[path = "swarm/world.rs"]
mod world;

use common::dose::{Dose, caught, number};
use common::family::Family;
use common::trace::LastEvents;
use shape::Shape;
use world::{Summary, run};

fn try_seed(protocol: Family, seed: u64) -> Result<Summary, String> {
    run(&Shape::of(protocol, seed), LastEvents::from_environment())
}

fn run_all(protocol: Family, dose: Dose) {
    let mut total = Summary::default();
    for summary in dose.run(|seed| try_seed(protocol, seed)) {
        total.connections += summary.connections;
        total.failed += summary.failed;
        total.bytes += summary.bytes;
    }
    println!("{protocol:?} {total:?}");
}

fn replay(protocol: Family) {
    let Some(seed) = number("SKYHAUL_SEED") else { return };
    println!("{:#?}", Shape::of(protocol, seed));
    let result = caught(seed, |seed| try_seed(protocol, seed));
    println!("{result:?}");
    assert!(result.is_ok(), "{result:?}");
}

mod stp {
    use super::{Dose, Family};

    #[test]
    fn after_all_faults_every_byte_arrives_and_nothing_remains() {
        super::run_all(Family::Stp, Dose { test: "swarm stp::replay", seeds: 300 });
    }

    #[test]
    fn replay() {
        super::replay(Family::Stp);
    }
}

mod tcp {
    use super::{Dose, Family};

    #[test]
    fn after_all_faults_tcp_has_delivered_every_byte_and_nothing_remains() {
        super::run_all(Family::Tcp, Dose { test: "swarm tcp::replay", seeds: 300 });
    }

    #[test]
    fn replay() {
        super::replay(Family::Tcp);
    }
}
