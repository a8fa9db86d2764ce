//! BGN, BGNAK, early data, repeats, crossing openings, refusals, proof of the address.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{CloseReason, Connections, MS, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use crate::segment::{Segment, decode};
use crate::{Config, State};

#[test]
fn data_goes_with_bgn_and_is_delivered_after_half_a_round_trip() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.pump();
    assert!(bench.log.is_empty(), "BGN waits for the first word");
    assert_eq!(bench.states(id).0, Some(State::BgnSent));
    bench.a.write(id, b"hello").unwrap();
    bench.pump();
    assert_eq!(bench.sent_by(Side::A), ["BGN+SD+POLL"]);
    assert_eq!(bench.states(id).0, Some(State::BgnDataSent));
    bench.run(DELAY_NS);
    assert_eq!(bench.received(1), b"hello");
    assert_eq!(bench.sent_by(Side::B), ["BGNAK+POLL+STAT"]);
    bench.run(DELAY_NS);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
    assert!(bench.heard(Side::A, StreamEvent::Connected));
    bench.run(SECOND / 2);
    assert_eq!(bench.sent_by(Side::A), ["BGN+SD+POLL", "STAT"], "the STAT proves A's address to B");
}

#[test]
fn a_whole_exchange_can_fit_into_the_opening() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"request").unwrap();
    bench.a.finish(id);
    bench.pump();
    assert_eq!(bench.sent_by(Side::A), ["BGN+SD+POLL+END"]);
    assert_eq!(bench.states(id).0, Some(State::BgnDataEndSent));
    bench.run(DELAY_NS);
    assert_eq!(bench.states(1).1, Some(State::HalfClosedRemote));
    assert_eq!(bench.received(1), b"request");
}

#[test]
fn an_opening_without_data_goes_alone() {
    let mut bench = Bench::new();
    let id = bench.a.connect(bench.now, Side::B.address(), PORT, Config::standard(), false).unwrap();
    bench.run(SECOND);
    assert_eq!(bench.sent_by(Side::A), ["BGN", "STAT"]);
    assert_eq!(bench.sent_by(Side::B), ["BGNAK+POLL"]);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
}

#[test]
fn a_lost_opening_is_repeated_with_growing_patience() {
    let mut bench = Bench::new();
    bench.drop = Box::new(|_, _| true);
    bench.a.connect(bench.now, Side::B.address(), PORT, Config::standard(), false).unwrap();
    bench.run(29 * SECOND);
    let times: Vec<u64> = bench.log.iter().map(|(ms, _, _)| *ms / 1000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 25]);
    bench.run(2 * SECOND);
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(CloseReason::ConnectTimeout))));
}

#[test]
fn the_paper_profile_gives_up_after_bounded_tries() {
    let mut bench = Bench::new();
    bench.drop = Box::new(|_, _| true);
    bench.a.connect(bench.now, Side::B.address(), PORT, Config::paper(), false).unwrap();
    bench.run(2000 * SECOND);
    assert_eq!(bench.count(Side::A, "BGN"), 12);
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(CloseReason::ConnectTimeout))));
}

#[test]
fn a_copy_of_the_opening_beside_data_is_answered_if_it_asks() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, &[7; 12_000]).unwrap();
    bench.pump();
    assert_eq!(bench.sent_by(Side::A)[..4], ["BGN+SD+POLL", "BGN+SD", "BGN+SD", "BGN+SD+POLL"]);
    let flight: Vec<_> = bench.wire.iter().map(|datagram| datagram.bytes.clone()).collect();
    bench.run(DELAY_NS);
    for (copied, answers) in [(1, 0), (2, 0), (3, 1)] {
        let before = bench.count(Side::B, "BGNAK");
        bench.inject(Side::B, &decode(&flight[copied]).unwrap());
        bench.pump();
        assert_eq!(bench.count(Side::B, "BGNAK"), before + answers, "{:?}", bench.log);
    }
}

#[test]
fn early_data_survives_the_loss_of_the_first_packets() {
    let mut bench = Bench::new();
    let mut left = 3;
    bench.drop = Box::new(move |side, _| {
        left -= i32::from(side == Side::A);
        side == Side::A && left >= 0
    });
    let id = bench.open();
    let data: Vec<u8> = (0..12_000u32).map(|i| i as u8).collect();
    bench.a.write(id, &data).unwrap();
    bench.run(4 * SECOND);
    assert_eq!(bench.received(1), data);
}

#[test]
fn openings_that_cross_become_one_connection() {
    for seed in 1..9 {
        let mut bench = Bench::with(Config::standard(), seed);
        bench.a.listen(PORT);
        let a = bench.a.connect(bench.now, Side::B.address(), PORT, Config::standard(), false).unwrap();
        bench.pump();
        let bgn = bench.wire.pop().unwrap();
        let from_a = decode(&bgn.bytes).unwrap();
        // B opens from PORT to A's port: craft its BGN by swapping A's ports.
        let crossing = Segment {
            source_port: from_a.destination_port,
            destination_port: from_a.source_port,
            instance: from_a.instance ^ 0x55,
            bgn: from_a.bgn.map(|mut o| {
                o.nonce = if seed % 2 == 0 { u64::MAX } else { 0 };
                o
            }),
            ..Segment::default()
        };
        bench.inject(Side::A, &crossing);
        bench.pump();
        if seed % 2 == 0 {
            assert_eq!(bench.a.state(a), Some(State::Established), "the larger nonce wins");
            assert_eq!(bench.sent_by(Side::A).last(), Some(&"BGNAK"));
        } else {
            assert_eq!(bench.a.state(a), Some(State::BgnSent));
            assert_eq!(bench.sent_by(Side::A).last(), Some(&"BGN"), "the winner repeats its own");
        }
    }
}

#[test]
fn nobody_listening_is_a_refusal() {
    let mut bench = Bench::new();
    bench.b.unlisten(PORT);
    let id = bench.open();
    bench.a.write(id, b"x").unwrap();
    bench.run(SECOND);
    let reason = CloseReason::Reset(Some(ResetReason::Refused));
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(reason))));
    assert_eq!(bench.states(id).0, Some(State::Closed));
}

#[test]
fn data_before_a_lost_opening_does_not_reset_it() {
    let mut bench = Bench::new();
    bench.drop = Box::new(|_, segment| segment.bgn.is_some());
    let id = bench.open();
    bench.a.write(id, &[7; 9000]).unwrap();
    bench.run(400 * MS);
    assert!(bench.count(Side::B, "RST") > 0);
    assert_eq!(bench.states(id).0, Some(State::BgnDataSent));
    bench.drop = Box::new(|_, _| false);
    bench.run(4 * SECOND);
    assert_eq!(bench.received(1).len(), 9000);
}

#[test]
fn an_unproven_address_gets_three_times_what_it_sent_at_most() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"give me much").unwrap();
    bench.pump();
    bench.drop = Box::new(|side, _| side == Side::B); // nothing reaches A: it proves nothing
    bench.run(DELAY_NS);
    bench.b.write(1, &alloc::vec![1; 100_000]).unwrap();
    bench.run(25 * SECOND);
    let stats = bench.b.stats(1).unwrap();
    assert!(stats.sent_bytes <= 3 * stats.received_bytes, "{stats:?}");
    assert!(stats.sent_bytes > 0);
    bench.drop = Box::new(|_, _| false);
    bench.run(4 * SECOND);
    assert!(bench.b.stats(1).unwrap().sent_bytes > 100_000, "proven: no limit");
}

#[test]
fn an_acceptor_that_trusts_its_peers_sends_all_its_first_window_to_an_unproven_address() {
    let answer = |trusts_peers| {
        let mut bench = Bench::with(Config { trusts_peers, ..Config::standard() }, 1);
        let id = bench.open();
        bench.a.write(id, b"give me much").unwrap();
        bench.pump();
        bench.drop = Box::new(|side, _| side == Side::B); // nothing reaches A: it proves nothing
        bench.run(DELAY_NS);
        bench.b.write(1, &alloc::vec![1; 9000]).unwrap();
        bench.pump();
        (bench.b.stats(1).unwrap().data_packets, bench.b.is_proven(1))
    };
    assert_eq!(answer(false), (1, false));
    assert_eq!(answer(true), (7, false), "9000 octets, whole");
}

#[test]
fn an_acceptor_whose_peer_never_proves_its_address_gives_up() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"x").unwrap();
    bench.pump();
    bench.run(DELAY_NS);
    bench.a.release(bench.now, id);
    bench.drop = Box::new(|_, _| true);
    bench.run(31 * SECOND);
    assert_eq!(bench.b.state(1), Some(State::Closed));
}

/// B answers an opening of `asked` octets with `answered`, and hears no STAT.
fn unproven(asked: usize, answered: usize) -> Bench {
    let mut bench = Bench::with(Config { spares_ustats: false, ..Config::standard() }, 1);
    bench.drop = Box::new(|side, segment| side == Side::A && segment.stat.is_some());
    let id = bench.open_with(Config { ustat_threshold: Some(0), keepalive_ns: None, ..Config::standard() });
    bench.a.write(id, &vec![1; asked]).unwrap();
    bench.run(DELAY_NS);
    bench.b.write(1, &vec![2; answered]).unwrap();
    bench.b.finish(1);
    bench
}

#[test]
fn no_end_takes_an_acceptor_beyond_the_limit() {
    for asked in 1..80 {
        let mut bench = unproven(asked, 47);
        bench.run(9 * SECOND);
        let stats = bench.b.stats(1).unwrap();
        assert!(stats.sent_bytes <= 3 * stats.received_bytes, "{asked}: {stats:?}");
    }
}

/// The END comes when most of the limit is used up; its POLL may tell the peer what was settled.
#[test]
fn no_end_that_follows_its_data_takes_an_acceptor_beyond_the_limit() {
    for answered in 1..100 {
        let mut bench = Bench::new();
        bench.a.connect(bench.now, Side::B.address(), PORT, Config::standard(), false).unwrap();
        bench.pump();
        bench.deliver_at_once();
        bench.b.write(1, &vec![2; answered]).unwrap();
        bench.drop = Box::new(|side, _| side == Side::B);
        bench.run(DELAY_NS);
        bench.b.finish(1);
        bench.run(DELAY_NS / 2);
        let stats = bench.b.stats(1).unwrap();
        assert!(stats.sent_bytes <= 3 * stats.received_bytes, "{answered}: {stats:?}");
        bench.drop = Box::new(|_, _| false);
        bench.run(9 * SECOND);
        assert_eq!(bench.b.stats(1).unwrap().acknowledged_bytes, answered as u64);
    }
}

#[test]
fn a_lost_packet_that_the_limit_does_not_allow_wakes_nobody() {
    let mut bench = unproven(600, 4000);
    let mut first = true;
    bench.drop = Box::new(move |side, segment| match side {
        Side::A => segment.stat.is_some(),
        Side::B => segment.data.is_some() && core::mem::take(&mut first),
    });
    bench.run(9 * SECOND); // the bench panics if a deadline is reached and nothing is sent
    let stats = bench.b.stats(1).unwrap();
    assert_eq!(stats.lost_packets.iter().sum::<u64>(), 1, "{stats:?}");
    assert_eq!(stats.retransmitted_packets, 0, "{stats:?}");
}

#[test]
fn an_acceptor_at_its_limit_is_spoken_to_until_the_proof_has_arrived() {
    let mut bench = unproven(10, 4000);
    bench.run(5 * SECOND);
    bench.drop = Box::new(|_, _| false);
    bench.run(40 * SECOND);
    assert_eq!(bench.b.stats(1).unwrap().acknowledged_bytes, 4000);
}

/// The acceptor has 30 s of patience with a peer that proves nothing.
#[test]
fn neither_a_lost_proof_nor_lost_questions_after_it_end_a_quiet_connection() {
    let mut bench = Bench::new();
    let id = bench.a.connect(bench.now, Side::B.address(), PORT, Config::standard(), false).unwrap();
    bench.drop = Box::new(|side, segment| side == Side::A && segment.stat.is_some());
    bench.run(SECOND / 2);
    let mut lost = 0;
    bench.drop = Box::new(move |side, _| {
        lost += u32::from(side == Side::A);
        side == Side::A && lost <= 5
    });
    bench.run(60 * SECOND);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
    let polls = bench.count(Side::A, "POLL");
    assert!(polls <= 10, "{polls} POLLs in a quiet minute");
}

#[test]
fn a_reset_of_early_data_may_come_after_the_answer() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, &[1; 3000]).unwrap();
    bench.pump();
    let early = bench.wire[1].bytes.clone();
    bench.run(SECOND);
    let reset = |number: u32| {
        let segment = decode(&early).unwrap();
        Segment {
            source_port: segment.destination_port,
            destination_port: segment.source_port,
            number,
            instance: segment.instance,
            rst: Some(ResetReason::UnknownConnection),
            ..Segment::default()
        }
    };
    let number = decode(&early).unwrap().number;
    let polls = bench.count(Side::A, "POLL");
    bench.inject(Side::A, &reset(number));
    bench.pump();
    assert_eq!(bench.states(id).0, Some(State::Established));
    assert_eq!(bench.count(Side::A, "POLL"), polls + 1, "the peer is asked");
    bench.inject(Side::A, &reset(number + 2));
    assert_eq!(bench.states(id).0, Some(State::Closed), "the answer to a later segment counts");
}

#[test]
fn an_opening_never_makes_a_repeat_too_large_for_the_path() {
    for (lost, in_a_row) in (1..9).flat_map(|lost| [(lost, 1), (lost, 2), (lost, 3)]) {
        // USTATs get through and tell of the loss; BGNAKs do not, so that A's POLLs bring BGN.
        let accept = Config { ustat_threshold: Some(0), ustats_per_poll: None, ..Config::standard() };
        let mut bench = Bench::with(accept, 1);
        let (mut seen, mut withheld) = (0, 0);
        bench.drop = Box::new(move |side, segment| {
            let is_data = side == Side::A && segment.data.is_some();
            seen += usize::from(is_data);
            withheld += usize::from(segment.bgnak.is_some());
            let is_lost = (lost + 1..=lost + in_a_row).contains(&seen);
            (is_data && is_lost) || (segment.bgnak.is_some() && withheld < 5)
        });
        let id = bench.open_with(Config { retransmit_within_window: false, ..Config::standard() });
        bench.a.write(id, &vec![1; 60_000]).unwrap();
        for _ in 0..1000 {
            bench.run(10 * MS);
            let largest = bench.wire.iter().map(|flight| flight.bytes.len()).max().unwrap_or(0);
            assert!(largest <= 1500 - 28, "{largest} octets, {lost} lost");
        }
        assert_eq!(bench.received(1).len(), 60_000, "{lost} lost");
    }
}
