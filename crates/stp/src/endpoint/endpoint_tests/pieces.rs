//! Paths that take smaller packets than were formed, and no fragments of IP either: packets in pieces.

use alloc::boxed::Box;
use alloc::vec::Vec;

use skyhaul_core::{CloseReason, Connections, Event, MIN_IPV6_MTU_BYTES, SECOND, StreamEvent};

use super::bench::{Bench, RTT_NS, Side};
use super::path_mtu::{Transfer, senders};
use crate::segment::{Options, Piece, Segment, types};
use crate::{Config, EndpointConfig, MtuSearch};

/// Ends that take pieces; over IPv6, full packets are never below its least MTU.
fn bench(is_v6: bool) -> Bench {
    let search = MtuSearch::default();
    let min_bytes = if is_v6 { |_| MIN_IPV6_MTU_BYTES } else { search.min_bytes };
    let mut bench = Bench::between(
        EndpointConfig {
            accept: Config { discover_mtu: true, ..Config::standard() },
            mtu_search: MtuSearch { min_bytes, ..search },
            ..EndpointConfig::default()
        },
        1,
    );
    bench.carries_fragments = false;
    bench
}

/// Two of a hundred segments are lost, both ways.
fn lose_some(bench: &mut Bench) {
    let mut state = 1u32;
    bench.drop = Box::new(move |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % 100 < 2
    });
}

fn sent_pieces(transfer: &Transfer) -> Vec<u32> {
    let of = |event: &Event| match event {
        Event::Sent { types: types::PIECE, wire_bytes, repeat: Some(_), .. } => Some(*wire_bytes),
        _ => None,
    };
    transfer.bench.trace.iter().filter_map(|(_, _, event)| of(event)).collect()
}

/// A flow on a path of 1500 which takes `small` and no fragments from the second second on.
fn falls(is_v6: bool, small: u32, is_lossy: bool) {
    for config in senders() {
        let mut transfer = Transfer::on(bench(is_v6), &config, 1500, 12_000_000);
        if is_lossy {
            lose_some(&mut transfer.bench);
        }
        transfer.run(20);
        let what = alloc::format!("{is_v6}, {small}, {is_lossy}, {:?}", config.controller);
        assert_eq!(transfer.mtu(), Some(1500), "{what}");
        transfer.bench.path_bytes = [small; 2];
        let took_s = transfer.finish();
        assert!(took_s.is_some(), "{what}: {:?}", transfer.bench.a.stats(transfer.id));
        let pieces = sent_pieces(&transfer);
        assert!(!pieces.is_empty(), "{what}");
        assert!(pieces.iter().all(|&bytes| bytes <= 1500), "{what}");
        let refused = transfer.bench.b.stats(1).unwrap().refused;
        assert_eq!(refused, 0, "{what}");
        assert!(took_s.unwrap() < if is_lossy { 60.0 } else { 20.0 }, "{what}: {took_s:?}");
    }
}

#[test]
fn what_was_formed_before_a_path_fell_crosses_in_pieces_where_fragments_vanish() {
    falls(false, 1300, false);
    falls(false, 700, false);
    falls(true, 1280, false);
}

#[test]
fn pieces_are_lost_now_and_then_like_everything_else() {
    falls(false, 1300, true);
    falls(true, 1280, true);
}

/// Nothing that is left to send could tell that not even the base size arrives: the pieces do.
#[test]
fn a_path_that_falls_below_the_base_behind_the_last_new_packet_is_found_out_by_the_pieces() {
    for config in senders() {
        let mut transfer = Transfer::on(bench(false), &config, 1500, 12_000_000);
        transfer.run(20);
        assert_eq!(transfer.mtu(), Some(1500), "{:?}", config.controller);
        let new_packets = |t: &Transfer| t.bench.a.stats(t.id).unwrap().data_packets;
        let mut before = 0;
        while before < new_packets(&transfer) || !transfer.has_written_all() {
            before = new_packets(&transfer);
            transfer.bench.run(SECOND / 20);
            transfer.write();
        }
        transfer.bench.wire.clear();
        transfer.bench.path_bytes = [1000; 2];
        let took_s = transfer.finish();
        assert!(took_s.is_some(), "{:?}: {:?}", config.controller, transfer.bench.a.stats(transfer.id));
        assert_eq!(new_packets(&transfer), before, "{:?}", config.controller);
        assert_eq!(transfer.mtu(), Some(576), "{:?}", config.controller);
    }
}

#[test]
fn a_first_flight_that_is_too_large_crosses_in_pieces() {
    for config in senders() {
        for is_lossy in [false, true] {
            let mut transfer = Transfer::on(bench(false), &config, 1000, 2_000_000);
            if is_lossy {
                lose_some(&mut transfer.bench);
            }
            let took_s = transfer.finish();
            let what = alloc::format!("{:?}, {is_lossy}: {took_s:?}", config.controller);
            assert!(took_s.is_some(), "{what}");
            let pieces = sent_pieces(&transfer);
            assert!(pieces.contains(&576), "{what}: {pieces:?}");
        }
    }
}

/// Patience begins when it is known that the oldest packet is too large, and not when that left.
#[test]
fn an_outage_of_over_a_minute_behind_which_the_path_takes_less_ends_nothing() {
    let mut transfer = Transfer::on(bench(false), &senders()[0], 1500, 12_000_000);
    transfer.run(20);
    let mut unlucky = None;
    transfer.bench.drop = Box::new(move |side, segment| {
        let is_new = side == Side::A && segment.data.is_some();
        is_new && *unlucky.get_or_insert(segment.number) == segment.number
    });
    transfer.bench.run(3 * RTT_NS); // what was sent before is acknowledged, and one packet is the oldest
    transfer.bench.drop = Box::new(|_, _| true);
    transfer.bench.run(70 * SECOND);
    transfer.bench.path_bytes = [1300; 2];
    transfer.bench.drop = Box::new(|_, _| false);
    assert!(transfer.finish().is_some(), "{:?}", transfer.bench.events);
}

#[test]
fn a_path_that_carries_fragments_needs_no_pieces() {
    let mut transfer = Transfer::on(bench(false), &senders()[0], 1500, 12_000_000);
    transfer.bench.carries_fragments = true;
    transfer.run(20);
    transfer.bench.path_bytes = [1300; 2];
    transfer.finish().unwrap();
    assert!(transfer.bench.cut_packets > 0);
    assert_eq!(sent_pieces(&transfer), []);
}

#[test]
fn a_peer_that_does_not_know_the_option_gets_no_pieces() {
    let mut transfer = Transfer::on(Bench::new(), &senders()[0], 1500, 12_000_000);
    transfer.bench.carries_fragments = false;
    transfer.run(20);
    transfer.bench.path_bytes = [1300; 2];
    transfer.bench.run(64 * SECOND);
    assert!(transfer.bench.heard(Side::A, StreamEvent::Closed(Some(CloseReason::Oversized))));
    assert_eq!(sent_pieces(&transfer), []);
}

#[test]
fn an_end_says_that_it_takes_pieces_if_it_finds_out_what_the_path_takes() {
    for (config, takes) in [(senders()[0].clone(), true), (Config::standard(), false)] {
        let mut bench = Bench::new();
        let id = bench.open_with(config);
        bench.a.write(id, b"x").unwrap();
        let seen = alloc::rc::Rc::new(core::cell::Cell::new(None));
        let told = alloc::rc::Rc::clone(&seen);
        bench.drop = Box::new(move |side, segment| {
            if let (Side::A, Some(bgn)) = (side, segment.bgn) {
                told.set(Some(bgn.options));
            }
            false
        });
        bench.pump();
        let options: Options = seen.get().unwrap();
        assert_eq!(options.pieces, takes);
    }
}

/// Pieces of a packet that is not there, of one that is, and far outside the window, to an end that takes
/// some and to one that takes none.
#[test]
fn pieces_that_nobody_sent_do_no_harm() {
    for takes in [true, false] {
        let mut transfer =
            Transfer::on(if takes { bench(false) } else { Bench::new() }, &senders()[0], 1500, 100_000);
        transfer.finish().unwrap();
        let names = names_of(&mut transfer);
        let before = transfer.bench.b.stats(1).unwrap();
        let data: &[u8] = &[1; 200];
        let inject = |transfer: &mut Transfer, ahead: u32, offset, total| {
            let number = (names.number + ahead) & 0xFF_FFFF;
            let piece = Some(Piece { offset, total, data: (data, &[]) });
            transfer
                .bench
                .inject(Side::B, &Segment { number, piece, poll: None, data: None, ..names.clone() });
        };
        for ahead in 0..3000 {
            inject(&mut transfer, 100 + ahead, 200 * (ahead % 5) as u16, 1200 + (ahead % 3) as u16);
            inject(&mut transfer, 100 + ahead % 7, 0, 65_535);
        }
        inject(&mut transfer, (1 << 23) - 1, 0, 1200);
        inject(&mut transfer, 0xFF_FFFF, 0, 1200);
        let after = transfer.bench.b.stats(1).unwrap();
        let (refused, duplicates) = (after.refused - before.refused, after.duplicates - before.duplicates);
        assert_eq!((refused, duplicates), if takes { (1, 1) } else { (6002, 0) }, "{takes}");
        assert_eq!(after.delivered_bytes, before.delivered_bytes);
    }
}

/// Ports, instance and next number of the opener's segments.
fn names_of(transfer: &mut Transfer) -> Segment<'static> {
    let seen = alloc::rc::Rc::new(core::cell::RefCell::new(None));
    let told = alloc::rc::Rc::clone(&seen);
    transfer.bench.drop = Box::new(move |side, segment| {
        if side == Side::A {
            let Segment { source_port, destination_port, instance, .. } = *segment;
            let number = segment.poll.map_or(segment.number, |poll| poll.next);
            let names = Segment { source_port, destination_port, number, instance, ..Segment::default() };
            *told.borrow_mut() = Some(names);
        }
        false
    });
    transfer.bench.a.write(transfer.id, b"x").unwrap();
    transfer.bench.run(SECOND);
    transfer.bench.drop = Box::new(|_, _| false);
    seen.take().unwrap()
}
