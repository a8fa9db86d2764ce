//! Swarm over whole networks: the seed picks topology, links, faults, relays, routers that send signals,
//! transports' parameters and workloads; faults come first, then every link heals, then every byte must have
//! arrived once and in order, every connection must close, and nothing may remain at any host.
//!
//! `SKYHAUL_SWARM=N` runs N seeds (from `SKYHAUL_SWARM_FROM` on) instead of a small dose;
//! `SKYHAUL_SEED=S cargo test -p skyhaul-sim --test network_swarm replay -- --nocapture` runs one, with
//! `SKYHAUL_TRACE=N` it prints the last N events.

mod common;
#[path = "swarm/faults.rs"]
mod faults;
#[path = "network_swarm/layout.rs"]
mod layout;
#[path = "network_swarm/relays.rs"]
mod relays;
#[path = "network_swarm/run.rs"]
mod run;
#[path = "network_swarm/signals.rs"]
mod signals;
#[path = "swarm/stp_config.rs"]
mod stp_config;
#[allow(dead_code, reason = "some parameters are for a pair of hosts")]
#[path = "swarm/tcp_config.rs"]
mod tcp_config;

use common::dose::{Dose, number};
use common::trace::LastEvents;
use layout::Layout;
use run::run;
use skyhaul_scenario::{Flow, Protocol as _};
use skyhaul_sim::SCPS_TP;

/// Seeds of the small dose.
const SMALL_DOSE: u64 = 150;

fn try_seed(seed: u64) -> Result<u64, String> {
    run(&Layout::of(seed), LastEvents::from_environment())
}

#[test]
fn in_any_network_after_all_faults_every_byte_arrives_and_nothing_remains() {
    let bytes = Dose { test: "network_swarm replay", seeds: SMALL_DOSE }.run(try_seed);
    println!("{} bytes delivered", bytes.iter().sum::<u64>());
}

/// Runs the layout of a seed within the limit of time.
fn assert_ends(seed: u64) {
    let result = common::dose::guarded(seed, "network_swarm replay", || try_seed(seed));
    assert!(result.is_ok(), "{result:?}");
}

/// So that no later choice takes them out of what the seeds pick.
#[test]
fn routers_that_send_signals_stand_beside_flows_of_scps_tp() {
    let has_both = |seed: &u64| {
        let scenario = Layout::of(*seed).scenario;
        let by_scps = |flow: &Flow| flow.transport.opener.protocol().name() == SCPS_TP.name();
        scenario.nodes.iter().any(|node| node.signals.is_some()) && scenario.flows.iter().any(by_scps)
    };
    let count = (0..SMALL_DOSE).filter(has_both).count();
    assert!(count >= 40, "{count} of {SMALL_DOSE}");
}

/// Writers that are faster than their links and make a chunk every 0.5 to 4 us: they ran for minutes while
/// they woke up for each, although nothing fitted.
#[test]
fn blocked_paced_writers_do_not_wake_for_each_chunk() {
    for seed in [7_702_298, 7_701_913] {
        assert_ends(seed);
    }
}

/// Two connections that had not heard of a rate of 7 kbit/s sent 19 000 packets of an octet at once. The path
/// was charged with them, and nobody sent anything for half an hour.
#[test]
fn a_rate_that_one_connection_found_holds_for_the_others_at_once() {
    assert_ends(910_279);
}

/// Four connections of SCPS-TP over 3 kbit/s, whose losses are damage, knew no round trip, which was longer
/// than their timers: what had arrived went again for ever.
#[test]
fn a_round_trip_longer_than_the_timer_becomes_known_though_losses_are_damage() {
    assert_ends(1036);
}

/// Routers told hosts that had answered an opening of SCPS-TP of an outage, and the answers went no more.
#[test]
fn word_of_an_outage_stops_no_answer_to_an_opening() {
    assert_ends(21_935);
}

/// Four connections of STP at a link that carries a packet each 0.6 s, with a queue without end: each probed
/// eight times a round trip as it had been once, and the round trip was hours before one of them knew.
#[test]
fn probes_of_several_connections_do_not_fill_a_queue_for_hours() {
    assert_ends(20_148);
}

/// A link with room for two packets carried every other probe, so that no two neighbours were answered.
#[test]
fn probes_that_are_half_lost_for_their_own_number_become_fewer() {
    assert_ends(20_687);
}

/// Relays that stop a sender of STPP for a second behind every 24 octets. Its questions took 20 s of the
/// rate.
#[test]
fn questions_of_a_stopped_sender_do_not_hold_up_what_it_sends() {
    assert_ends(1763);
}

#[test]
fn replay() {
    let Some(seed) = number("SKYHAUL_SEED") else { return };
    println!("{:#?}", Layout::of(seed).scenario);
    let replayed = || common::dose::caught(seed, try_seed);
    let result = common::dose::guarded(seed, "network_swarm replay", replayed);
    println!("{result:?}");
    assert!(result.is_ok(), "{result:?}");
}
