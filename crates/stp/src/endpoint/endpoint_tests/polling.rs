//! POLL and STAT, windows, persist, Nagle, keepalive.

use alloc::vec::Vec;

use alloc::boxed::Box;
use alloc::vec;

use skyhaul_core::{Connections, Engine, MS, NetworkFields, SECOND};

use super::bench::*;
use crate::{Config, State};

fn rate_bps(rate_bps: u64) -> Config {
    Config { rate_bps: Some(rate_bps), ..Config::standard() }
}

#[test]
fn a_declared_rate_polls_three_times_a_round_trip() {
    let mut bench = Bench::new();
    let id = bench.open_with(rate_bps(4_000_000));
    bench.a.write(id, &vec![1; 1_000_000]).unwrap();
    bench.run(RTT_NS);
    bench.log.clear();
    bench.run(5 * RTT_NS);
    let polls = bench.count(Side::A, "POLL");
    assert!((14..=16).contains(&polls), "{polls}");
    assert_eq!(bench.count(Side::B, "STAT"), polls);
    assert!(!bench.sent_by(Side::A).contains(&"POLL"), "all of them ride on data");
}

#[test]
fn a_way_back_that_is_slower_than_the_questions_is_not_asked_more() {
    let mut bench = Bench::new();
    bench.drop = Box::new(|side, _| side == Side::B);
    let id = bench.open_with(Config { probing: None, ..rate_bps(4_000_000) }); // nor is it asked why
    bench.a.write(id, &vec![1; 8_000_000]).unwrap();
    let overdue_ns = 1800 * MS; // of the round trip that is assumed at first
    bench.run(overdue_ns);
    assert_eq!(bench.count(Side::A, "POLL"), 3, "before the first answer");
    bench.drop = Box::new(|_, _| false);
    bench.run(2 * SECOND);
    bench.drop = Box::new(|side, _| side == Side::B);
    let polls = bench.count(Side::A, "POLL");
    bench.run(3 * RTT_NS);
    let more = bench.count(Side::A, "POLL") - polls;
    assert!((3..=6).contains(&more), "{more}, of nine that would be due");
}

#[test]
fn a_small_window_polls_with_the_last_packet_of_each_burst() {
    let mut bench = Bench::with(Config::paper(), 1);
    let id = bench.open_with(Config { send_limit_bytes: 64_000, ..Config::paper() });
    bench.a.write(id, &alloc::vec![1; 20_000]).unwrap();
    bench.run(3 * RTT_NS + MS);
    let sent: Vec<(u64, &str)> =
        bench.log.iter().filter(|(_, s, _)| *s == Side::A).map(|(t, _, n)| (*t, n.as_str())).collect();
    // Window 1, then 2, then 4: slow start by acknowledged packets, timer POLLs off.
    assert_eq!(sent[0], (0, "BGN+SD+POLL"));
    let data: Vec<bool> =
        sent[1..].iter().filter(|s| s.1.contains("SD")).map(|s| s.1.contains("POLL")).collect();
    assert_eq!(data[..6], [false, true, false, false, false, true], "{sent:?}");
}

#[test]
fn only_newer_polls_are_answered() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"x").unwrap();
    bench.pump();
    let copy = bench.wire[0].clone();
    bench.run(SECOND);
    let stats = bench.count(Side::B, "STAT");
    bench.wire.push(Flight { at: bench.now, ..copy });
    bench.run(SECOND / 10);
    assert_eq!(bench.count(Side::B, "STAT"), stats);
    assert_eq!(bench.b.stats(1).unwrap().duplicates, 1);
}

#[test]
fn a_closed_window_is_asked_about_and_opens() {
    let mut bench = Bench::with(Config { receive_limit_bytes: 8192, ..Config::standard() }, 1);
    let id = bench.open();
    bench.a.write(id, &alloc::vec![3; 40_000]).unwrap();
    // B reads nothing: run the wire without `run`, which reads.
    for _ in 0..3000 {
        bench.pump();
        bench.now = bench.now.after(MS);
        let now = bench.now;
        let (due, later) = core::mem::take(&mut bench.wire).into_iter().partition(|f| f.at <= now);
        bench.wire = later;
        for flight in due {
            let flight: Flight = flight;
            let from = if flight.to == Side::A { Side::B } else { Side::A };
            bench.end(flight.to).handle(
                now,
                from.address(),
                NetworkFields::default(),
                &flight.bytes,
                &mut skyhaul_core::NullSink,
            );
        }
        bench.a.handle_timeout(now, &mut skyhaul_core::NullSink);
    }
    assert!(bench.b.stats(1).unwrap().delivered_bytes <= 8192);
    bench.log.clear();
    bench.run(10 * SECOND);
    assert_eq!(bench.received(1).len(), 40_000);
}

#[test]
fn persist_polls_go_on_when_the_window_update_is_lost() {
    let mut bench = Bench::with(Config { receive_limit_bytes: 4096, ..Config::standard() }, 1);
    bench.drop = Box::new(|side, segment| side == Side::B && segment.ustat.is_some());
    let id = bench.open();
    bench.a.write(id, &alloc::vec![3; 30_000]).unwrap();
    bench.run(60 * SECOND);
    assert_eq!(bench.received(1).len(), 30_000);
}

#[test]
fn nagle_holds_a_small_segment_back_until_the_acknowledgement() {
    for nagle in [false, true] {
        let mut bench = Bench::new();
        let id = bench.open_with(Config { nagle, ..Config::standard() });
        for _ in 0..3 {
            bench.a.write(id, b"tiny").unwrap();
            bench.pump();
        }
        assert_eq!(bench.count(Side::A, "SD"), if nagle { 1 } else { 3 });
        bench.run(2 * SECOND);
        assert_eq!(bench.received(1), b"tinytinytiny");
        assert_eq!(bench.count(Side::A, "SD"), if nagle { 2 } else { 3 });
    }
}

#[test]
fn the_last_packet_that_nagle_lets_go_asks_for_the_answer_that_frees_the_rest() {
    let mut bench = Bench::with(Config::paper(), 1);
    let id = bench.open_with(Config { send_limit_bytes: 64_000, ..Config::paper() });
    bench.a.write(id, &vec![1; 5_000]).unwrap();
    bench.run(10 * RTT_NS); // the window has some packets, fewer than ten
    bench.log.clear();
    let payload = Config::paper().max_payload_bytes;
    bench.a.write(id, &vec![2; 2 * payload + payload / 3]).unwrap();
    bench.run(RTT_NS + 50 * MS);
    let sent: Vec<&str> =
        bench.sent_by(Side::A).into_iter().filter(|segment| segment.contains("SD")).collect();
    assert_eq!(sent, ["SD", "SD+POLL", "SD+POLL"], "the third is held back for one round trip and no longer");
}

#[test]
fn an_idle_connection_is_polled_rarely() {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"x").unwrap();
    bench.run(SECOND);
    bench.log.clear();
    bench.run(200 * SECOND);
    let polls = bench.count(Side::A, "POLL") + bench.count(Side::B, "POLL");
    assert!((9..=20).contains(&polls), "{polls}");
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
}

#[test]
fn a_declared_rate_is_kept_to_the_byte() {
    let mut bench = Bench::new();
    let id = bench.open_with(rate_bps(1_000_000));
    bench.a.write(id, &vec![1; 1_000_000]).unwrap();
    bench.run(4 * SECOND);
    let sent = bench.a.stats(id).unwrap().sent_bytes;
    assert!((490_000..=502_000).contains(&sent), "{sent} bytes in 4 s at 1 Mbit/s");
}

#[test]
fn two_connections_share_a_declared_rate_fairly() {
    let mut bench = Bench::new();
    let first = bench.open_with(rate_bps(1_000_000));
    let second = bench.open_with(rate_bps(1_000_000));
    for id in [first, second] {
        bench.a.write(id, &vec![1; 900_000]).unwrap();
    }
    bench.run(4 * SECOND);
    let sent = [first, second].map(|id| bench.a.stats(id).unwrap().sent_bytes);
    assert!(sent[0] + sent[1] <= 502_000, "{sent:?}");
    assert!(sent[0].abs_diff(sent[1]) < 20_000, "{sent:?}");
}

#[test]
fn polls_leave_room_for_data_at_a_low_declared_rate() {
    let mut bench = Bench::new();
    bench.delay_ns = MS;
    let mut hold = 3;
    bench.drop = Box::new(move |side, segment| {
        let hit = side == Side::A && segment.data.is_some() && hold > 0;
        hold -= i32::from(hit);
        hit
    });
    // A POLL every 10 ms is more than this rate carries.
    let id = bench.open_with(Config { rate_bps: Some(20_000), ..Config::standard() });
    bench.a.write(id, &[5; 4000]).unwrap();
    bench.a.finish(id);
    bench.run(20 * SECOND);
    assert_eq!(bench.received(1).len(), 4000);
    assert!(bench.count(Side::A, "POLL") < 100, "{} POLLs", bench.count(Side::A, "POLL"));
}

#[test]
fn a_poll_does_not_push_a_full_repeat_out_of_a_low_rate() {
    let mut bench = Bench::new();
    bench.delay_ns = MS;
    let mut full = 0;
    bench.drop = Box::new(move |side, segment| {
        // Packets that have no room for a POLL beside them: they left before the first sample, when
        // POLLs were rare.
        let is_full = side == Side::A && segment.payload_bytes() == 1460;
        full += i32::from(is_full);
        (is_full && full <= 2) || (side == Side::B && full < 2)
    });
    let slow = Config { rate_bps: Some(20_000), initial_rtt_ns: 6 * SECOND, ..Config::standard() };
    let id = bench.open_with(Config { bgn_repeats: 0, poll_first_burst: false, idle_repeat: false, ..slow });
    bench.a.write(id, &[5; 5 * 1460]).unwrap();
    bench.run(60 * SECOND);
    assert_eq!(bench.received(1).len(), 5 * 1460);
}
