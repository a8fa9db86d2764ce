//! END, ENDAK, half-close, RST, lingering, silence.

use alloc::boxed::Box;
use alloc::vec::Vec;

use skyhaul_core::{
    CloseReason, Connections, Engine, Instant, MS, NullSink, ResetReason, SECOND, StreamError, StreamEvent,
};

use super::bench::*;
use crate::{Config, State};

fn established() -> (Bench, u64) {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"hello").unwrap();
    bench.run(SECOND);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
    bench.log.clear();
    (bench, id)
}

#[test]
fn each_direction_ends_by_itself() {
    let (mut bench, id) = established();
    bench.a.finish(id);
    bench.pump();
    assert_eq!(bench.states(id).0, Some(State::EndSent));
    bench.run(RTT_NS);
    assert_eq!(bench.states(id), (Some(State::HalfClosedLocal), Some(State::HalfClosedRemote)));
    assert!(bench.heard(Side::A, StreamEvent::Finished));
    bench.b.write(id, b"still talking").unwrap();
    bench.run(RTT_NS);
    bench.b.finish(id);
    bench.pump();
    assert_eq!(bench.states(id).1, Some(State::Closing));
    bench.run(RTT_NS);
    assert_eq!(bench.states(id), (Some(State::Linger), Some(State::Closed)), "who ended last is done");
    bench.run(10 * SECOND);
    assert_eq!(bench.states(id), (Some(State::Closed), Some(State::Closed)));
    assert!(bench.heard(Side::A, StreamEvent::Closed(None)));
    bench.a.release(bench.now, id);
    bench.b.release(bench.now, id);
    bench.pump();
    assert_eq!((bench.a.connection_count(), bench.b.connection_count()), (0, 0));
    assert_eq!((bench.a.deadline(), bench.b.deadline()), (None, None));
}

/// A has sent a kilobyte and ended, and B ends as soon as it has both. Result: round trips from A's end until
/// B has closed.
fn round_trips_until_b_closes(bench: &mut Bench) -> Option<u64> {
    let id = bench.open();
    bench.a.write(id, &[1; 1000]).unwrap();
    bench.a.finish(id);
    let begun = bench.now;
    bench.run(DELAY_NS);
    bench.b.finish(1);
    while bench.b.state(1) != Some(State::Closed) {
        bench.run(MS);
        if bench.now.since(begun) > 200 * RTT_NS {
            return None;
        }
    }
    assert!(bench.heard(Side::B, StreamEvent::Finished) && bench.heard(Side::B, StreamEvent::Closed(None)));
    Some(bench.now.since(begun).div_ceil(RTT_NS))
}

#[test]
fn who_ends_last_closes_with_the_confirmation_of_its_end() {
    let mut bench = Bench::new();
    assert_eq!(round_trips_until_b_closes(&mut bench), Some(2), "half a one, and one for END and ENDAK");
    let last = bench.sent_by(Side::B).iter().position(|names| names.contains("END")).unwrap();
    assert!(bench.sent_by(Side::B)[last].contains("STAT"), "END confirms all: {:?}", bench.log);
    assert!(bench.heard(Side::A, StreamEvent::Finished));
}

#[test]
fn who_ends_last_lingers_if_its_end_came_without_its_reports() {
    let (mut bench, id) = established();
    bench.a.write(id, &[1; 1000]).unwrap();
    bench.b.finish(1); // before A has ended: this END confirms nothing of A's
    bench.run(RTT_NS);
    bench.drop = Box::new(|side, segment| side == Side::B && (segment.stat.is_some() || segment.endak));
    bench.a.finish(id);
    bench.run(RTT_NS);
    assert_eq!(bench.states(id), (Some(State::Closing), Some(State::Linger)));
    bench.drop = Box::new(|_, _| false);
    bench.run(5 * SECOND);
    assert!(bench.heard(Side::A, StreamEvent::Closed(None)), "{:?}", bench.events);
}

#[test]
fn a_peer_that_left_with_its_last_word_lost_makes_no_failure() {
    // A is gone as soon as it has confirmed B's END; the network says so, or nobody does.
    for says_so in [true, false] {
        let (mut bench, id) = established();
        bench.a.write(id, b"all of it").unwrap();
        bench.a.finish(id);
        bench.run(DELAY_NS);
        bench.b.write(1, b"got it").unwrap();
        bench.run(RTT_NS);
        bench.drop = Box::new(|side, _| side == Side::A);
        bench.b.finish(1);
        bench.run(RTT_NS);
        assert_eq!(bench.b.state(1), Some(State::Closing), "{:?}", bench.log);
        if says_so {
            bench.b.unreachable(Side::A.address(), false);
            bench.pump();
        } else {
            bench.run(700 * SECOND);
        }
        assert!(bench.heard(Side::B, StreamEvent::Finished), "{says_so}: {:?}", bench.events);
        assert!(bench.heard(Side::B, StreamEvent::Closed(None)), "{says_so}: {:?}", bench.events);
    }
}

#[test]
fn a_report_that_is_not_believed_ends_nothing_that_goes_on() {
    let (mut bench, id) = established();
    bench.a.unreachable(Side::B.address(), false);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
    bench.a.write(id, b"unconfirmed").unwrap();
    bench.a.finish(id);
    bench.pump();
    bench.a.unreachable(Side::B.address(), false);
    assert_eq!(bench.states(id).0, Some(State::EndSent));
}

#[test]
fn who_has_left_ends_its_direction_for_a_peer_that_missed_it() {
    let (mut bench, id) = established();
    bench.a.finish(id);
    bench.run(SECOND);
    bench.drop = Box::new(|side, _| side == Side::B);
    bench.b.finish(1);
    bench.run(RTT_NS);
    bench.b.unreachable(Side::A.address(), false); // a forgery: A is there
    bench.b.release(bench.now, 1);
    bench.pump();
    assert_eq!((bench.states(id).0, bench.b.connection_count()), (Some(State::HalfClosedLocal), 0));
    bench.drop = Box::new(|_, _| false);
    bench.log.clear();
    bench.run(60 * SECOND); // A asks at last
    assert_eq!(bench.states(id).0, Some(State::Closed), "{:?}", bench.log);
    assert!(bench.heard(Side::A, StreamEvent::Closed(None)));
}

#[test]
fn two_that_have_left_do_not_answer_each_other() {
    let mut bench = Bench::new();
    assert!(round_trips_until_b_closes(&mut bench).is_some());
    bench.run(30 * SECOND);
    assert_eq!(bench.states(1), (Some(State::Closed), Some(State::Closed)));
    let names = bench.a.0.get(1).unwrap().names;
    let asks = crate::segment::Segment {
        source_port: names.local_port,
        destination_port: names.remote_port,
        instance: names.instance,
        end: Some(0),
        ..crate::segment::Segment::default()
    };
    bench.log.clear();
    bench.inject(Side::B, &asks);
    bench.run(30 * SECOND);
    assert_eq!(bench.log.len(), 1, "one answer: {:?}", bench.log);
}

#[test]
fn both_sides_may_end_at_once() {
    let (mut bench, id) = established();
    bench.a.finish(id);
    bench.b.finish(id);
    bench.pump();
    assert_eq!(bench.states(id), (Some(State::EndSent), Some(State::EndSent)));
    bench.run(RTT_NS + MS);
    assert_eq!(bench.states(id), (Some(State::Linger), Some(State::Linger)));
    bench.run(10 * SECOND);
    assert_eq!(bench.states(id), (Some(State::Closed), Some(State::Closed)));
}

#[test]
fn lost_ends_and_confirmations_are_repeated() {
    for lost in 0..6 {
        let (mut bench, id) = established();
        let mut left = lost;
        bench.drop = Box::new(move |_, segment| {
            let ends = segment.end.is_some() || segment.endak;
            left -= i32::from(ends);
            ends && left >= 0
        });
        bench.a.write(id, b" world").unwrap();
        bench.a.finish(id);
        bench.run(SECOND);
        bench.b.finish(id);
        bench.run(60 * SECOND);
        assert_eq!(bench.received(1), b"hello world");
        assert_eq!(bench.states(id), (Some(State::Closed), Some(State::Closed)), "{lost} lost");
        assert!(bench.heard(Side::A, StreamEvent::Closed(None)), "{lost} lost: {:?}", bench.events);
    }
}

/// On a path of a few milliseconds, A ends at once and B as soon as it hears of it; A's first `lost`
/// confirmations of B's END are lost.
fn short_path(lost: u32) -> Bench {
    let mut bench = Bench::new();
    bench.delay_ns = MS;
    let mut left = lost;
    bench.drop = Box::new(move |side, segment| {
        let hit = side == Side::A && segment.endak && left > 0;
        left -= u32::from(hit);
        hit
    });
    let id = bench.open();
    bench.a.write(id, &[1; 1000]).unwrap();
    bench.a.finish(id);
    bench.run(MS);
    bench.b.finish(1);
    bench.run(120 * SECOND);
    bench
}

#[test]
fn whoever_lingers_on_a_short_path_is_still_there_when_the_end_is_repeated() {
    for lost in 0..4 {
        let bench = short_path(lost);
        assert_eq!(bench.states(1), (Some(State::Closed), Some(State::Closed)), "{lost} lost");
        assert!(bench.heard(Side::B, StreamEvent::Closed(None)), "{lost} lost: {:?}", bench.events);
    }
}

#[test]
fn a_lost_confirmation_rides_on_whatever_comes_next() {
    let (mut bench, id) = established();
    let mut first = true;
    bench.drop =
        Box::new(move |side, segment| side == Side::B && segment.endak && core::mem::take(&mut first));
    bench.a.finish(id);
    bench.run(DELAY_NS);
    bench.b.write(1, b"bye").unwrap();
    bench.run(RTT_NS - MS);
    assert_eq!(bench.states(id).0, Some(State::HalfClosedLocal));
    assert_eq!(bench.count(Side::A, "END"), 1, "{:?}", bench.log);
}

#[test]
fn the_end_waits_for_the_data_before_it() {
    let (mut bench, id) = established();
    let mut first = true;
    bench.drop = Box::new(move |side, segment| {
        side == Side::A && segment.data.is_some() && core::mem::take(&mut first)
    });
    bench.a.write(id, &[5; 4000]).unwrap();
    bench.a.finish(id);
    bench.run(DELAY_NS + MS);
    assert_eq!(bench.states(id).1, Some(State::Established), "END is known, a packet is missing");
    bench.run(SECOND);
    assert_eq!(bench.states(id).1, Some(State::HalfClosedRemote));
    assert_eq!(bench.received(1).len(), 4005);
}

#[test]
fn in_the_paper_profile_end_waits_for_the_acknowledgement() {
    let mut bench = Bench::with(Config::paper(), 1);
    let id = bench.open_with(Config::paper());
    bench.a.write(id, &[1; 700]).unwrap();
    bench.a.finish(id);
    bench.run(RTT_NS - MS);
    assert_eq!(bench.count(Side::A, "END"), 0);
    bench.run(2 * MS);
    assert_eq!(bench.count(Side::A, "END"), 1);
    bench.run(SECOND);
    assert_eq!(bench.states(id).0, Some(State::HalfClosedLocal));
}

#[test]
fn an_abort_tells_the_peer() {
    let (mut bench, id) = established();
    bench.a.abort(id);
    bench.run(SECOND);
    assert_eq!(bench.sent_by(Side::A), ["RST"]);
    let reason = CloseReason::Reset(Some(ResetReason::Aborted));
    assert!(bench.heard(Side::B, StreamEvent::Closed(Some(reason))));
    assert_eq!(bench.b.write(id, b"x"), Err(StreamError::Closed(Some(reason))));
    assert_eq!(bench.states(id), (Some(State::Closed), Some(State::Closed)));
}

#[test]
fn a_peer_that_forgot_the_connection_resets_it() {
    let (mut bench, id) = established();
    bench.b.abort(1);
    bench.b.release(bench.now, 1);
    bench.drop = Box::new(|side, segment| side == Side::B && segment.rst == Some(ResetReason::Aborted));
    bench.pump();
    bench.a.write(id, b"are you there?").unwrap();
    bench.run(SECOND);
    let reason = CloseReason::Reset(Some(ResetReason::UnknownConnection));
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(reason))));
}

#[test]
fn silence_ends_a_connection_after_ten_minutes_and_not_before() {
    let (mut bench, id) = established();
    bench.drop = Box::new(|_, _| true);
    bench.a.write(id, b"lost").unwrap();
    bench.run(598 * SECOND);
    assert_eq!(bench.states(id), (Some(State::Established), Some(State::Established)));
    let polls = bench.count(Side::A, "POLL");
    assert!((60..1500).contains(&polls), "{polls} POLLs in ten minutes of silence");
    bench.run(4 * SECOND);
    assert!(bench.heard(Side::A, StreamEvent::Closed(Some(CloseReason::Silence))));
    assert!(bench.heard(Side::B, StreamEvent::Closed(Some(CloseReason::Silence))));
}

#[test]
fn an_outage_of_an_hour_is_survived_by_the_paper_profile() {
    let mut bench = Bench::with(Config::paper(), 1);
    let id = bench.open_with(Config::paper());
    bench.a.write(id, b"hello").unwrap();
    bench.run(SECOND);
    bench.drop = Box::new(|_, _| true);
    bench.a.write(id, &[9; 5000]).unwrap();
    bench.run(3600 * SECOND);
    bench.drop = Box::new(|_, _| false);
    bench.run(130 * SECOND);
    assert_eq!(bench.received(1).len(), 5005);
}

#[test]
fn writing_after_the_end_is_an_error() {
    let (mut bench, id) = established();
    bench.a.finish(id);
    assert_eq!(bench.a.write(id, b"x"), Err(StreamError::Finished));
}

/// B ends, and A hears of it long after B's linger time, with a packet of B's and B's END unconfirmed.
fn left_early(release: bool) -> Bench {
    let (mut bench, id) = established();
    bench.a.finish(id);
    bench.run(SECOND);
    bench.b.write(1, b"bye").unwrap();
    bench.b.finish(1);
    // A gets it all. Its answers are lost, and what B repeats, until A has gone.
    let mut sent = 0;
    bench.drop = Box::new(move |side, _| {
        sent += 1;
        side == Side::A || sent > 1
    });
    bench.run(100 * SECOND);
    assert_eq!(bench.states(id), (Some(State::Closed), Some(State::Closing)));
    if release {
        bench.a.release(bench.now, id);
        bench.pump();
        assert_eq!(bench.a.connection_count(), 0);
    }
    bench.drop = Box::new(|_, _| false);
    bench.run(60 * SECOND);
    bench
}

#[test]
fn an_end_that_has_left_still_confirms_what_its_peer_repeats() {
    for release in [false, true] {
        let bench = left_early(release);
        assert_eq!(bench.states(1).1, Some(State::Closed), "released: {release}");
        assert!(bench.heard(Side::B, StreamEvent::Finished));
        assert!(bench.heard(Side::B, StreamEvent::Closed(None)), "{:?}", bench.events);
    }
}

#[test]
fn an_outage_that_outlasts_the_linger_time_still_ends_clean() {
    let (mut bench, id) = established();
    bench.a.write(id, b"all there").unwrap();
    bench.run(SECOND);
    bench.a.finish(id);
    bench.run(RTT_NS * 3 / 4);
    bench.b.finish(1);
    bench.run(0);
    bench.drop = Box::new(|_, _| true); // what is on its way still arrives: B's END
    bench.run(100 * SECOND);
    assert!(bench.heard(Side::A, StreamEvent::Closed(None)), "A lingered in vain, and is not released");
    assert!(!bench.events.iter().any(|(side, _, e)| *side == Side::B && matches!(e, StreamEvent::Closed(_))));
    bench.drop = Box::new(|_, _| false);
    bench.run(20 * SECOND);
    assert!(bench.heard(Side::B, StreamEvent::Finished));
    assert!(bench.heard(Side::B, StreamEvent::Closed(None)), "{:?}", bench.events);
}

#[test]
fn what_nobody_polls_is_bounded_and_goes_with_its_connection() {
    let (mut endpoint, now) = (Bench::new().a, Instant::ZERO);
    let mut open_and_abort = |is_released: bool| {
        let id = endpoint.connect(now, Side::B.address(), PORT, Config::standard(), false).unwrap();
        for _ in 0..3 {
            endpoint.abort(id);
        }
        if is_released {
            endpoint.release(now, id);
        }
        while endpoint.poll_transmit(now, &mut Vec::new(), 1, &mut NullSink).is_some() {}
        id
    };
    let (first, _, last) =
        (open_and_abort(false), [(); 2000].map(|()| open_and_abort(true)), open_and_abort(false));
    let told = core::iter::from_fn(|| endpoint.poll_event().map(|(id, _)| id));
    assert_eq!(told.collect::<Vec<_>>(), [first, last], "each is closed once; the others were let go");
}
