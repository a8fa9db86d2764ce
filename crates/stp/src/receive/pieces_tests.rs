//! Pieces in any order, those that contradict each other, and the bound.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const PACKET: &[u8] = &[7; 1000];

fn piece(packet: &[u8], from: usize, to: usize) -> Piece<'_> {
    Piece { offset: from as u16, total: packet.len() as u16, data: (&packet[from..to], &[]) }
}

proptest! {
    #[test]
    fn a_packet_comes_out_once_all_of_it_is_there_and_never_before(
        ranges in proptest::collection::vec((0usize..600, 1usize..300), 1..60),
    ) {
        let packet: Vec<u8> = (0..600).map(|i| (i % 251) as u8).collect();
        let mut pieces = Pieces::default();
        let mut here = [false; 600];
        for (from, bytes) in ranges {
            let to = (from + bytes).min(600);
            here[from..to].fill(true);
            let whole = pieces.put(5, &piece(&packet, from, to));
            pieces.check_invariants();
            prop_assert_eq!(whole.is_some(), here.iter().all(|&is| is));
            if let Some(whole) = whole {
                prop_assert_eq!(&whole[..], &packet[..]);
                prop_assert_eq!(pieces.held_bytes, 0);
                return Ok(());
            }
        }
    }
}

#[test]
fn pieces_of_several_packets_do_not_mix() {
    let other = [9; 1000];
    let mut pieces = Pieces::default();
    assert_eq!(pieces.put(1, &piece(PACKET, 0, 600)), None);
    assert_eq!(pieces.put(2, &piece(&other, 600, 1000)), None);
    assert_eq!(pieces.put(1, &piece(PACKET, 600, 1000)).as_deref(), Some(PACKET));
    assert_eq!(pieces.put(2, &piece(&other, 0, 600)).as_deref(), Some(&other[..]));
    assert_eq!(pieces.partials.capacity(), 0, "no memory without packets");
}

#[test]
fn another_size_of_a_packet_forgets_what_was_there() {
    let longer = [8; 1001];
    let mut pieces = Pieces::default();
    assert_eq!(pieces.put(1, &piece(PACKET, 0, 600)), None);
    assert_eq!(pieces.put(1, &piece(&longer, 600, 1001)), None);
    pieces.check_invariants();
    assert_eq!(pieces.put(1, &piece(&longer, 0, 600)).as_deref(), Some(&longer[..]));
}

#[test]
fn a_packet_that_came_otherwise_is_forgotten() {
    let mut pieces = Pieces::default();
    assert_eq!(pieces.put(1, &piece(PACKET, 0, 600)), None);
    pieces.forget(1);
    pieces.forget(2);
    assert_eq!((pieces.held_bytes, pieces.partials.len()), (0, 0));
    assert_eq!(pieces.put(1, &piece(PACKET, 600, 1000)), None, "nothing of it is left");
}

#[test]
fn the_oldest_makes_room_whatever_the_sizes() {
    let large = vec![3; 65_535];
    let mut pieces = Pieces::default();
    for number in 0..10_000 {
        let packet = if number % 7 == 0 { &large[..] } else { &large[..300] };
        assert_eq!(pieces.put(number, &piece(packet, 0, 200)), None);
        if number % 100 == 0 {
            pieces.check_invariants();
        }
    }
    assert!(pieces.held_bytes > MAX_HELD_BYTES / 2, "{}", pieces.held_bytes);
    assert_eq!(pieces.put(0, &piece(&large, 200, 65_535)), None, "the oldest went");
    assert!(pieces.put(9_999, &piece(&large[..300], 200, 300)).is_some(), "the newest is there");
}
