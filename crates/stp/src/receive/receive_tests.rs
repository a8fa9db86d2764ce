//! Assembly against a plain model, and the USTAT rules as traces.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::assembly::MAX_RANGES;
use super::*;
use crate::segment::ListBounds;

fn payload(number: u64) -> Vec<u8> {
    vec![number as u8; 1 + (number % 7) as usize]
}

proptest! {
    #[test]
    fn bytes_come_out_once_and_in_order(numbers in proptest::collection::vec(0u64..40, 0..200)) {
        let mut assembly = Assembly::new(0, 1 << 20);
        let mut seen = BTreeSet::new();
        let mut out = Vec::new();
        for n in numbers {
            let verdict = assembly.insert(n, &payload(n));
            prop_assert_eq!(verdict == Verdict::Taken, seen.insert(n));
            let mut buf = [0; 16];
            let got = assembly.read(&mut buf);
            out.extend_from_slice(&buf[..got]);
        }
        while assembly.readable_bytes() > 0 {
            let mut buf = [0; 16];
            let got = assembly.read(&mut buf);
            out.extend_from_slice(&buf[..got]);
        }
        let next = (0..41).find(|n| !seen.contains(n)).unwrap();
        prop_assert_eq!(assembly.next(), next);
        prop_assert_eq!(out, (0..next).flat_map(payload).collect::<Vec<u8>>());
        let missing: Vec<u64> = assembly.gaps(0, 50).flat_map(|(a, b)| a..b).collect();
        prop_assert_eq!(missing, (0..50).filter(|n| !seen.contains(n)).collect::<Vec<u64>>());
    }
}

#[test]
fn runs_alternate_and_leave_out_what_arrived_at_the_end() {
    let mut assembly = Assembly::new(10, 1 << 20);
    for n in [10, 13, 14, 17, 18] {
        assembly.insert(n, b"x");
    }
    let listed = |from, to| {
        let list = assembly.list(from, to, (to, to), ListBounds { max_bytes: 99, max_gaps: 99 });
        (list.first, list.runs)
    };
    assert_eq!(listed(11, 19), (Some(11), vec![2, 2, 2]));
    assert_eq!(listed(11, 22), (Some(11), vec![2, 2, 2, 2, 3]));
    assert_eq!(listed(13, 19), (Some(15), vec![2]));
    assert_eq!(listed(11, 11), (None, vec![]));
}

#[test]
fn memory_is_bounded_and_the_next_packet_always_gets_in() {
    let mut assembly = Assembly::new(0, 4 * 256);
    for n in 1..5 {
        assert_eq!(assembly.insert(n, b"tiny"), Verdict::Taken);
    }
    assert_eq!(assembly.insert(5, b"tiny"), Verdict::OutsideWindow);
    assert_eq!(assembly.insert(0, b"tiny"), Verdict::Taken);
    assert_eq!(assembly.next(), 5);
    assert_eq!(assembly.window_bytes(), 4 * 256 - 20);
    assert_eq!(assembly.insert(1 << 30, b"far"), Verdict::OutsideWindow);
}

#[test]
fn runs_out_of_sequence_are_bounded_and_what_is_sent_again_in_order_gets_in() {
    let mut assembly = Assembly::new(0, u64::MAX);
    let most = MAX_RANGES as u64;
    for i in 0..most + 100 {
        let expected = if i < most { Verdict::Taken } else { Verdict::OutsideWindow };
        assert_eq!(assembly.insert(1 + 2 * i, b"x"), expected);
    }
    assert_eq!(assembly.insert(2 * most + 1, b"x"), Verdict::OutsideWindow, "it would be a run of its own");
    assert_eq!(assembly.insert(2 * most, b"x"), Verdict::Taken, "it makes one longer");
    let end = 2 * (most + 100);
    let missing: Vec<u64> = assembly.gaps(0, end).flat_map(|(first, end)| first..end).collect();
    assert_eq!(missing.len() as u64, most + 199);
    for number in missing {
        assert_eq!(assembly.insert(number, b"y"), Verdict::Taken);
    }
    assert_eq!(assembly.next(), end);
}

#[test]
fn an_end_that_contradicts_is_refused() {
    let mut assembly = Assembly::new(0, 1 << 20);
    assembly.insert(4, b"x");
    assert!(!assembly.set_end(3), "a packet behind it is here");
    assert!(assembly.set_end(5));
    assert!(assembly.set_end(5) && !assembly.set_end(6));
    assert_eq!(assembly.insert(5, b"x"), Verdict::Absurd);
    for n in 0..4 {
        assembly.insert(n, b"x");
    }
    assert!(assembly.is_complete());
}

#[test]
fn an_immediate_ustat_reports_each_gap_as_it_appears() {
    let mut watch = GapDetector::new(0, Some(0));
    assert_eq!(watch.on_packet(0), [None, None]);
    assert_eq!(watch.on_packet(3), [None, Some((1, 3))]);
    assert_eq!(watch.on_packet(4), [None, None]);
    assert_eq!(watch.on_packet(6), [None, Some((5, 6))]);
}

#[test]
fn a_delayed_ustat_waits_for_three_packets_beyond_or_a_new_gap() {
    let mut watch = GapDetector::new(0, Some(3));
    assert_eq!(watch.on_packet(1), [None, None]);
    assert_eq!(watch.on_packet(2), [None, None]);
    assert_eq!(watch.on_packet(3), [Some((0, 1)), None]);
    assert_eq!(watch.on_packet(5), [None, None]);
    assert_eq!(watch.on_packet(7), [Some((4, 5)), None], "a new gap pushes the first out");
    watch.on_stat(9);
    assert_eq!(watch.on_packet(9), [None, None], "a STAT has reported it");
}
