//! Answers to strangers are bounded in time, and newcomers have theirs all the same.

use alloc::vec::Vec;

use skyhaul_core::{Connections, Engine, MS, NullSink, SECOND};

use super::bench::*;
use super::places::{forged, hear, of, stranger};
use crate::segment::{Poll, Segment};

/// Segments of strangers a millisecond.
const FLOOD: u32 = 40;

/// Runs while strangers open 40,000 times a second, each at another address.
fn run_in_flood(bench: &mut Bench, ns: u64) {
    let until = bench.now.after(ns);
    while bench.now < until {
        let first = 1000 + (bench.now.as_ns() / MS) as u32 * FLOOD;
        for number in first..first + FLOOD {
            hear(bench, stranger(number), &forged(number));
        }
        bench.run(MS);
    }
}

#[test]
fn newcomers_get_in_within_5_s_beside_40_000_openings_a_second_most_of_which_have_no_answer() {
    for rtt_ms in [1, 51, 600] {
        let mut bench = of(100, 8);
        bench.delay_ns = rtt_ms * MS / 2;
        run_in_flood(&mut bench, SECOND);
        let id = bench.open();
        bench.a.write(id, &[7; 10_000]).unwrap();
        run_in_flood(&mut bench, 5 * SECOND);
        let newcomer = (1..=20).find(|&id| bench.b.is_proven(id));
        let newcomer = newcomer.unwrap_or_else(|| panic!("{rtt_ms} ms: {:?}", bench.states(id)));
        assert_eq!(bench.received(newcomer), [7; 10_000], "{rtt_ms} ms");
        let stats = bench.b.endpoint_stats();
        // 240,000 openings: 4000 a second have an answer, and few others by mistake.
        assert!((24_000..50_000).contains(&stats.cookies_sent), "{} cookies", stats.cookies_sent);
        assert!(stats.cookies_sent + stats.unanswered > 239_000, "{} unanswered", stats.unanswered);
    }
}

#[test]
fn strangers_hear_a_thousand_times_a_second_that_there_is_nothing() {
    let mut bench = Bench::new();
    bench.run(SECOND);
    let (mut answers, mut buffer) = (0, Vec::new());
    for number in 0..40_000 {
        bench.now = bench.now.after(SECOND / 40_000);
        let segment = match number % 3 {
            0 => Segment { poll: Some(Poll::default()), bgn: None, ..forged(number) },
            1 => Segment { data: Some((b"x", b"")), bgn: None, ..forged(number) },
            _ => Segment { destination_port: 77, ..forged(number) },
        };
        hear(&mut bench, stranger(number), &segment);
        while bench.b.poll_transmit(bench.now, &mut buffer, 1, &mut NullSink).is_some() {
            answers += 1;
        }
    }
    assert!((1000..1100).contains(&answers), "{answers} in a second");
    assert_eq!(bench.b.endpoint_stats().unanswered + answers, 40_000);
}
