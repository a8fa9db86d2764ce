use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, MS, SECOND, Verdict};

use crate::pipe::{MSS_BYTES, config};
use crate::{Acked, Controller, ExtraSegments, Lost, PeachPlus, Signal};

const NOW: Instant = Instant::ZERO;

fn acked(in_recovery: bool) -> Acked {
    Acked {
        bytes: MSS_BYTES,
        packets: 1,
        in_flight_before_bytes: 1 << 30,
        rtt_ns: Some(100 * MS),
        smoothed_rtt_ns: 100 * MS,
        app_limited: false,
        in_recovery,
        delivery: None,
    }
}

fn lost(begins_event: bool) -> Lost {
    Lost {
        bytes: MSS_BYTES,
        packets: 1,
        begins_event,
        in_flight_bytes: 10 * MSS_BYTES,
        verdict: Verdict::Congestion,
    }
}

fn answer(controller: &mut PeachPlus, times: u32) -> u64 {
    (0..times).for_each(|_| controller.on_extra(NOW, ExtraSegments::Answered));
    controller.window_bytes() / MSS_BYTES
}

/// After a sudden start in which nine NILs were answered.
fn started() -> PeachPlus {
    let mut controller = PeachPlus::new(config());
    assert_eq!(controller.needs().extra_segments, ExtraSegments::ALL);
    controller.on_extra(NOW, ExtraSegments::Ordered);
    assert_eq!(controller.needs().extra_segments, 0, "they are ordered once");
    assert_eq!(answer(&mut controller, 9), 10);
    controller
}

#[test]
fn a_sudden_start_has_one_segment_and_opens_by_one_for_each_answer() {
    let controller = PeachPlus::new(config());
    assert_eq!((controller.window_bytes(), controller.snapshot().phase), (MSS_BYTES, Phase::SlowStart));
    started();
}

#[test]
fn avoidance_opens_by_one_a_window_and_not_in_a_repair() {
    let mut controller = started();
    (0..10).for_each(|_| controller.on_acked(NOW, &acked(true)));
    assert_eq!(controller.window_bytes(), 10 * MSS_BYTES);
    (0..10).for_each(|_| controller.on_acked(NOW, &acked(false)));
    assert_eq!(controller.window_bytes(), 11 * MSS_BYTES);
}

/// Half the window; as many NILs as there were segments; the first half of their answers opens nothing.
#[test]
fn a_rapid_recovery_is_back_at_the_old_window_once_all_is_answered() {
    for before in [10, 11] {
        let mut controller = started();
        answer(&mut controller, before - 10);
        controller.on_lost(NOW, &lost(true));
        let half = before / 2;
        assert_eq!(controller.needs().extra_segments, before);
        assert_eq!(controller.snapshot().phase, Phase::Avoidance);
        assert_eq!(answer(&mut controller, half), u64::from(half), "the first half opens nothing");
        assert_eq!(answer(&mut controller, before - half), u64::from(before));
        controller.on_lost(NOW, &lost(false));
        assert_eq!(controller.window_bytes(), u64::from(before) * MSS_BYTES, "one event, one answer");
    }
}

#[test]
fn a_timeout_begins_anew_and_a_mistaken_one_is_taken_back() {
    let mut controller = started();
    controller.on_extra(NOW, ExtraSegments::Ordered);
    let timeout = |first| Signal::Timeout {
        in_flight_bytes: 10 * MSS_BYTES,
        lost_bytes: 10 * MSS_BYTES,
        left_bytes: 0,
        first,
    };
    controller.on_signal(NOW, timeout(true));
    assert_eq!(controller.window_bytes(), MSS_BYTES);
    assert_eq!(controller.needs().extra_segments, ExtraSegments::ALL);
    controller.on_signal(NOW, timeout(false));
    controller.on_signal(NOW, Signal::Spurious);
    assert_eq!(controller.window_bytes(), 10 * MSS_BYTES);
}

#[test]
fn a_mark_halves_and_wants_no_extra_segments() {
    let mut controller = started();
    controller.on_signal(NOW, Signal::EcnMarks { in_flight_bytes: 10 * MSS_BYTES });
    assert_eq!((controller.window_bytes(), controller.needs().extra_segments), (5 * MSS_BYTES, 0));
}

#[test]
fn a_silence_begins_anew_where_it_brings_the_first_window_back() {
    let mut controller = started();
    controller.on_signal(NOW, Signal::Idle { idle_ns: 0, rto_ns: SECOND });
    assert_eq!(controller.window_bytes(), 10 * MSS_BYTES);
}
