//! Booking of a sender's time to what holds it back.

use alloc::boxed::Box;
use alloc::vec;

use skyhaul_core::{Connections, Limit, LimitTimes, MS, SECOND};

use super::bench::*;
use crate::Config;

const RATE_BPS: u64 = 10_000_000;

fn config() -> Config {
    Config { rate_bps: Some(RATE_BPS), ..Config::standard() }
}

/// Table of a connection of A that writes so many bytes at once and has this time.
fn played(bench: &mut Bench, config: Config, bytes: usize, ns: u64) -> LimitTimes {
    let id = bench.open_with(config);
    let begun = bench.now;
    bench.a.write(id, &vec![7; bytes]).unwrap();
    bench.run(ns);
    let limits = bench.a.stats(id).unwrap().limits.unwrap().until(bench.now);
    assert_eq!(limits.total_ns(), bench.now.since(begun), "no time is lost, and none is counted twice");
    limits
}

/// Asserts that the limit had between these times.
fn had(limits: &LimitTimes, limit: Limit, least_ns: u64, most_ns: u64) {
    let spent_ns = limits.spent_ns(limit);
    assert!((least_ns..=most_ns).contains(&spent_ns), "{limit:?}: {limits:?}");
}

#[test]
fn a_declared_rate_holds_until_all_has_left_and_the_answer_is_waited_for() {
    let limits = played(&mut Bench::new(), config(), 2_500_000, 4 * SECOND);
    had(&limits, Limit::Opening, RTT_NS - MS, RTT_NS + 20 * MS);
    had(&limits, Limit::DeclaredRate, 1_700 * MS, 2_000 * MS); // 2.06 s, less the opening
    had(&limits, Limit::Drained, RTT_NS - 50 * MS, RTT_NS + 50 * MS);
    had(&limits, Limit::Settled, SECOND, 2 * SECOND);
    had(&limits, Limit::Machine, 0, 0);
}

#[test]
fn a_reader_that_does_not_read_is_told_from_a_window_that_is_small() {
    let small = Config { receive_limit_bytes: 60_000, ..Config::standard() };
    let mut bench = Bench::with(small.clone(), 1);
    bench.reads = false;
    let limits = played(&mut bench, config(), 1_000_000, 5 * SECOND);
    had(&limits, Limit::PeerReader, 4 * SECOND, 5 * SECOND);
    let limits = played(&mut Bench::with(small, 1), config(), 1_000_000, 3 * SECOND);
    had(&limits, Limit::PeerWindow, 2 * SECOND, 3 * SECOND);
    had(&limits, Limit::PeerReader, 0, 300 * MS);
}

#[test]
fn repeats_take_the_time_of_new_packets() {
    let mut bench = Bench::new();
    let mut packets = 0;
    bench.drop = Box::new(move |from, segment| {
        packets += u32::from(from == Side::A && segment.data.is_some());
        from == Side::A && segment.data.is_some() && packets.is_multiple_of(2)
    });
    let limits = played(&mut bench, config(), 2_500_000, 3 * SECOND);
    // Every second one is more than a link damages: the rate is too high.
    had(&limits, Limit::Overflow, SECOND, 2 * SECOND);
    had(&limits, Limit::Losses, 0, 200 * MS);
}

#[test]
fn a_link_that_is_gone_is_an_outage_while_it_is_asked_and_when_it_is_back() {
    for (ns, is_back) in [(3 * SECOND, false), (6 * SECOND, true)] {
        let mut bench = Bench::new();
        let id = bench.open_with(config());
        bench.a.write(id, &vec![7; 4_000_000]).unwrap();
        bench.run(SECOND);
        bench.drop = Box::new(|_, _| true);
        bench.run(2 * SECOND);
        if is_back {
            bench.drop = Box::new(|_, _| false);
        }
        bench.run(ns - 3 * SECOND);
        let limits = bench.a.stats(id).unwrap().limits.unwrap().until(bench.now);
        had(&limits, Limit::Outage, 1_300 * MS, 2_400 * MS);
    }
}

#[test]
fn a_writer_who_waits_for_confirmations_waits_for_the_send_buffer() {
    let narrow = Config { send_limit_bytes: 30_000, send_limit_bdps: None, ..config() };
    let mut bench = Bench::new();
    let id = bench.open_with(narrow);
    for _ in 0..300 {
        bench.a.write(id, &vec![7; 60_000]).unwrap();
        bench.run(10 * MS);
    }
    let limits = bench.a.stats(id).unwrap().limits.unwrap().until(bench.now);
    had(&limits, Limit::SendBuffer, 2 * SECOND, 3 * SECOND);
}

#[test]
fn whoever_is_never_heard_held_the_opening_alone() {
    for is_refused in [false, true] {
        let mut bench = Bench::new();
        bench.drop = Box::new(move |_, _| !is_refused);
        let port = if is_refused { PORT + 1 } else { PORT };
        let id = bench.a.connect(bench.now, Side::B.address(), port, config(), true).unwrap();
        let begun = bench.now;
        bench.pump();
        bench.now = begun.after(300 * MS); // who reads says a first word, too
        bench.a.write(id, b"first word").unwrap();
        // A refused connection is looked at before the one that refused it is forgotten.
        bench.run(if is_refused { RTT_NS } else { 2 * SECOND });
        let limits = bench.a.stats(id).unwrap().limits.unwrap().until(bench.now);
        had(&limits, Limit::Unwritten, 300 * MS, 300 * MS);
        assert_eq!(limits.total_ns() - 300 * MS, limits.spent_ns(Limit::Opening), "{limits:?}");
        assert_eq!(limits.total_ns(), bench.now.since(begun));
    }
}
