//! Negative acknowledgements: octets on the wire, and what a receiver tells beside what a sender reads.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::{Instant, RangeSet};

use super::Said::{Arrived, Missing};
use super::{SNACK, Said, SnackOption, SnackTerms, Teller, read};
use crate::segment::{ExtraOptions, MAX_OPTIONS_BYTES};

const SHORT: SnackTerms = SnackTerms { unit_bytes: 100, has_vector: false };
const VECTOR: SnackTerms = SnackTerms { has_vector: true, ..SHORT };

fn set(ranges: &[(u64, u64)]) -> RangeSet {
    let mut set = RangeSet::new();
    for &(first, end) in ranges {
        set.insert_range(first, end);
    }
    set
}

/// Octets of the options that a fresh receiver tells, everything below 1000 being acknowledged.
fn told(terms: SnackTerms, ranges: &[(u64, u64)]) -> Vec<(u8, Vec<u8>)> {
    let mut extra = ExtraOptions::default();
    Teller::new(terms, 6).tell(
        &set(ranges),
        (1000, set(ranges).end().unwrap_or(1000)),
        MAX_OPTIONS_BYTES,
        (Instant::ZERO, None),
        &mut extra,
    );
    extra.iter().map(|(kind, value)| (kind, value.to_vec())).collect()
}

fn all_said(options: &ExtraOptions, acknowledgement: u64, terms: SnackTerms) -> Vec<Said> {
    let mut all = Vec::new();
    read(options, acknowledgement, terms, |said| all.push(said));
    all
}

fn options(values: &[&[u8]]) -> ExtraOptions {
    let mut extra = ExtraOptions::default();
    assert!(values.iter().all(|value| extra.push(SNACK, value)));
    extra
}

#[test]
fn holes_have_six_octets_each() {
    assert_eq!(told(SHORT, &[]), []);
    assert_eq!(told(SHORT, &[(1200, 1300)]), [(21, vec![0, 0, 0, 2])]);
    assert_eq!(
        told(SHORT, &[(1200, 1300), (1400, 1900), (57_800, 57_900)]),
        [(21, vec![0, 0, 0, 2]), (21, vec![0, 3, 0, 1]), (21, vec![0, 9, 0x02, 0x2F])]
    );
}

#[test]
fn offsets_are_rounded_down_and_ends_up() {
    assert_eq!(told(SHORT, &[(1050, 1150), (1250, 1300)]), [(21, vec![0, 0, 0, 1]), (21, vec![0, 1, 0, 2])]);
}

#[test]
fn a_vector_begins_behind_the_hole_with_its_highest_bit_and_ends_with_what_is_there() {
    // Blocks behind the hole of two: there, missing, there, there, missing, then one that is there in part.
    let ranges = [(1200, 1300), (1400, 1600), (1700, 1750)];
    assert_eq!(told(VECTOR, &ranges), [(21, vec![0, 0, 0, 2, 0b1011_0000]), (21, vec![0, 6, 0, 1])]);
    let said = all_said(&options(&[&[0, 0, 0, 2, 0b1011_0000]]), 1000, VECTOR);
    let expected = [Missing(1000, 1200), Arrived(1200, 1300), Missing(1300, 1400), Arrived(1400, 1600)];
    assert_eq!(said, expected, "equal bits are one range");
}

#[test]
fn between_the_holes_of_a_segment_everything_is_there() {
    let extra = options(&[&[0, 0, 0, 2], &[0, 3, 0, 1]]);
    let expected = [Missing(1000, 1200), Arrived(1200, 1300), Missing(1300, 1400)];
    assert_eq!(all_said(&extra, 1000, SHORT), expected);
    let disorder = options(&[&[0, 3, 0, 1], &[0, 0, 0, 2]]);
    assert_eq!(all_said(&disorder, 1000, SHORT), [Missing(1300, 1400), Missing(1000, 1200)]);
}

#[test]
fn what_is_no_hole_says_nothing() {
    let extra = options(&[&[], &[0, 1, 0], &[0, 1, 0, 0], &[0, 0, 0, 1]]);
    assert_eq!(all_said(&extra, 0, VECTOR), [Missing(0, 100)]);
    let vector = options(&[&[0, 0, 0, 1, 0, 0]]);
    assert_eq!(all_said(&vector, 0, VECTOR), [Missing(0, 100)], "zeros behind the last 1");
    assert_eq!(all_said(&vector, 0, SHORT), [Missing(0, 100)], "a vector that was not agreed");
}

#[test]
fn where_one_fits_the_offset_moves_on_and_comes_back() {
    let mut teller = Teller::new(SHORT, 1);
    let have = set(&[(1100, 1200), (1300, 1400), (1500, 1600)]);
    let mut now = Instant::ZERO;
    let mut next_told = |next, room| {
        let mut extra = ExtraOptions::default();
        now = now.after(1);
        teller.tell(&have, (next, have.end().unwrap_or(next)), room, (now, None), &mut extra);
        let holes: Vec<u8> = extra.iter().map(|(_, value)| value[1]).collect();
        holes
    };
    let offsets: Vec<Vec<u8>> = (0..4).map(|_| next_told(1000, 40)).collect();
    assert_eq!(offsets, [[0], [2], [4], [0]]);
    assert_eq!(next_told(1000, 5), [0; 0], "no room: the place is kept");
    assert_eq!(next_told(1000, 8), [2]);
    assert_eq!(next_told(1200, 8), [2], "the hole at 1400, counted from 1200");
}

/// Offsets of what is told of these ranges at a time, when the round trip is 100 ns and one fits.
fn told_at(teller: &mut Teller, ranges: &[(u64, u64)], ns: u64) -> Vec<u8> {
    let (have, mut extra) = (set(ranges), ExtraOptions::default());
    let now = (Instant::from_ns(ns), Some(100));
    teller.tell(&have, (1000, have.end().unwrap_or(1000)), MAX_OPTIONS_BYTES, now, &mut extra);
    extra.iter().map(|(_, value)| value[1]).collect()
}

#[test]
fn new_holes_are_told_before_old_ones_until_the_repeats_of_these_had_the_time_to_come() {
    let mut teller = Teller::new(SHORT, 1);
    let all = [(1100, 1200), (1300, 1400), (1500, 1600), (1700, 1800), (1900, 2000)];
    let offsets: Vec<_> = (1..=5).map(|n| told_at(&mut teller, &all[..n], 50 * n as u64)).collect();
    assert_eq!(offsets, [[0], [2], [4], [0], [6]], "the first again, at the first chance a round trip later");
    assert_eq!(told_at(&mut teller, &all, 300), [2], "old ones and new ones by turns");
    assert_eq!(told_at(&mut teller, &all, 350), [8]);
    let repaired = [(1000, 1400), (1500, 1800), (1900, 2000)];
    assert_eq!(told_at(&mut teller, &repaired, 400), [4], "what was told longest ago, and is still missing");
}

#[test]
fn one_place_is_kept_for_what_is_missing_again_behind_new_holes() {
    let mut teller = Teller::new(SHORT, 2);
    let all = [(1100, 1200), (1300, 1400), (1500, 1600), (1700, 1800), (1900, 2000), (2100, 2200)];
    assert_eq!(told_at(&mut teller, &all[..2], 0), [0, 2]);
    assert_eq!(told_at(&mut teller, &all[..4], 110), [4, 6]);
    assert_eq!(
        told_at(&mut teller, &all, 160),
        [8, 0],
        "the new one first: options that ascend say what came"
    );
    assert_eq!(told_at(&mut teller, &all, 170), [10, 2]);
}

/// A receiver's queue in blocks beyond the acknowledgement number, and where blocks lie on the wire.
fn any_queue() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((1u64..40, 1u64..30), 1..30).prop_map(|steps| {
        let mut at = 0;
        let ranges = steps.into_iter().map(|(gap, length)| {
            let range = (at + gap, at + gap + length);
            at = range.1;
            range
        });
        ranges.collect()
    })
}

proptest! {
    #[test]
    fn every_option_decodes_to_itself(
        offset in any::<u16>(), size in any::<u16>(), vector in proptest::collection::vec(any::<u8>(), 0..34),
    ) {
        let snack = SnackOption { offset, size, vector: &vector };
        let mut extra = ExtraOptions::default();
        prop_assert!(snack.push(&mut extra));
        prop_assert_eq!(SnackOption::decode(extra.get(SNACK).unwrap()), Some(snack));
        prop_assert!(snack.blocks().last().unwrap_or(true), "zeros behind the last 1 say nothing");
    }

    /// After enough acknowledgements every hole was told, and nothing that is missing was said to be there:
    /// where all comes at once, and where it comes piece by piece, whatever the round trip.
    #[test]
    fn a_sender_learns_every_hole_in_the_end(
        blocks in any_queue(), unit in 1u64..5, room in 2usize..11, has_vector in any::<bool>(), most in 1u8..7,
        come_at_once in any::<bool>(), rtt_ns in proptest::option::of(0u64..20),
    ) {
        let terms = SnackTerms { unit_bytes: unit, has_vector };
        let next = 5000;
        let all: Vec<_> = blocks.iter().map(|&(first, end)| (next + first, next + end)).collect();
        let (mut teller, mut missing) = (Teller::new(terms, most), RangeSet::new());
        for n in 0..=2 * all.len() {
            let have = set(if come_at_once { &all } else { &all[..(n + 1).min(all.len())] });
            let mut extra = ExtraOptions::default();
            let (ends, now) = ((next, have.end().unwrap_or(next)), Instant::from_ns(n as u64));
            teller.tell(&have, ends, 4 * room, (now, rtt_ns), &mut extra);
            prop_assert!(extra.encoded_len() <= 4 * room && extra.iter().count() <= usize::from(most));
            for said in all_said(&extra, next, terms) {
                match said {
                    Missing(first, end) => _ = missing.insert_range(first, end),
                    Arrived(first, end) => {
                        prop_assert_eq!(have.gaps(first, end).next(), None, "{}..{}", first, end);
                    }
                }
            }
        }
        let have = set(&all);
        for (first, to) in have.gaps(next, have.end().unwrap()) {
            prop_assert_eq!(missing.gaps(first, to).next(), None, "{}..{} was never told", first, to);
        }
    }

    #[test]
    fn rubbish_is_survived(values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..4)) {
        let mut extra = ExtraOptions::default();
        for value in &values {
            extra.push(SNACK, value);
        }
        for terms in [SHORT, VECTOR] {
            for said in all_said(&extra, 1 << 40, terms) {
                let (Missing(first, end) | Arrived(first, end)) = said;
                prop_assert!(1 << 40 <= first && first < end);
            }
        }
    }
}
