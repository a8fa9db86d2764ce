//! Connections that share the rate of their path.

use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{ConnectionId, Connections, MS, SECOND, Weight};

use super::bench::*;
use crate::Config;

const RATE_BPS: u64 = 2_000_000;

fn declared() -> Config {
    Config { rate_bps: Some(RATE_BPS), ..Config::standard() }
}

/// A connection that has something to send for a minute.
fn bulk(bench: &mut Bench, config: Config) -> ConnectionId {
    let id = bench.open_with(Config { send_limit_bytes: 64 << 20, send_limit_bdps: None, ..config });
    let data = vec![7; 15_000_000];
    assert_eq!(bench.a.write(id, &data).unwrap(), data.len());
    id
}

/// Octets that arrive in order on each from the tenth to the fortieth second.
fn arrived(bench: &mut Bench, ids: &[ConnectionId]) -> Vec<f64> {
    let count = |bench: &Bench| ids.iter().map(|&id| bench.received(id).len()).collect::<Vec<_>>();
    bench.run(10 * SECOND);
    let before = count(bench);
    bench.run(30 * SECOND);
    count(bench).iter().zip(before).map(|(now, before)| (now - before) as f64).collect()
}

/// A connection whose path carries [`RATE_BPS`] from the first report on, by a controller that is told so.
fn measured(min_rate_bps: Option<u64>, max_rate_bps: Option<u64>) -> Config {
    let controller = super::own_controllers::steady(RATE_BPS);
    Config { min_rate_bps, max_rate_bps, controller, ..Config::standard() }
}

fn are_equal(arrived: &[f64], within: f64) -> bool {
    let mean = arrived.iter().sum::<f64>() / arrived.len() as f64;
    arrived.iter().all(|one| (one / mean - 1.0).abs() <= within)
}

#[test]
fn small_packets_bring_no_less_than_large_ones() {
    let mut bench = Bench::new();
    let small = bulk(&mut bench, Config { max_payload_bytes: 300, ..declared() });
    let large = bulk(&mut bench, declared());
    let arrived = arrived(&mut bench, &[small, large]);
    // Of equal octets on the wire, headers take more of the small ones.
    assert!((0.8..=1.0).contains(&(arrived[0] / arrived[1])), "{arrived:?}");
}

/// POLLs leave when they are due, whatever the pace, and each shifts the moment of the next packet. When
/// turns went by the order in which connections had begun to wait for that moment, one that had asked was
/// before those whose turn it was: as often as phases had it, so that of these eight one got twice as much as
/// another.
#[test]
fn who_asks_takes_no_turn_from_others() {
    let mut bench = Bench::new();
    let ids: Vec<ConnectionId> = (0..8)
        .map(|_| {
            bench.run(130 * MS);
            bulk(&mut bench, declared())
        })
        .collect();
    let arrived = arrived(&mut bench, &ids);
    assert!(are_equal(&arrived, 0.03), "{arrived:?}");
}

#[test]
fn a_weight_of_three_brings_three_times_as_much_and_can_be_changed() {
    let mut bench = Bench::new();
    let ids = [bulk(&mut bench, declared()), bulk(&mut bench, declared())];
    bench.a.set_weight(ids[1], Weight::new(3).unwrap());
    let ratio = |arrived: &[f64]| arrived[1] / arrived[0];
    let heavy = arrived(&mut bench, &ids);
    assert!((ratio(&heavy) / 3.0 - 1.0).abs() < 0.03, "{heavy:?}");
    bench.a.set_weight(ids[0], Weight::new(3).unwrap());
    let equal = arrived(&mut bench, &ids);
    assert!((ratio(&equal) - 1.0).abs() < 0.03, "{equal:?}");
    bench.a.set_weight(99, Weight::ONE); // of none: nothing happens
}

/// How long 10 kB take over a connection of their own.
fn exchange_ns(bench: &mut Bench) -> u64 {
    let (id, start) = (bench.open_with(declared()), bench.now);
    bench.a.write(id, &[1; 10_000]).unwrap();
    bench.a.finish(id);
    while bench.received(id).len() < 10_000 {
        assert!(bench.now.since(start) < 60 * SECOND);
        bench.run(MS);
    }
    bench.now.since(start)
}

#[test]
fn a_short_connection_is_not_stuck_behind_long_ones() {
    let alone_ns = exchange_ns(&mut Bench::new());
    let mut bench = Bench::new();
    for _ in 0..4 {
        bulk(&mut bench, declared());
    }
    bench.run(5 * SECOND);
    let beside_ns = exchange_ns(&mut bench);
    // Its octets take five times as long where four others get as many; no queue is in front of it.
    let octets_ns = 10_000 * 8 * SECOND / RATE_BPS;
    assert!(beside_ns < alone_ns + 5 * octets_ns, "{beside_ns} ns, alone {alone_ns} ns");
}

/// Payload in bit/s of each, in 30 s.
fn rates(bench: &mut Bench, ids: &[ConnectionId]) -> Vec<f64> {
    arrived(bench, ids).iter().map(|octets| octets * 8.0 / 30.0).collect()
}

#[test]
fn a_cap_lowers_its_own_share_and_leaves_the_rest_to_others() {
    let mut bench = Bench::new();
    let capped = bulk(&mut bench, measured(None, Some(RATE_BPS / 10)));
    let other_cap = bulk(&mut bench, measured(None, Some(RATE_BPS / 4)));
    let free = bulk(&mut bench, measured(None, None));
    let rates = rates(&mut bench, &[capped, other_cap, free]);
    let parts: Vec<f64> = rates.iter().map(|rate| rate / RATE_BPS as f64).collect();
    assert!((0.09..=0.1).contains(&parts[0]), "{parts:?}");
    assert!((0.22..=0.25).contains(&parts[1]), "{parts:?}");
    assert!((0.6..=0.65).contains(&parts[2]), "{parts:?}");
}

#[test]
fn a_cap_alone_on_its_path_is_the_rate() {
    let mut bench = Bench::new();
    let alone = bulk(&mut bench, measured(None, Some(RATE_BPS / 4)));
    let rate_bps = rates(&mut bench, &[alone])[0];
    assert!((0.95..=1.0).contains(&(rate_bps * 4.0 / RATE_BPS as f64)), "{rate_bps}");
}

#[test]
fn a_lowest_rate_holds_nobody_back() {
    let mut bench = Bench::new();
    let eager = bulk(&mut bench, measured(Some(2 * RATE_BPS), None));
    let plain = bulk(&mut bench, measured(None, None));
    let rates = rates(&mut bench, &[eager, plain]);
    assert!(rates.iter().all(|rate| *rate > 0.9 * RATE_BPS as f64), "{rates:?}");
}
