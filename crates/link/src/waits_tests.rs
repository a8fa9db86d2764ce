//! How long packets waited.

use super::*;

#[test]
fn every_wait_is_in_a_bucket_that_ends_at_most_a_sixteenth_above_it() {
    let waits = (0..5000).chain((12..32).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]));
    for us in waits.chain([MAX_US]) {
        let max_us = max_us(bucket(us));
        assert!(us <= max_us && max_us - us <= us / 16, "{us}: {max_us}");
    }
    assert_eq!(bucket(MAX_US), BUCKETS - 1);
}

#[test]
fn percentiles_are_by_nearest_rank() {
    let mut waits = WaitHistogram::default();
    assert_eq!(waits.percentile_ns(95), None);
    (1..=20).for_each(|us| waits.add(us * 500)); // 0.5 to 10 us
    assert_eq!(waits.percentile_ns(0), Some(0));
    assert_eq!(waits.percentile_ns(50), Some(5_000));
    assert_eq!(waits.percentile_ns(95), Some(9_000));
    assert_eq!(waits.percentile_ns(100), Some(10_000));
}

#[test]
fn what_was_there_before_can_be_taken_away_and_what_is_beyond_all_bounds_is_counted() {
    let mut waits = WaitHistogram::default();
    waits.add(7_000);
    let before = waits;
    waits.add(u64::MAX);
    assert_eq!(waits.since(&before).percentile_ns(1), Some(MAX_US * 1000));
    assert_eq!(before.since(&before).percentile_ns(50), None);
}
