//! A writer who decides late what goes next.

use alloc::vec;

use skyhaul_core::{Connections, MS, SECOND, StreamEvent};

use super::bench::*;
use crate::Config;

const LEAST_BYTES: usize = 128 << 10;
const MOST_BYTES: usize = 2 << 20;

fn config(rate_bps: u64) -> Config {
    Config { rate_bps: Some(rate_bps), unsent_limit_ns: Some(100 * MS), ..Config::standard() }
}

#[test]
fn what_waits_to_be_sent_is_what_leaves_in_a_moment() {
    for (rate_bps, expected) in
        [(1_000_000, LEAST_BYTES), (80_000_000, 1_000_000), (1_000_000_000, MOST_BYTES)]
    {
        let mut bench = Bench::new();
        let id = bench.open_with(config(rate_bps));
        assert_eq!(bench.a.write(id, &vec![1; 4_000_000]), Ok(expected), "{rate_bps}");
        assert_eq!(bench.a.write(id, &[1]), Ok(0));
    }
    let mut bench = Bench::new();
    let id = bench.open();
    assert_eq!(bench.a.write(id, &vec![1; 4_000_000]), Ok(4_000_000), "not where nobody asked for it");
}

#[test]
fn a_writer_is_woken_by_what_leaves_and_the_link_never_idles() {
    let mut bench = Bench::new();
    let id = bench.open_with(config(10_000_000));
    let (mut left, mut woken) = (5_000_000, 0);
    let data = vec![1; 1 << 20];
    let begun = bench.now;
    let taken = bench.a.write(id, &data).unwrap();
    left -= taken;
    while left > 0 {
        bench.events.clear();
        bench.run(10 * MS);
        if bench.heard(Side::A, StreamEvent::Writable) {
            woken += 1;
            let room = bench.a.writable_bytes(id) as usize;
            assert!(room >= LEAST_BYTES / 2 - 20_000, "half of it has left: {room}");
            left -= bench.a.write(id, &data[..left.min(data.len())]).unwrap();
        }
    }
    assert!(woken > 50, "{woken}");
    bench.a.finish(id);
    bench.run(2 * RTT_NS);
    assert_eq!(bench.received(1).len(), 5_000_000);
    // 40 Mbit with their headers, the rest of a step, and the wait for the answers.
    let most_ns = 42 * SECOND / 10 + 2 * RTT_NS;
    assert!(bench.now.since(begun) <= most_ns, "{}", bench.now.since(begun));
}

#[test]
fn what_is_dropped_late_was_never_sent() {
    let mut bench = Bench::new();
    let id = bench.open_with(config(10_000_000));
    let taken = bench.a.write(id, &vec![1; 50_000_000]).unwrap();
    bench.run(RTT_NS); // the answer: nothing of it is wanted; the writer writes nothing more
    bench.a.finish(id);
    bench.run(5 * SECOND);
    assert_eq!(bench.received(1).len(), taken);
    assert!(taken <= LEAST_BYTES, "{taken}");
}
