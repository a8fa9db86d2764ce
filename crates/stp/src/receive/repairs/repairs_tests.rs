//! Blocks at the receiver, honest and not.

use alloc::vec;

use super::*;
use crate::coding::Encoder;
use crate::segment::Block;

fn packet(number: u64) -> Vec<u8> {
    vec![number as u8; 10 + (number % 7) as usize]
}

/// A block of the packets [10, 10 + count).
fn block(id: u8, count: u64) -> Block {
    let sizes = (10..10 + count).map(|number| (1, packet(number).len() as u16)).collect();
    Block { id, runs: vec![count as u32], sizes }
}

fn encoder(count: u64) -> Encoder {
    let packets: Vec<Vec<u8>> = (10..10 + count).map(packet).collect();
    Encoder::new(packets.iter().map(|p| (&p[..], &[][..])), block(0, count).symbol_bytes())
}

/// Everything but `missing` of [10, 10 + count) has arrived.
fn state(count: u64, missing: &[u64]) -> (Repairs, Assembly) {
    let (mut repairs, mut assembly) = (Repairs::default(), Assembly::new(10, 1 << 20));
    assembly.keep_after_stat(true);
    for number in (10..10 + count).filter(|number| !missing.contains(number)) {
        assembly.insert(number, &packet(number));
        repairs.on_packet(number, &packet(number));
    }
    assembly.read(&mut vec![0; 1 << 16]);
    (repairs, assembly)
}

#[test]
fn what_is_missing_comes_out_when_the_symbols_suffice() {
    let (mut repairs, assembly) = state(40, &[20, 33]);
    repairs.on_block(10, &block(3, 40), &assembly);
    assert_eq!(repairs.wanting(), Some((3, 2)));
    repairs.on_symbol(3, 0, &encoder(40).symbol(0));
    assert_eq!((repairs.wanting(), repairs.decode()), (Some((3, 1)), vec![]));
    repairs.on_symbol(3, 9, &encoder(40).symbol(9));
    assert_eq!(repairs.decode(), [(20, packet(20)), (33, packet(33))]);
    assert_eq!(repairs.wanting(), None);
}

#[test]
fn symbols_may_come_before_their_block_and_packets_after_it() {
    let (mut repairs, assembly) = state(40, &[20, 33]);
    repairs.on_symbol(200, 4, &encoder(40).symbol(4));
    repairs.on_symbol(200, 4, &encoder(40).symbol(4));
    assert_eq!(repairs.wanting(), None, "unknown still");
    repairs.on_block(10, &block(200, 40), &assembly);
    assert_eq!(repairs.wanting(), Some((200, 1)));
    repairs.on_packet(33, &packet(33));
    assert_eq!(repairs.decode(), [(20, packet(20))]);
}

#[test]
fn an_older_block_is_ignored_and_a_newer_one_takes_its_place() {
    let (mut repairs, assembly) = state(40, &[20, 33]);
    repairs.on_block(10, &block(250, 40), &assembly);
    repairs.on_symbol(250, 0, &encoder(40).symbol(0));
    repairs.on_block(10, &block(249, 30), &assembly);
    repairs.on_symbol(249, 1, &encoder(30).symbol(1));
    assert_eq!(repairs.wanting(), Some((250, 1)));
    repairs.on_block(10, &block(2, 30), &assembly);
    assert_eq!(repairs.wanting(), Some((2, 2)), "numbers wrap");
}

#[test]
fn memory_is_bounded() {
    let (mut repairs, assembly) = state(40, &[20]);
    for index in 0..5000 {
        repairs.on_symbol(1, index, &[7; 16]);
    }
    assert_eq!(repairs.symbols.len(), MAX_EARLY_SYMBOLS);
    repairs.on_symbol(1, 9000, &[7; 15]);
    repairs.on_block(10, &block(1, 40), &assembly);
    for index in 0..5000 {
        repairs.on_symbol(1, index, &[7; 16]);
        repairs.on_symbol(1, index, &[7; 17]);
    }
    assert_eq!(repairs.symbols.len(), 1 + SPARE_SYMBOLS);
}

#[test]
fn computing_is_paid_for_with_packets() {
    let (mut repairs, assembly) = state(40, &[20]);
    let mut decoded = 0;
    for id in 0..100 {
        repairs.on_block(10, &block(id, 40), &assembly);
        repairs.on_symbol(id, 0, &encoder(40).symbol(0));
        decoded += usize::from(!repairs.decode().is_empty());
    }
    assert_eq!(decoded, 2, "64 + 39 * 4 credits, 80 a block");
    assert_eq!(repairs.wanting(), Some((99, HOPELESS)));
}

#[test]
fn a_block_that_lies_about_a_packet_spoils_no_other() {
    let (mut repairs, assembly) = state(40, &[20]);
    let mut lie = block(1, 40);
    lie.sizes[3].1 -= 1;
    repairs.on_block(10, &lie, &assembly);
    assert_eq!(repairs.wanting(), Some((1, 2)), "packet 13 is not the one meant");
}
