use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, MS, Verdict};

use crate::pipe::{MSS_BYTES, config};
use crate::{Acked, Controller, Explicit, LossAnswer, Lost, RouterFeedback, Signal};

const RTT_NS: u64 = 100 * MS;
const NOW: Instant = Instant::ZERO;

fn feedback(bytes_per_s: i32, routers: u8) -> RouterFeedback {
    RouterFeedback { bytes_per_s, routers, smoothed_rtt_ns: RTT_NS }
}

/// Ruled by a router, at a window of 40 segments.
fn ruled(answer: LossAnswer) -> Explicit {
    let mut controller = Explicit::new(config(), answer);
    // 30 segments a round trip are 300 000 octets a second.
    controller.on_feedback(NOW, &feedback(300_000, 1));
    assert_eq!(controller.window_bytes(), 40 * MSS_BYTES);
    assert_eq!(controller.snapshot().phase, Phase::Explicit);
    controller
}

fn lost() -> Lost {
    let (bytes, in_flight_bytes) = (MSS_BYTES, 40 * MSS_BYTES);
    Lost { bytes, packets: 1, begins_event: true, in_flight_bytes, verdict: Verdict::Congestion }
}

fn timeout(first: bool) -> Signal {
    Signal::Timeout { in_flight_bytes: 40 * MSS_BYTES, lost_bytes: 0, left_bytes: 0, first }
}

fn acked(in_flight_before_bytes: u64) -> Acked {
    Acked {
        bytes: MSS_BYTES,
        packets: 1,
        in_flight_before_bytes,
        rtt_ns: Some(RTT_NS),
        smoothed_rtt_ns: RTT_NS,
        app_limited: false,
        in_recovery: false,
        delivery: None,
    }
}

#[test]
fn the_window_moves_by_the_feedback_of_a_round_trip() {
    let mut controller = ruled(LossAnswer::Reduce);
    controller.on_feedback(NOW, &feedback(-100_000, 1));
    assert_eq!(controller.window_bytes(), 30 * MSS_BYTES);
    controller.on_feedback(NOW, &feedback(i32::MIN, 2));
    assert_eq!(controller.window_bytes(), MSS_BYTES, "one segment remains");
    controller.on_acked(NOW, &acked(MSS_BYTES));
    assert_eq!(controller.window_bytes(), MSS_BYTES, "and acknowledgements add nothing");
}

#[test]
fn xcp_halves_on_a_loss_and_has_one_segment_after_a_timeout() {
    let mut controller = ruled(LossAnswer::Reduce);
    controller.on_lost(NOW, &lost());
    assert_eq!(controller.window_bytes(), 20 * MSS_BYTES);
    controller.on_lost(NOW, &Lost { begins_event: false, ..lost() });
    assert_eq!(controller.window_bytes(), 20 * MSS_BYTES, "once an event");
    controller.on_signal(NOW, timeout(true));
    assert_eq!(controller.window_bytes(), MSS_BYTES);
    controller.on_feedback(NOW, &feedback(100_000, 1));
    assert_eq!(controller.window_bytes(), 11 * MSS_BYTES, "feedback goes on");
}

#[test]
fn a_loss_that_was_none_is_taken_back() {
    let mut controller = ruled(LossAnswer::Reduce);
    controller.on_lost(NOW, &lost());
    controller.on_signal(NOW, Signal::Spurious);
    assert_eq!(controller.window_bytes(), 40 * MSS_BYTES);
}

#[test]
fn p_xcp_keeps_its_window_while_answers_come() {
    let mut controller = ruled(LossAnswer::Keep);
    controller.on_lost(NOW, &lost());
    controller.on_signal(NOW, timeout(true));
    assert_eq!(controller.window_bytes(), 40 * MSS_BYTES);
    controller.on_signal(NOW, timeout(false));
    assert_eq!(controller.window_bytes(), 20 * MSS_BYTES, "no answer since the timeout before");
    controller.on_feedback(NOW, &feedback(0, 1));
    controller.on_signal(NOW, timeout(true));
    assert_eq!(controller.window_bytes(), 20 * MSS_BYTES);
}

#[test]
fn to_the_letter_p_xcp_keeps_its_window_on_duplicates_alone() {
    let mut controller = ruled(LossAnswer::KeepOnDuplicates);
    controller.on_lost(NOW, &lost());
    assert_eq!(controller.window_bytes(), 40 * MSS_BYTES);
    controller.on_signal(NOW, timeout(true));
    assert_eq!(controller.window_bytes(), MSS_BYTES);
}

#[test]
fn all_halve_where_a_queue_marks() {
    for answer in [LossAnswer::Reduce, LossAnswer::KeepOnDuplicates, LossAnswer::Keep] {
        let mut controller = ruled(answer);
        controller.on_signal(NOW, Signal::EcnMarks { in_flight_bytes: 40 * MSS_BYTES });
        assert_eq!(controller.window_bytes(), 20 * MSS_BYTES);
    }
}

#[test]
fn an_unused_window_ages() {
    let mut controller = ruled(LossAnswer::Reduce);
    let mut round = 1;
    let mut use_it = |controller: &mut Explicit, most: u64| {
        round += 1;
        controller.on_acked(Instant::from_ns(round * RTT_NS - 1), &acked(most * MSS_BYTES));
        controller.on_acked(Instant::from_ns(round * RTT_NS), &acked(MSS_BYTES));
        controller.window_bytes() / MSS_BYTES
    };
    use_it(&mut controller, 40);
    assert_eq!(use_it(&mut controller, 40), 40);
    assert_eq!(use_it(&mut controller, 20), 30);
    assert_eq!(use_it(&mut controller, 20), 25);
}

/// Without a router nobody grants anything: the window is Reno's, losses included, whatever comes back.
#[test]
fn without_a_router_it_is_reno() {
    let mut controller = Explicit::new(config(), LossAnswer::Keep);
    controller.on_feedback(NOW, &feedback(i32::MAX, 0));
    assert_eq!(controller.snapshot().phase, Phase::SlowStart);
    assert_eq!(controller.window_bytes(), 10 * MSS_BYTES);
    controller.on_acked(NOW, &acked(10 * MSS_BYTES));
    assert_eq!(controller.window_bytes(), 11 * MSS_BYTES);
    controller.on_lost(NOW, &Lost { in_flight_bytes: 10 * MSS_BYTES, ..lost() });
    assert_eq!(controller.window_bytes(), 5 * MSS_BYTES);
    controller.on_feedback(NOW, &feedback(0, 1));
    assert_eq!((controller.window_bytes(), controller.snapshot().phase), (5 * MSS_BYTES, Phase::Explicit));
    controller.on_feedback(NOW, &feedback(0, 0));
    assert_eq!((controller.window_bytes(), controller.snapshot().phase), (5 * MSS_BYTES, Phase::SlowStart));
}
