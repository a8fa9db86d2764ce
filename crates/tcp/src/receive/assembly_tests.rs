//! The stream comes out as it was sent, whatever comes in, and memory is bounded.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::{Description, Octets};

use super::Assembly;

const FIRST: u64 = 1 << 32;

fn opened(limit_bytes: u64) -> Assembly {
    let mut assembly = Assembly::new(FIRST, limit_bytes, 1000);
    assembly.advertise(0, 1);
    assembly
}

fn read_all(assembly: &mut Assembly) -> Vec<u8> {
    let mut out = vec![0; 1 << 16];
    let count = assembly.read(&mut out);
    out.truncate(count);
    out
}

proptest! {
    #[test]
    fn any_order_and_overlap_gives_the_stream(
        pieces in proptest::collection::vec((0u64..300, 1u64..40), 0..60), shift in 0u8..4,
    ) {
        let stream: Vec<u8> = (0..300u64).map(|n| (n * 7) as u8).collect();
        let mut assembly = Assembly::new(FIRST, 20_000, 1000);
        assembly.advertise(shift, 1);
        let all = (0..300).step_by(10).map(|at| (at, 10));
        let mut read = Vec::new();
        for (at, length) in pieces.into_iter().chain(all) {
            let end = (at + length).min(300);
            let edge = assembly.edge();
            assembly.insert(FIRST + at, &stream[at as usize..end as usize]);
            read.extend(read_all(&mut assembly));
            assembly.advertise(shift, 1);
            prop_assert!(assembly.edge() >= edge, "the window shrank");
        }
        prop_assert_eq!(read, stream);
        prop_assert!(!assembly.has_gap() && assembly.ahead_charge == 0);
    }
}

#[test]
fn the_first_of_contradictory_bytes_count() {
    let mut assembly = opened(1000);
    assert!(assembly.insert(FIRST + 2, b"cd"));
    assert!(assembly.insert(FIRST, b"abXXe"));
    assert_eq!(read_all(&mut assembly), b"abcde");
}

#[test]
fn bytes_beyond_the_window_or_the_end_are_cut_off() {
    let mut assembly = opened(4);
    assert!(assembly.insert(FIRST, b"abcdef"));
    assert!(!assembly.insert(FIRST + 4, b"ef"));
    assert_eq!(read_all(&mut assembly), b"abcd");
    assembly.advertise(0, 1);
    assert!(assembly.set_end(FIRST + 5) && !assembly.set_end(FIRST + 6));
    assert!(assembly.insert(FIRST + 4, b"ef"));
    assert_eq!((read_all(&mut assembly), assembly.is_complete()), (b"e".to_vec(), true));
}

#[test]
fn tiny_pieces_out_of_sequence_are_bounded() {
    let mut assembly = opened(64_000);
    for n in 1..32_000 {
        assembly.insert(FIRST + 2 * n, b"x");
    }
    assert_eq!(assembly.ahead.len(), 64_000 / 256);
    assert!(assembly.insert(FIRST, b"yy"), "what is next always has room");
}

/// A link of small packets: what the window let the peer send is not thrown away.
#[test]
fn a_window_of_small_segments_is_kept_out_of_sequence() {
    let mut assembly = Assembly::new(FIRST, 10_000, 100);
    assembly.advertise(0, 1);
    assert!((1..100).all(|n| assembly.insert(FIRST + 100 * n, &[7; 100][..])), "all but the first");
}

#[test]
fn the_range_that_grew_last_is_reported_first() {
    let mut assembly = opened(64_000);
    for at in [10, 30, 50, 70, 90, 31] {
        assembly.insert(FIRST + at, b"x");
    }
    let blocks = assembly.sack(4);
    assert_eq!(blocks.as_slice(), [(30, 32), (90, 91), (70, 71), (50, 51)]);
    assert_eq!(assembly.sack(3).as_slice().len(), 3);
}

#[test]
fn the_window_opens_by_worthwhile_steps_only() {
    let mut assembly = opened(4000);
    assembly.insert(FIRST, &[0; 4000]);
    assert_eq!(assembly.advertise(0, 1000), 0);
    assembly.read(&mut [0; 999]);
    assert_eq!(assembly.advertise(0, 1000), 0);
    assembly.read(&mut [0; 1]);
    assert_eq!(assembly.advertise(0, 1000), 1000);
}

#[test]
fn descriptions_in_any_order_join_and_octets_do_not_stand_between_them() {
    let all = Description { stream: 9, first: 0, length: 300 };
    let piece = |from, to| Octets::Described(all.part(from, to));
    let mut assembly = opened(1000);
    assert!(assembly.insert(FIRST + 200, piece(200, 300)));
    assert!(assembly.insert(FIRST, piece(0, 150)));
    assert!(!assembly.insert(FIRST + 150, piece(0, 50)) || assembly.next() == FIRST + 150, "another place");
    assert!(assembly.insert(FIRST + 100, piece(100, 300)));
    assert_eq!((assembly.read_described(), assembly.next()), (Some(all), FIRST + 300));
    assert!(!assembly.has_gap() && assembly.ahead_charge == 0);
    assert!(assembly.insert(FIRST + 300, piece(0, 1)));
    assert!(!assembly.insert(FIRST + 301, b"octets"));
    assert_eq!((read_all(&mut assembly), assembly.next()), (vec![], FIRST + 301));
}
