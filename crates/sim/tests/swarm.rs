//! Swarm: the seed picks the shape of a run of two hosts that speak STP, or TCP; faults come first, then the
//! link heals, then every byte must have arrived once and in order, every connection must close cleanly, and
//! nothing may remain.
//!
//! `scps::` is TCP once more, with SCPS-TP offered by most ends.
//!
//! `explicit::` is STP once more, where most ends ask routers for a rate, and most links have one.
//!
//! `attacked::` is STP once more, beside a third party that talks to both until the link heals.
//!
//! `SKYHAUL_SWARM=N` runs N seeds (from `SKYHAUL_SWARM_FROM` on) instead of a small dose;
//! `SKYHAUL_SEED=S cargo test -p skyhaul-sim --test swarm tcp::replay -- --nocapture` runs one, with
//! `SKYHAUL_TRACE=N` it prints the last N events. `stp::` and `tcp::` alone pick one of the two.

#[path = "swarm/air.rs"]
mod air;
mod common;
#[path = "swarm/faults.rs"]
mod faults;
#[path = "swarm/hostile.rs"]
mod hostile;
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

/// Shape of a seed's run.
type Shaped = fn(u64) -> Shape;

fn try_seed(shape: Shaped, seed: u64) -> Result<Summary, String> {
    run(&shape(seed), LastEvents::from_environment())
}

fn run_all(shape: Shaped, dose: Dose) -> Summary {
    let mut total = Summary::default();
    for summary in dose.run(|seed| try_seed(shape, seed)) {
        total.connections += summary.connections;
        total.failed += summary.failed;
        total.bytes += summary.bytes;
        total.lies += summary.lies;
        total.strangers += summary.strangers;
    }
    println!("{total:?}");
    total
}

fn replay(shape: Shaped) {
    let Some(seed) = number("SKYHAUL_SEED") else { return };
    println!("{:#?}", shape(seed));
    let result = caught(seed, |seed| try_seed(shape, seed));
    println!("{result:?}");
    assert!(result.is_ok(), "{result:?}");
}

mod stp {
    use super::{Dose, Family, Shape};

    fn shape(seed: u64) -> Shape {
        Shape::of(Family::Stp, seed)
    }

    #[test]
    fn after_all_faults_every_byte_arrives_and_nothing_remains() {
        super::run_all(shape, Dose { test: "swarm stp::replay", seeds: 300 });
    }

    #[test]
    fn replay() {
        super::replay(shape);
    }
}

mod attacked {
    use super::{Dose, Shape};

    #[test]
    fn beside_a_hostile_third_party_every_byte_arrives_once_and_nothing_remains() {
        let total = super::run_all(Shape::attacked, Dose { test: "swarm attacked::replay", seeds: 60 });
        assert!(total.lies > 0 && total.strangers > 0, "nobody attacked: {total:?}");
    }

    #[test]
    fn replay() {
        super::replay(Shape::attacked);
    }
}

mod explicit {
    use super::{Dose, Shape};

    #[test]
    fn after_all_faults_what_asked_routers_has_arrived_and_nothing_remains() {
        super::run_all(Shape::explicit, Dose { test: "swarm explicit::replay", seeds: 150 });
    }

    #[test]
    fn replay() {
        super::replay(Shape::explicit);
    }
}

mod scps {
    use super::{Dose, Shape};

    #[test]
    fn after_all_faults_scps_tp_has_delivered_every_byte_and_nothing_remains() {
        super::run_all(Shape::scps, Dose { test: "swarm scps::replay", seeds: 200 });
    }

    /// Seeds of large doses: a probe of the tail that the pace holds back, a round trip that becomes known
    /// when its probe is late, and a hole that is asked for without end on a path that takes no such packet.
    #[test]
    fn probes_held_back_or_late_and_holes_that_nothing_fills() {
        for seed in [589, 645, 1436, 1791] {
            super::try_seed(Shape::scps, seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }

    /// A SYN on the ports of a connection that the peer has aborted, and that is still there at this end: it
    /// is refused, and what the old one may send stays what its own peer allowed.
    #[test]
    fn a_refused_syn_says_nothing_of_the_connection_that_is_there() {
        super::try_seed(Shape::scps, 7140).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn replay() {
        super::replay(Shape::scps);
    }
}

mod tcp {
    use super::{Dose, Family, Shape};

    fn shape(seed: u64) -> Shape {
        Shape::of(Family::Tcp, seed)
    }

    #[test]
    fn after_all_faults_tcp_has_delivered_every_byte_and_nothing_remains() {
        super::run_all(shape, Dose { test: "swarm tcp::replay", seeds: 300 });
    }

    #[test]
    fn replay() {
        super::replay(shape);
    }
}
