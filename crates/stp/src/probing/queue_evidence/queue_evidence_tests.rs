//! Verdicts by the evidence of a queue.

use skyhaul_core::{MS, SECOND};

use super::bursts::MAX_BURSTS;
use super::*;

/// Evidence of a path of 550 ms and 10 Mbit/s, from POLL to POLL of which 17 packets leave.
fn calm(polls: u64) -> QueueEvidence {
    let mut evidence = QueueEvidence::default();
    for poll in 0..polls {
        let now = Instant::from_ns((550 + 20 * poll) * MS);
        evidence.answered(now, 17 * poll, 275 * MS as i64, [550 * MS, 1_200_000]);
    }
    evidence.note_held(295 * MS as i64);
    evidence
}

fn judge(evidence: &mut QueueEvidence, orders: core::ops::Range<u64>) -> Verdict {
    orders.clone().for_each(|order| evidence.count_lost(order));
    let verdicts = orders.map(|order| evidence.judge(order, Verdict::Corruption).unwrap());
    let mut verdicts: alloc::vec::Vec<Verdict> = verdicts.collect();
    verdicts.dedup();
    assert_eq!(verdicts.len(), 1, "{verdicts:?}");
    verdicts[0]
}

#[test]
fn what_a_burst_loses_in_a_queue_of_its_own_is_not_called_damage() {
    let mut evidence = calm(40);
    evidence.note_burst(340, 10);
    evidence.note_burst(350, 7);
    assert_eq!(judge(&mut evidence, 354..357), Verdict::Unknown);
    assert_eq!(judge(&mut evidence, 357..358), Verdict::Corruption, "behind it");
    // Nor is it taken for what is lost anyway, unlike that.
    assert_eq!(judge(&mut evidence, 400..401), Verdict::Corruption);
    assert_eq!(judge(&mut evidence, 450..451), Verdict::Corruption);
    evidence.answered(Instant::from_ns(2 * SECOND), 680, 275 * MS as i64, [550 * MS, 1_200_000]);
    evidence.note_burst(500, 20);
    assert_eq!(judge(&mut evidence, 505..506), Verdict::Corruption, "packets vanish without a queue");
    for first in 1000..1100 {
        evidence.note_burst(2 * first, 1);
    }
    assert_eq!(evidence.bursts.len(), MAX_BURSTS);
}

/// Losses of a path whose queue never exceeds 3 ms, of which others have a part, in rows of so many: a
/// tenth of all. It is known to have held `held_ms`.
fn beside_others(is_shared: bool, row: u64, held_ms: u64) -> Verdict {
    let mut evidence = QueueEvidence::default();
    evidence.note_held(((20 + held_ms) * MS) as i64);
    let mut last = Verdict::Outage;
    for poll in 0..60 {
        let now = Instant::from_ns((40 + 20 * poll) * MS);
        evidence.note_path(now, None, is_shared && poll == 40);
        let delay_ns = (20 * MS + poll % 4 * MS) as i64;
        evidence.answered(now, 10 * poll, delay_ns, [40 * MS, 600_000]);
        if poll > 0 && poll % row == 0 {
            last = judge(&mut evidence, 10 * poll - 5..10 * poll - 5 + row);
        }
    }
    last
}

#[test]
fn rows_lost_beside_others_are_no_damage_where_their_queue_does_not_show() {
    assert_eq!(beside_others(true, 3, 20), Verdict::Unknown);
    assert_eq!(beside_others(true, 1, 20), Verdict::Corruption, "one by one, as damage does it");
    assert_eq!(beside_others(false, 3, 20), Verdict::Corruption, "nobody is there");
}

#[test]
fn rows_lost_where_the_queue_never_held_much_more_are_no_damage() {
    assert_eq!(beside_others(false, 3, 3), Verdict::Unknown);
    assert_eq!(beside_others(false, 1, 3), Verdict::Corruption, "one by one");
}

#[test]
fn a_fifth_of_the_first_packets_is_too_much_to_be_called_damage() {
    let mut evidence = calm(3);
    assert_eq!(judge(&mut evidence, 20..22), Verdict::Corruption);
    assert_eq!(judge(&mut evidence, 5..6), Verdict::Corruption);
    (0..4).for_each(|_| assert!(evidence.judge(25, Verdict::Corruption).is_some()));
    assert_eq!(judge(&mut evidence, 28..29), Verdict::Unknown);
}

#[test]
fn of_a_burst_no_more_is_damage_than_is_usual() {
    let mut evidence = calm(20);
    for order in [10, 100, 200] {
        assert_eq!(judge(&mut evidence, order..order + 1), Verdict::Corruption);
    }
    evidence.answered(Instant::from_ns(SECOND), 340, 275 * MS as i64, [550 * MS, 1_200_000]);
    evidence.note_burst(340, 20);
    assert_eq!(judge(&mut evidence, 345..347), Verdict::Corruption);
    assert_eq!(judge(&mut evidence, 355..358), Verdict::Unknown);
}
