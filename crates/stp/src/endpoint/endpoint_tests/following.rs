//! A connection that goes by the measured rate of its path: what it needs of its peer.

use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{ConnectionId, Connections, MS, SECOND};

use super::bench::*;
use crate::Config;
use crate::segment::{Segment, decode, encode};

/// Runs with the STATs that A gets changed on their way. `change` makes the same of what it has changed
/// before.
fn run_with(bench: &mut Bench, ns: u64, change: impl Fn(&mut Segment<'_>)) {
    for _ in 0..ns / MS {
        bench.run(MS);
        for flight in bench.wire.iter_mut().filter(|flight| flight.to == Side::A) {
            let mut segment = decode(&flight.bytes).unwrap();
            change(&mut segment);
            let mut bytes = Vec::new();
            encode(&segment, &mut bytes);
            flight.bytes = bytes;
        }
    }
}

fn transfer(change: impl Fn(&mut Segment<'_>)) -> (Bench, ConnectionId) {
    let mut bench = Bench::new();
    let id = bench.open_with(Config::standard());
    let data = vec![7; 300_000];
    assert_eq!(bench.a.write(id, &data).unwrap(), data.len());
    bench.a.finish(id);
    run_with(&mut bench, 60 * SECOND, change);
    assert_eq!(bench.received(1), data);
    (bench, id)
}

/// Its controller, and whether something was refused as absurd, before it has ended. What the path's model
/// had decided is gone with the model.
fn after_a_while(change: impl Fn(&mut Segment<'_>)) -> (&'static str, bool) {
    let mut bench = Bench::new();
    let id = bench.open_with(Config::standard());
    bench.a.write(id, &vec![7; 2_000_000]).unwrap();
    run_with(&mut bench, 6 * RTT_NS, change);
    let stats = bench.a.stats(id).unwrap();
    let (_, path) = bench.a.0.get_mut(id).unwrap();
    assert_eq!(
        (path.is_measured(), path.grant().is_some()),
        (stats.controller == "model", stats.controller == "model")
    );
    (stats.controller, stats.refused > 0)
}

#[test]
fn a_peer_that_tells_when_what_arrived_gets_the_rate_of_the_path() {
    assert_eq!(after_a_while(|_| ()), ("model", false));
    transfer(|_| ());
}

#[test]
fn a_peer_without_timing_gets_a_window() {
    let silent = |segment: &mut Segment<'_>| {
        if let Some(stat) = &mut segment.stat {
            stat.timing = None;
        }
    };
    assert_eq!(after_a_while(silent), ("slow-start-avoidance", true));
    transfer(silent);
}

#[test]
fn a_clock_that_cannot_be_is_believed_three_times_at_most() {
    let backwards = |segment: &mut Segment<'_>| {
        if let Some(stat) = &mut segment.stat
            && let Some(timing) = &mut stat.timing
        {
            timing.clock = 0u32.wrapping_sub(stat.echo);
        }
    };
    assert_eq!(after_a_while(backwards), ("slow-start-avoidance", true));
    transfer(backwards);
}

#[test]
fn a_count_that_runs_back_is_believed_three_times_at_most() {
    let fewer = |segment: &mut Segment<'_>| {
        if let Some(stat) = &mut segment.stat
            && let Some(timing) = &mut stat.timing
        {
            timing.octets = 0u32.wrapping_sub(stat.echo);
        }
    };
    assert_eq!(after_a_while(fewer), ("slow-start-avoidance", true));
    transfer(fewer);
}

#[test]
fn a_rate_that_is_declared_later_is_not_overruled_by_the_measured_one() {
    let mut bench = Bench::new();
    let measured = bench.open_with(Config::standard());
    bench.a.write(measured, &vec![7; 4_000_000]).unwrap();
    bench.run(4 * RTT_NS);
    assert_eq!(bench.a.stats(measured).unwrap().controller, "model");
    let before = bench.a.stats(measured).unwrap().sent_bytes;
    let declared = bench.open_with(Config { rate_bps: Some(1_000_000), ..Config::standard() });
    bench.a.write(declared, &vec![1; 900_000]).unwrap();
    bench.run(8 * SECOND);
    assert_eq!(bench.a.stats(measured).unwrap().controller, "slow-start-avoidance");
    let sent =
        bench.a.stats(measured).unwrap().sent_bytes - before + bench.a.stats(declared).unwrap().sent_bytes;
    assert!(sent <= 1_050_000, "{sent} bytes in 8 s at 1 Mbit/s");
}
