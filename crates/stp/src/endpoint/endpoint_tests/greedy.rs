//! Peers that ask for more work than they do: tiny packets, lists of many gaps, floods of POLLs.

use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{Connections, Engine, MS, NullSink, SECOND};

use super::bench::*;
use crate::Config;
use crate::segment::{Poll, Segment, Stat, decode};

/// Connection of A whose peer is the test: what A says next would have this form, and these numbers.
fn established() -> (Bench, Segment<'static>, Poll) {
    let (mut bench, _, opening) = Bench::opened(b"begin");
    let sent = decode(&opening).unwrap();
    let number = sent.number + 1;
    let names = Segment {
        source_port: sent.source_port,
        destination_port: sent.destination_port,
        number: number & 0xFF_FFFF,
        instance: sent.instance,
        ..Segment::default()
    };
    bench.log.clear();
    // Newer than all that A sent.
    let poll = Poll {
        timestamp: sent.poll.unwrap().timestamp.wrapping_add(1 << 30),
        next: number,
        ..Poll::default()
    };
    (bench, names, poll)
}

fn tell(bench: &mut Bench, names: &Segment<'static>, poll: Poll) {
    let poll = Poll { next: poll.next & 0xFF_FFFF, ..poll };
    bench.inject(Side::B, &Segment { poll: Some(poll), ..names.clone() });
}

/// STATs that B has to say now.
fn stats(bench: &mut Bench) -> Vec<Stat> {
    let (mut buffer, mut stats) = (Vec::new(), Vec::new());
    while let Some(sent) = bench.b.poll_transmit(bench.now, &mut buffer, 10, &mut NullSink) {
        stats.extend(buffer.chunks(sent.segment_bytes).filter_map(|bytes| decode(bytes).unwrap().stat));
    }
    stats
}

#[test]
fn a_list_of_all_that_a_hungry_peer_made_missing_is_told_in_bounded_parts() {
    let (mut bench, names, poll) = established();
    let gaps = 40_000;
    for i in 0..gaps {
        let number = (names.number + 1 + 2 * i) & 0xFF_FFFF;
        bench.inject(Side::B, &Segment { number, data: Some((b"x", b"")), ..names.clone() });
    }
    let asked = Poll { next: poll.next + 2 * gaps, ..poll };
    tell(&mut bench, &names, asked);
    let told = stats(&mut bench);
    assert_eq!(told.len(), 16, "more is left to the next STAT");
    let runs: Vec<usize> = told.iter().map(|stat| stat.report.runs.len()).collect();
    assert!(runs.iter().all(|runs| (760..=2 * 384).contains(runs)), "{runs:?}");
    assert!(told.iter().all(|stat| stat.report.more && stat.echo == poll.timestamp));
    let mut at = 0;
    for Stat { report, .. } in &told {
        assert_eq!(report.start, at, "each part goes on where the last one ended");
        assert!(report.runs.iter().all(|&run| run == 1));
        at += report.runs.len() as u32;
    }
    assert!(bench.b.stats(1).unwrap().refused > 0, "what would be one run too many was not taken");
}

#[test]
fn a_flood_of_polls_is_answered_by_the_newest_alone() {
    let (mut bench, names, poll) = established();
    for i in 0..1000 {
        tell(&mut bench, &names, Poll { timestamp: poll.timestamp.wrapping_add(i), ..poll });
    }
    let told = stats(&mut bench);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].echo, poll.timestamp.wrapping_add(999));
}

#[test]
fn polls_that_come_faster_than_they_may_be_answered_wait_for_a_stat_and_have_one_in_the_end() {
    let (mut bench, names, poll) = established();
    let (begun, mut told, mut newest) = (bench.now, Vec::new(), 0);
    for i in 0..40_000u32 {
        newest = poll.timestamp.wrapping_add(i);
        tell(&mut bench, &names, Poll { timestamp: newest, ..poll });
        told.extend(stats(&mut bench));
        bench.now = begun.after(u64::from(i) * SECOND / 40_000);
    }
    assert!((8000..=8400).contains(&told.len()), "{} STATs in a second", told.len());
    let due = bench.b.deadline().expect("the newest POLL is not answered yet");
    assert!(due > bench.now && due < bench.now.after(MS), "{due:?} at {:?}", bench.now);
    bench.now = due;
    bench.b.handle_timeout(due, &mut NullSink);
    let last = stats(&mut bench);
    assert_eq!(last.iter().map(|stat| stat.echo).collect::<Vec<_>>(), [newest]);
}

#[test]
fn a_peer_that_wants_tiny_packets_gets_no_more_of_them_than_others_do() {
    let mut bench = Bench::with(Config { max_payload_bytes: 1, ..Config::standard() }, 1);
    let id = bench.open();
    bench.a.write(id, &[1]).unwrap();
    bench.run(SECOND); // until then it is not known what the peer wants
    let before = bench.count(Side::A, "SD");
    bench.a.write(id, &vec![2; 100_000]).unwrap();
    bench.run(60 * SECOND);
    assert_eq!(bench.received(1).len(), 100_001);
    let packets = bench.count(Side::A, "SD") - before;
    assert!((100_000 / 128..900).contains(&packets), "{packets} packets");
}
