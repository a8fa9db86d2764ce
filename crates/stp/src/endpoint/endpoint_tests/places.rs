//! Places and memory: whoever proves nothing gives way to newcomers, and no peer takes what others need.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::net::SocketAddr;

use skyhaul_core::{
    CloseReason, Connections, Engine, MS, NetworkFields, NullSink, ResetReason, SECOND, StreamEvent,
};

use super::bench::*;
use super::cookies::{answer, proof};
use super::path_mtu;
use crate::segment::{Opening, Segment, encode};
use crate::{EndpointConfig, State};

const PAYLOAD_BYTES: usize = 1400;

/// Another address for each number.
pub(super) fn stranger(number: u32) -> SocketAddr {
    SocketAddr::from(((number + 0x0B00_0000).to_be_bytes(), 9))
}

/// B hears a segment from somebody.
pub(super) fn hear(bench: &mut Bench, from: SocketAddr, segment: &Segment<'_>) {
    let mut bytes = Vec::new();
    encode(segment, &mut bytes);
    bench.b.handle(bench.now, from, NetworkFields::default(), &bytes, &mut NullSink);
}

/// A segment with the opening of stranger `number`.
pub(super) fn forged(number: u32) -> Segment<'static> {
    let nonce = u64::from(number) + (1 << 40);
    let opening = Opening { max_payload_bytes: 1400, window_bytes: 9, nonce, ..Opening::default() };
    let (source_port, instance) = (9, number as u16);
    let bgn = Some(opening);
    Segment { source_port, destination_port: PORT, instance, bgn, ..Segment::default() }
}

/// Stranger `number` opens, and sends as many packets as it is asked for, all but the first.
fn hungry(bench: &mut Bench, number: u32, packets: u32) {
    let opening = forged(number);
    hear(bench, stranger(number), &opening);
    for i in 1..=packets {
        let data = Some((&[7; PAYLOAD_BYTES][..], &[][..]));
        hear(bench, stranger(number), &Segment { number: i, bgn: None, data, ..opening.clone() });
    }
}

/// Stranger `number`, to whom a cookie was sent, proves its address.
fn prove(bench: &mut Bench, number: u32) {
    let opening = forged(number);
    let answer = answer(bench, &opening, number);
    hear(bench, stranger(number), &proof(&opening, &answer));
}

pub(super) fn of(max_connections: usize, max_unproven: usize) -> Bench {
    Bench::between(EndpointConfig { max_connections, max_unproven, ..EndpointConfig::default() }, 1)
}

#[test]
fn a_flood_of_openings_is_bounded_and_nobody_gives_way_to_it() {
    let mut bench = of(100, 40);
    for number in 0..5000 {
        hear(&mut bench, stranger(number), &forged(number));
        while bench.b.accept().is_some() {}
        while let Some((id, StreamEvent::Closed(_))) = bench.b.poll_event() {
            bench.b.release(bench.now, id);
        }
    }
    assert_eq!(bench.b.connection_count(), 40);
    let stats = bench.b.endpoint_stats();
    assert_eq!((stats.gave_way, stats.full, stats.cookies_sent + stats.unanswered), (0, 0, 5000 - 40));
    assert!(stats.cookies_sent <= 257, "{}: at once", stats.cookies_sent);
    assert!((1..=40).all(|id| bench.b.state(id).is_some()));
    let (mut sent, mut buffer) = (0, Vec::new());
    while bench.b.poll_transmit(bench.now, &mut buffer, 10, &mut NullSink).is_some() {
        sent += 1;
    }
    assert!(sent <= 40 + 64, "{sent}: answers of which nothing is kept are few at once");
    bench.run(31 * SECOND);
    assert!((1..=40).all(|id| bench.b.state(id).is_none_or(|state| state == State::Closed)));
}

#[test]
fn a_newcomer_gets_in_beside_forged_openings_and_is_never_their_victim_once_it_is_proven() {
    let mut bench = of(100, 40);
    for number in 0..35 {
        hear(&mut bench, stranger(number), &forged(number));
    }
    while bench.b.accept().is_some() {} // of 32 nobody lets go
    let id = bench.open();
    bench.a.write(id, &[1; 1000]).unwrap();
    for number in 100..105 {
        bench.run(30 * MS); // B has it after 100 ms, and the proof after 300
        hear(&mut bench, stranger(number), &forged(number));
    }
    let newcomer = 39;
    assert_eq!(bench.b.stats(newcomer).unwrap().delivered_bytes, 1000);
    assert_eq!(bench.b.accept(), None, "as many as may were handed out before the proof");
    bench.run(RTT_NS);
    for number in 200..1000 {
        hear(&mut bench, stranger(number), &forged(number));
    }
    assert_eq!(bench.b.accept(), Some(newcomer));
    bench.run(SECOND);
    let states = (bench.a.state(id), bench.b.state(newcomer));
    assert_eq!(states, (Some(State::Established), Some(State::Established)));
}

#[test]
fn whoever_gives_way_is_told_so_in_a_number_that_it_believes() {
    for answered in [false, true] {
        let mut bench = of(4, 4);
        let id = bench.open();
        bench.a.write(id, &[1; 3000]).unwrap();
        bench.run(DELAY_NS + MS); // B has the opening, and A no answer yet
        if answered {
            // What A says to the answer is lost: it stays unproven.
            bench.drop = alloc::boxed::Box::new(|side, _| side == Side::A);
            bench.run(DELAY_NS);
        }
        for number in 0..4 {
            hear(&mut bench, stranger(number), &forged(number));
        }
        prove(&mut bench, 3);
        bench.drop = alloc::boxed::Box::new(|_, _| false);
        bench.run(RTT_NS);
        let busy = StreamEvent::Closed(Some(CloseReason::Reset(Some(ResetReason::Busy))));
        assert!(bench.heard(Side::A, busy), "{answered}: {:?}", bench.events);
    }
}

#[test]
fn an_application_that_refuses_a_proven_peer_is_believed() {
    let (mut bench, id, _) = Bench::opened(b"hello");
    assert!(bench.b.is_proven(1));
    bench.b.refuse(1);
    bench.run(RTT_NS);
    let busy = CloseReason::Reset(Some(ResetReason::Busy));
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(busy))), "{:?}", bench.states(id));
}

/// A probe of the path's MTU asks, too, and has another number than what is new: the RST that answered one
/// was not believed, and its sender heard later that nobody knows the connection.
#[test]
fn an_application_that_refuses_is_believed_though_a_probe_of_the_mtu_asked_last() {
    for config in path_mtu::senders() {
        let mut transfer = path_mtu::Transfer::on(Bench::new(), &config, 1500, 4_000_000);
        let bench = &mut transfer.bench;
        let is_probed = Rc::new(Cell::new(false));
        let probed = Rc::clone(&is_probed);
        // Nothing of A's arrives behind its first probe.
        bench.drop = alloc::boxed::Box::new(move |side, segment| {
            let is_behind = side == Side::A && probed.get();
            probed.set(probed.get() || segment.poll.is_some_and(|poll| poll.pads));
            is_behind
        });
        while !is_probed.get() {
            bench.run(MS);
        }
        bench.run(DELAY_NS);
        bench.b.refuse(1);
        bench.drop = alloc::boxed::Box::new(|_, _| false);
        bench.run(2 * RTT_NS);
        let busy = CloseReason::Reset(Some(ResetReason::Busy));
        assert!(bench.heard(Side::A, StreamEvent::Closed(Some(busy))), "{:?}", bench.events);
    }
}

#[test]
fn connections_of_one_address_leave_half_of_the_places_to_others() {
    let mut bench = of(10, 10);
    for _ in 0..8 {
        let id = bench.open();
        bench.a.write(id, b"hello").unwrap();
    }
    bench.run(SECOND);
    let open = (1..=8).filter(|&id| bench.a.state(id) == Some(State::Established)).count();
    assert_eq!(open, 5);
    for id in (1..=8).filter(|&id| bench.b.state(id) == Some(State::Closed)).collect::<Vec<_>>() {
        bench.b.release(bench.now, id);
    }
    hear(&mut bench, Side::A.address(), &forged(1));
    assert_eq!((bench.b.connection_count(), bench.b.endpoint_stats().full), (5, 1));
    hear(&mut bench, stranger(1), &forged(1));
    assert_eq!(bench.b.connection_count(), 6);
}

#[test]
fn forged_connections_keep_an_eighth_of_the_budget_and_an_honest_one_all_that_it_needs() {
    let receive_budget_bytes = 16 << 20;
    let mut bench = Bench::between(EndpointConfig { receive_budget_bytes, ..EndpointConfig::default() }, 1);
    for number in 0..8 {
        hungry(&mut bench, number, 2000); // 2.8 MB each
    }
    let kept = bench.b.kept_bytes();
    assert!((1 << 20..=receive_budget_bytes / 8).contains(&kept), "{kept}");
    bench.reads = false;
    let id = bench.open_with(crate::Config { rate_bps: Some(80_000_000), ..crate::Config::standard() });
    bench.a.write(id, &alloc::vec![1; 6 << 20]).unwrap();
    bench.run(10 * SECOND);
    assert_eq!(bench.b.stats(9).unwrap().delivered_bytes, 6 << 20, "nobody reads, and all of it is there");
    bench.b.abort(9);
    bench.b.release(bench.now, 9);
    bench.run(60 * SECOND);
    assert_eq!(bench.b.kept_bytes(), 0, "what was kept for strangers goes with them");
}

#[test]
fn windows_of_two_that_nobody_reads_tell_what_there_is_room_for() {
    let receive_budget_bytes = 16 << 20;
    let accept = crate::Config { receive_limit_bytes: 8 << 20, ..crate::Config::standard() };
    let config = EndpointConfig { accept, receive_budget_bytes, ..EndpointConfig::default() };
    let mut bench = Bench::between(config, 1);
    bench.reads = false;
    let data = alloc::vec![1; 7_000_000];
    let config = crate::Config { rate_bps: Some(80_000_000), ..crate::Config::standard() };
    let both = [(); 2].map(|()| bench.open_with(config.clone()));
    for id in both {
        assert_eq!(bench.a.write(id, b"early data has an eighth of the budget"), Ok(38));
    }
    bench.run(SECOND);
    for id in both {
        assert_eq!(bench.a.write(id, &data), Ok(data.len()));
    }
    bench.run(10 * SECOND);
    let kept = bench.b.kept_bytes();
    assert!((receive_budget_bytes / 2..receive_budget_bytes * 3 / 4).contains(&kept), "{kept}");
    let refused = [1, 2].map(|id| bench.b.stats(id).unwrap().refused);
    assert_eq!(refused, [0, 0], "what nobody has room for is not asked for");
    let repeated = [1, 2].map(|id| bench.a.stats(id).unwrap().retransmitted_packets);
    assert_eq!(repeated, [0, 0]);
}

#[test]
fn nothing_is_told_of_a_connection_before_it_is_handed_out() {
    let mut bench = Bench::between(EndpointConfig { max_early: 1, ..EndpointConfig::default() }, 1);
    bench.reads = false;
    hear(&mut bench, stranger(1), &forged(1));
    assert_eq!(bench.b.accept(), Some(1), "it is the one that is handed out without proof");
    let id = bench.open();
    bench.a.write(id, b"hello").unwrap();
    bench.run(DELAY_NS + MS);
    assert_eq!((bench.b.connection_count(), bench.b.accept()), (2, None));
    assert!(!bench.events.iter().any(|&(side, id, _)| (side, id) == (Side::B, 2)), "{:?}", bench.events);
    bench.run(RTT_NS);
    assert_eq!(bench.b.accept(), Some(2));
    assert!(bench.events.contains(&(Side::B, 2, StreamEvent::Readable)), "{:?}", bench.events);
}
