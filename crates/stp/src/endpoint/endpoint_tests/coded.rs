//! The coded tail between two endpoints.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{Connections, MS, SECOND};

use super::bench::*;
use crate::Config;
use crate::segment::{Block, Segment, decode};

const PACKETS: usize = 300;

fn config() -> Config {
    Config { rate_bps: Some(4_000_000), ..Config::standard() }
}

/// A transfer of 300 full packets to an end with `accept`, of which `drops` says what gets lost: (segment of
/// A, how many of its kind came before it).
fn transfer(accept: Config, drops: impl Fn(&Segment<'_>, usize) -> bool + 'static) -> Bench {
    let mut bench = Bench::with(accept, 1);
    let mut counts = [0; 256];
    bench.drop = Box::new(move |side, segment| {
        let kind = usize::from(segment.type_bits() & !crate::segment::types::POLL);
        counts[kind] += usize::from(side == Side::A);
        side == Side::A && drops(segment, counts[kind] - 1)
    });
    let id = bench.open_with(config());
    let data: Vec<u8> = (0..PACKETS * 1400).map(|i| (i * 7) as u8).collect();
    assert_eq!(bench.a.write(id, &data).unwrap(), data.len());
    bench.a.finish(id);
    bench.run(20 * SECOND);
    assert!(bench.received(1) == data, "{} bytes", bench.received(1).len());
    bench
}

/// Every tenth SD is lost.
fn is_tenth(segment: &Segment<'_>, count: usize) -> bool {
    segment.data.is_some() && count % 10 == 9
}

fn last_arrival_ms(bench: &Bench) -> u64 {
    bench
        .log
        .iter()
        .filter(|(_, side, names)| *side == Side::A && names == "REPAIR")
        .map(|(ms, ..)| *ms)
        .max()
        .unwrap_or(0)
}

#[test]
fn a_lossy_tail_comes_back_without_knowing_what_was_lost() {
    let bench = transfer(config(), is_tenth);
    let stats = bench.a.stats(1).unwrap();
    assert_eq!(stats.idle_repeats, 0);
    assert!((5..40).contains(&stats.repair_packets), "{}", stats.repair_packets);
    assert!(stats.repair_bytes > 1400 * stats.repair_packets);
    assert_eq!(stats.repair_packets, bench.count(Side::A, "REPAIR") as u64);
    let last_new =
        bench.log.iter().filter(|(_, _, names)| names.starts_with("SD")).map(|(ms, ..)| *ms).max().unwrap();
    assert!(last_arrival_ms(&bench) < last_new + RTT_NS / 1_000_000, "symbols do not wait for a report");
}

#[test]
fn a_link_that_lost_nothing_pays_nothing() {
    let bench = transfer(config(), |_, _| false);
    assert_eq!(bench.count(Side::A, "BLOCK") + bench.count(Side::A, "REPAIR"), 0);
}

#[test]
fn a_peer_that_does_not_offer_it_gets_idle_repeats() {
    let bench = transfer(Config { coded_tail: false, ..config() }, is_tenth);
    assert_eq!(bench.count(Side::A, "BLOCK") + bench.count(Side::A, "REPAIR"), 0);
    assert!(bench.a.stats(1).unwrap().idle_repeats > 0);
}

#[test]
fn a_lost_block_is_said_again_and_its_symbols_wait() {
    let bench = transfer(config(), |segment, count| {
        is_tenth(segment, count) || segment.block.is_some() && count == 0
    });
    assert_eq!(bench.count(Side::A, "BLOCK"), 1 + blocks_when_heard());
    let symbols = bench.a.stats(1).unwrap().repair_packets;
    assert!(symbols < 40, "{symbols}");
}

/// BLOCKs that leave before the answer to the first.
fn blocks_when_heard() -> usize {
    transfer(config(), is_tenth).count(Side::A, "BLOCK")
}

#[test]
fn without_any_symbol_getting_through_plain_repeats_finish() {
    let bench = transfer(config(), |segment, count| is_tenth(segment, count) || segment.repair.is_some());
    let stats = bench.a.stats(1).unwrap();
    assert!(stats.repair_packets < 2 * PACKETS as u64 + 16, "{}", stats.repair_packets);
}

#[test]
fn without_any_block_getting_through_plain_repeats_finish() {
    let bench = transfer(config(), |segment, count| is_tenth(segment, count) || segment.block.is_some());
    assert!(bench.count(Side::A, "BLOCK") <= 16);
}

#[test]
fn a_receiver_with_less_memory_than_the_block_says_no() {
    let accept = Config { receive_limit_bytes: 60_000, ..config() };
    let bench = transfer(accept, is_tenth);
    assert!(bench.a.stats(1).unwrap().retransmitted_packets > 0);
}

/// At the lower rate a POLL takes longer than the interval of POLLs.
#[test]
fn polls_do_not_use_up_a_low_rate_while_symbols_wait() {
    let config = Config { rate_bps: Some(1_000_000), max_payload_bytes: 10, ..config() };
    let mut bench = Bench::with(config.clone(), 1);
    bench.delay_ns = DELAY_NS / 10;
    let mut count = 0;
    bench.drop = Box::new(move |side, segment| {
        count += usize::from(side == Side::A && segment.data.is_some());
        side == Side::A && segment.data.is_some() && count % 3 == 0
    });
    let id = bench.open_with(config.clone());
    bench.a.write(id, &[1; 900]).unwrap();
    bench.a.finish(id);
    bench.run(45 * MS);
    bench.open_with(Config { rate_bps: Some(2000), ..config });
    bench.run(60 * SECOND);
    assert!(bench.count(Side::A, "REPAIR") > 10, "{:?}", bench.a.stats(id));
    assert_eq!(bench.received(1).len(), 900);
}

#[test]
fn new_data_goes_before_symbols() {
    let mut bench = Bench::with(config(), 1);
    let mut count = 0;
    bench.drop = Box::new(move |side, segment| {
        count += usize::from(side == Side::A && segment.data.is_some());
        is_tenth(segment, count)
    });
    let id = bench.open_with(config());
    let mut written = 0;
    for _ in 0..200 {
        // Always a little more than leaves: the buffer is never empty.
        while bench.a.writable_bytes(id) > 0 && written < 2_000_000 {
            written += bench.a.write(id, &vec![5; 100_000]).unwrap();
        }
        bench.run(SECOND / 100);
    }
    assert_eq!(bench.count(Side::A, "REPAIR"), 0);
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1).len(), written);
}

#[test]
fn a_block_does_not_hold_its_packets_back_when_new_data_waits_for_the_window_that_they_keep_closed() {
    let mut bench = Bench::with(Config { receive_limit_bytes: 20_000, ..config() }, 1);
    let mut numbers = Vec::new();
    bench.drop = Box::new(move |side, segment| {
        if side == Side::A && segment.data.is_some() {
            numbers.push(segment.number);
        }
        // All symbols, and the fifth packet twice.
        let fifth = segment.data.is_some() && numbers.get(4) == Some(&segment.number);
        segment.repair.is_some() || fifth && numbers.iter().filter(|&&n| n == segment.number).count() < 3
    });
    // A USTAT calls one packet lost and says nothing of the others: they make a block.
    let id = bench.open_with(Config { spares_ustats: false, ..config() });
    bench.a.write(id, &[1; 14_000]).unwrap();
    bench.run(2 * RTT_NS + RTT_NS / 4);
    assert!(bench.count(Side::A, "REPAIR") > 0);
    bench.a.write(id, &vec![2; 40_000]).unwrap();
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1).len(), 54_000);
}

#[test]
fn lies_about_blocks_do_no_harm() {
    let mut bench = Bench::with(config(), 1);
    let id = bench.open_with(config());
    bench.a.write(id, &vec![1; 20_000]).unwrap();
    bench.pump();
    let bytes = bench.wire[0].bytes.clone();
    let sent = decode(&bytes).unwrap();
    let base = Segment {
        source_port: sent.source_port,
        destination_port: sent.destination_port,
        instance: sent.instance,
        number: sent.number,
        ..Segment::default()
    };
    bench.run(SECOND);
    let block = |id, packets| Block { id, runs: vec![packets], sizes: vec![(packets, 100)] };
    for lie in 0..300u32 {
        let far =
            Segment { number: sent.number ^ 0x80_0000, block: Some(block(lie as u8, 9)), ..base.clone() };
        bench.inject(Side::B, &far);
        bench.inject(Side::B, &Segment { block: Some(block(lie as u8, 4096)), ..base.clone() });
        bench.inject(Side::B, &Segment { number: lie << 16, repair: Some(&[7; 100]), ..base.clone() });
    }
    bench.a.write(id, &vec![2; 20_000]).unwrap();
    bench.run(5 * SECOND);
    assert_eq!(bench.received(1).len(), 40_000);
    assert!(bench.b.stats(1).unwrap().refused >= 300);
}

#[test]
fn whoever_did_not_offer_to_take_symbols_refuses_them() {
    let mut bench = Bench::with(Config { coded_tail: false, ..config() }, 1);
    let id = bench.open_with(config());
    bench.a.write(id, &vec![1; 20_000]).unwrap();
    bench.pump();
    let bytes = bench.wire[0].bytes.clone();
    let sent = decode(&bytes).unwrap();
    let (source_port, destination_port, instance) = (sent.source_port, sent.destination_port, sent.instance);
    let base = Segment { source_port, destination_port, instance, number: sent.number, ..Segment::default() };
    bench.run(SECOND);
    bench.inject(Side::B, &Segment { repair: Some(&[7; 100]), ..base.clone() });
    let block = Block { id: 0, runs: vec![4], sizes: vec![(4, 100)] };
    bench.inject(Side::B, &Segment { block: Some(block), ..base });
    assert_eq!(bench.b.stats(1).unwrap().refused, 2);
}

#[test]
fn between_two_reads_of_a_disk_nothing_leaves_just_in_case() {
    let mut bench = Bench::with(Config::standard(), 1);
    let mut count = 0;
    bench.drop = Box::new(move |side, segment| {
        count += usize::from(side == Side::A && segment.data.is_some());
        side == Side::A && segment.data.is_some() && count % 10 == 9
    });
    let id = bench.open_with(Config { rate_bps: Some(40_000_000), ..Config::standard() });
    // 14 kB leave in 3 ms; the next ones come 2 ms later.
    let reads = RTT_NS / (5 * MS) * 4;
    for _ in 0..reads {
        assert_eq!(bench.a.write(id, &[1; 14_000]), Ok(14_000));
        bench.run(5 * MS);
    }
    let again = |bench: &Bench| {
        let stats = bench.a.stats(id).unwrap();
        (stats.repair_packets + stats.idle_repeats, stats.retransmitted_packets)
    };
    let (just_in_case, found_lost) = again(&bench);
    assert!(found_lost > reads / 2, "{found_lost}");
    assert_eq!(just_in_case, 0);
    bench.run(RTT_NS / 2);
    assert!(again(&bench).0 > 0, "nothing more is written");
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1).len() as u64, reads * 14_000);
}
