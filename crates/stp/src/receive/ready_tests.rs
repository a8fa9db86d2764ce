//! Bytes are read once and in order whatever is kept; what is kept is bounded and right.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::ready::Ready;

/// Packet `number`, up to 9 bytes.
fn packet(number: u64) -> Vec<u8> {
    vec![number as u8; 1 + (number % 9) as usize]
}

proptest! {
    #[test]
    fn keeping_changes_nothing_for_the_reader(steps in proptest::collection::vec((0u8..4, 0usize..30), 0..300)) {
        let mut ready = Ready::default();
        let (mut next, mut out, mut marks) = (0u64, Vec::new(), Vec::new());
        let mut kept_from = None;
        for (step, amount) in steps {
            match step {
                0 | 1 => {
                    ready.push(&packet(next));
                    next += 1;
                }
                2 => {
                    let mut buffer = vec![0; amount];
                    let read = ready.read(&mut buffer, next);
                    out.extend_from_slice(&buffer[..read]);
                }
                _ => {
                    ready.mark(next, amount < 10);
                    kept_from = kept_from.or((amount < 10).then_some(next));
                    marks.extend(kept_from.map(|_| next));
                }
            }
            let all: Vec<u8> = (0..next).flat_map(packet).collect();
            prop_assert_eq!(ready.unread_bytes(), all.len() - out.len());
            prop_assert_eq!(&out[..], &all[..out.len()]);
            // Everything since the sixth last STAT is there.
            let needed = marks.iter().rev().nth(5).copied().or(kept_from).unwrap_or(next);
            let numbers: Vec<u64> = (0..next + 3).collect();
            for (number, copy) in numbers.iter().zip(ready.copies(&numbers, next)) {
                prop_assert!(copy.is_some() || *number < needed || *number >= next);
                prop_assert!(copy.is_none_or(|copy| copy[..] == packet(*number)));
            }
        }
    }
}

#[test]
fn what_was_read_is_kept_up_to_a_bound() {
    let mut ready = Ready::default();
    ready.mark(0, true);
    let mut buffer = vec![0; 1000];
    for number in 0..10_000 {
        ready.push(&[1; 1000]);
        assert_eq!(ready.read(&mut buffer, number + 1), 1000);
    }
    let kept = ready.copies(&(0..10_000).collect::<Vec<_>>(), 10_000);
    let kept = kept.iter().filter(|copy| copy.is_some()).count();
    assert!((6000..6400).contains(&kept), "{kept}");
}

#[test]
fn an_empty_buffer_keeps_what_a_fast_path_fills_again_and_no_more() {
    for (bytes, keeps) in [(1 << 21, true), (1 << 23, false)] {
        let (mut ready, mut out) = (Ready::default(), vec![0; bytes]);
        ready.push(&out);
        assert_eq!(ready.read(&mut out, 1), bytes);
        assert_eq!(ready.capacity_bytes() > 0, keeps, "{bytes}");
        ready.forget_read();
        assert_eq!(ready.capacity_bytes(), 0, "{bytes}");
    }
}

#[test]
fn an_idle_connection_keeps_nothing() {
    let mut ready = Ready::default();
    ready.mark(0, true);
    ready.push(&[1; 1000]);
    assert_eq!(ready.read(&mut [0; 1000], 1), 1000);
    for _ in 0..6 {
        ready.mark(1, false);
    }
    assert_eq!(ready.copies(&[0], 1), [None]);
}
