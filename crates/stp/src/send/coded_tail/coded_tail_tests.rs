//! How many symbols a tail gets, and when it gets none.

use alloc::vec;

use super::*;
use crate::send::count::Count;
use skyhaul_core::MS;

const GAPS: Gaps = Gaps { block_ns: 10 * MS, begin_ns: 100 * MS };
const ROOM_BYTES: usize = 1400;

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

/// `packets` packets sent, of which `queued` are judged lost.
fn state(packets: u64, queued: &[u64]) -> (CodedTail, SendCache) {
    let (mut coded, mut cache) = (CodedTail::default(), SendCache::new(0));
    for order in 0..packets {
        cache.write(&[order as u8; 100], 1 << 20);
        cache.send_new(100, Instant::ZERO, order);
        coded.on_new();
    }
    for &number in queued {
        cache.lose(number, false);
    }
    (coded, cache)
}

/// Everything that leaves at `now`.
fn leaving(coded: &mut CodedTail, cache: &SendCache, loss: Loss, now: Instant) -> Vec<Next> {
    let mut all = Vec::new();
    while coded.due(cache, loss, GAPS).is_some_and(|due| due <= now) && all.len() < 10_000 {
        coded.begin(cache, loss, now, ROOM_BYTES);
        all.extend(coded.next(now, 1000 + all.len() as u64, GAPS));
    }
    all
}

fn symbols(all: &[Next]) -> usize {
    all.iter().filter(|next| matches!(next, Next::Symbol(..))).count()
}

#[test]
fn a_link_that_lost_nothing_gets_nothing() {
    let (mut coded, cache) = state(200, &[]);
    assert_eq!(leaving(&mut coded, &cache, Loss::new(0, 200), at(0)), []);
}

#[test]
fn what_is_likely_to_be_missing_and_a_margin_leave_at_once_behind_their_block() {
    let (mut coded, cache) = state(200, &[]);
    let all = leaving(&mut coded, &cache, Loss::new(10, 100), at(0));
    assert!(matches!(&all[0], Next::Block(0, block) if block.packets() == 200));
    // 20 of 200, two deviations of 4.2, and one in ten again.
    assert_eq!((symbols(&all), all.len()), (32, 33));
}

#[test]
fn few_packets_are_repeated_as_they_are() {
    let (mut coded, cache) = state(MIN_PACKETS - 1, &[]);
    assert_eq!(leaving(&mut coded, &cache, Loss::new(10, 100), at(0)), []);
    assert!(!coded.goes_first(&cache));
}

#[test]
fn on_a_short_exchange_symbols_for_likely_losses_are_half_of_the_packets_at_most() {
    let (mut coded, cache) = state(8, &[]);
    assert_eq!(symbols(&leaving(&mut coded, &cache, Loss::new(2, 4), at(0))), 4);
    assert_eq!(coded.due(&cache, Loss::new(2, 4), GAPS), Some(at(10)), "only the BLOCK again");
    let (mut coded, cache) = state(8, &[0, 1, 2, 3, 4, 5]);
    let known = symbols(&leaving(&mut coded, &cache, Loss::new(2, 4), at(0)));
    assert!(known > 12, "losses that are known have no such cap: {known}");
}

#[test]
fn a_stat_says_how_many_more_are_wanted() {
    let (mut coded, cache) = state(100, &[]);
    let loss = Loss::new(10, 100);
    let first = symbols(&leaving(&mut coded, &cache, loss, at(0))) as u64;
    coded.on_stat(&cache, loss, 1000 + first + 1, Some((0, 5)));
    let more = leaving(&mut coded, &cache, loss, at(500));
    // 5, two deviations of 0.67, and one in ten again; the BLOCK has arrived.
    assert_eq!((symbols(&more), more.len()), (8, 8));
    coded.on_stat(&cache, loss, 1000, Some((0, 5)));
    assert_eq!(leaving(&mut coded, &cache, loss, at(600)), [], "enough are under way");
}

#[test]
fn a_peer_that_cannot_decode_gets_plain_repeats() {
    let (mut coded, mut cache) = state(20, &[3, 4]);
    let loss = Loss::new(2, 20);
    leaving(&mut coded, &cache, loss, at(0));
    assert_eq!(coded.covered(), (0, 20));
    cache.acknowledge(5, 20, &mut Count::default());
    coded.on_stat(&cache, loss, 2000, Some((0, 8)));
    assert_eq!(coded.covered(), (0, 0));
    assert_eq!(cache.queued_outside(coded.covered()), Some(3));
    assert_eq!(leaving(&mut coded, &cache, loss, at(1000)), [], "once is enough");
}

#[test]
fn a_block_ends_when_everything_arrived_or_when_nobody_hears_of_it() {
    let (mut coded, mut cache) = state(20, &[3]);
    let loss = Loss::new(1, 20);
    leaving(&mut coded, &cache, loss, at(0));
    for step in 1..u64::from(MAX_BLOCKS) + 5 {
        leaving(&mut coded, &cache, loss, at(20 * step));
    }
    coded.on_stat(&cache, loss, 5000, None);
    assert_eq!(coded.covered(), (0, 0), "said {MAX_BLOCKS} times in vain");
    let (mut coded, _) = state(20, &[3]);
    leaving(&mut coded, &cache, loss, at(0));
    cache.acknowledge_below(20, &mut Count::default());
    coded.settle(&cache);
    assert_eq!(coded.covered(), (0, 0));
}

#[test]
fn symbols_of_a_block_have_an_end() {
    let (mut coded, cache) = state(20, &[3]);
    let loss = Loss::new(1, 20);
    let mut sent = 0;
    for step in 0..100 {
        sent += symbols(&leaving(&mut coded, &cache, loss, at(step)));
        coded.on_stat(&cache, loss, u64::MAX, Some((0, 5)));
    }
    assert_eq!(sent, 20 * 2 + 16);
}

#[test]
fn a_new_block_waits_a_round_trip_and_for_new_packets() {
    let (mut coded, mut cache) = state(20, &[]);
    let loss = Loss::new(2, 20);
    leaving(&mut coded, &cache, loss, at(0));
    cache.acknowledge_below(20, &mut Count::default());
    coded.settle(&cache);
    for order in 20..30 {
        cache.write(&[1; 100], 1 << 20);
        cache.send_new(100, at(5), order);
        coded.on_new();
    }
    assert_eq!(coded.due(&cache, loss, GAPS), Some(at(100)));
    let all = leaving(&mut coded, &cache, loss, at(100));
    assert!(matches!(&all[0], Next::Block(20, block) if block.id == 1 && block.packets() == 10));
}

#[test]
fn a_block_is_the_newest_packets_that_its_segment_has_room_for() {
    let mut cache = SendCache::new(0);
    for order in 0..2000u64 {
        let bytes = 1 + (order % 2) as usize;
        cache.write(&vec![7; bytes], 1 << 20);
        cache.send_new(bytes, Instant::ZERO, order);
    }
    cache.acknowledge(1500, 1700, &mut Count::default());
    let (first, block) = choose(&cache, 9, ROOM_BYTES).unwrap();
    assert!(block_len(&block) <= ROOM_BYTES);
    let numbers: Vec<u64> = block.members().map(|distance| first + distance).collect();
    let expected: Vec<u64> = (0..2000).filter(|n| !(1500..1700).contains(n)).collect();
    assert_eq!(numbers, expected[expected.len() - numbers.len()..]);
    assert!(block.member_bytes().zip(&numbers).all(|(bytes, number)| u64::from(bytes) == 1 + number % 2));
    assert!(numbers.len() > 500, "{}", numbers.len());
}
