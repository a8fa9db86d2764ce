//! One formula a test.

use skyhaul_core::{Instant, SECOND, Verdict};

use crate::{Acked, Controller, ControllerConfig, Counting, IdleRestart, Lost, Reno, Signal};

fn reno(initial_segments: u64, counting: Counting) -> Reno {
    Reno::new(ControllerConfig {
        mss_bytes: 1000,
        initial_window_bytes: initial_segments * 1000,
        max_window_bytes: 64_000,
        start_until_bytes: u64::MAX,
        counting,
        idle_restart: IdleRestart::AfterRto,
        pacing_percent: Some((200, 120)),
        hystart: false,
        vegas: crate::VegasConfig::default(),
        overhead_bytes: 40,
        rtt_ns: None,
        seed: 1,
    })
}

fn acked(bytes: u64) -> Acked {
    Acked {
        bytes,
        packets: (bytes / 1000) as u32,
        in_flight_before_bytes: bytes,
        rtt_ns: None,
        smoothed_rtt_ns: SECOND,
        app_limited: false,
        in_recovery: false,
        delivery: None,
    }
}

fn lost(in_flight_bytes: u64) -> Lost {
    Lost { bytes: 1000, packets: 1, begins_event: true, in_flight_bytes, verdict: Verdict::Congestion }
}

const NOW: Instant = Instant::from_ns(10 * SECOND);

#[test]
fn slow_start_grows_by_a_segment_an_ack_or_by_two_when_bytes_count() {
    for (counting, expected) in [(Counting::Acks, 3000), (Counting::Bytes, 4000)] {
        let mut cc = reno(2, counting);
        cc.on_acked(NOW, &acked(5000));
        assert_eq!(cc.window_bytes(), expected);
    }
}

#[test]
fn avoidance_grows_by_about_a_segment_a_window() {
    for counting in [Counting::Acks, Counting::Bytes] {
        let mut cc = reno(20, counting);
        cc.on_lost(NOW, &lost(20_000));
        assert_eq!(cc.window_bytes(), 10_000);
        for _ in 0..10 {
            cc.on_acked(NOW, &acked(1000));
        }
        assert!((10_900..=11_000).contains(&cc.window_bytes()), "{counting:?}: {}", cc.window_bytes());
    }
}

#[test]
fn a_loss_leaves_half_of_what_was_under_way_at_least_two_segments() {
    let mut cc = reno(40, Counting::Acks);
    cc.on_lost(NOW, &lost(30_000));
    assert_eq!(cc.window_bytes(), 15_000, "not half of the window");
    cc.on_lost(NOW, &Lost { begins_event: false, ..lost(15_000) });
    assert_eq!(cc.window_bytes(), 15_000, "the same event");
    cc.on_lost(NOW, &lost(1000));
    assert_eq!(cc.window_bytes(), 2000);
}

#[test]
fn a_timeout_leaves_one_segment_and_halves_once() {
    let mut cc = reno(40, Counting::Acks);
    cc.on_signal(
        NOW,
        Signal::Timeout { in_flight_bytes: 30_000, lost_bytes: 30_000, left_bytes: 0, first: true },
    );
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (1000, 15_000));
    cc.on_signal(
        NOW,
        Signal::Timeout { in_flight_bytes: 1000, lost_bytes: 1000, left_bytes: 0, first: false },
    );
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (1000, 15_000));
}

#[test]
fn what_duplicates_let_out_beyond_the_window_is_not_halved_but_left_out() {
    let mut cc = reno(40, Counting::Acks);
    cc.on_signal(
        NOW,
        Signal::Timeout { in_flight_bytes: 90_000, lost_bytes: 90_000, left_bytes: 0, first: true },
    );
    assert_eq!(cc.snapshot().ssthresh_bytes, 20_000, "half of the window");
}

#[test]
fn recovery_unused_windows_and_other_causes_change_nothing() {
    let mut cc = reno(10, Counting::Acks);
    cc.on_acked(NOW, &Acked { in_recovery: true, ..acked(1000) });
    cc.on_acked(NOW, &Acked { app_limited: true, ..acked(1000) });
    cc.on_lost(NOW, &Lost { verdict: Verdict::Corruption, ..lost(10_000) });
    assert_eq!(cc.window_bytes(), 10_000);
}

#[test]
fn a_long_silence_brings_the_first_window_back() {
    let mut cc = reno(4, Counting::Acks);
    cc.on_acked(NOW, &acked(1000));
    cc.on_signal(NOW, Signal::Idle { idle_ns: SECOND, rto_ns: SECOND });
    assert_eq!(cc.window_bytes(), 5000);
    cc.on_signal(NOW, Signal::Idle { idle_ns: SECOND + 1, rto_ns: SECOND });
    assert_eq!(cc.window_bytes(), 4000);
}

#[test]
fn a_mark_counts_as_a_loss() {
    let mut cc = reno(40, Counting::Bytes);
    cc.on_signal(NOW, Signal::EcnMarks { in_flight_bytes: 30_000 });
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (15_000, 15_000));
}

#[test]
fn an_event_that_was_none_is_taken_back() {
    let mut cc = reno(40, Counting::Bytes);
    cc.on_signal(
        NOW,
        Signal::Timeout { in_flight_bytes: 30_000, lost_bytes: 30_000, left_bytes: 0, first: true },
    );
    cc.on_signal(NOW, Signal::Spurious);
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (40_000, u64::MAX));
    cc.on_signal(NOW, Signal::Spurious);
    assert_eq!(cc.window_bytes(), 40_000, "once");
}

#[test]
fn the_pace_is_twice_a_window_in_slow_start_and_a_fifth_more_in_avoidance() {
    let mut cc = reno(40, Counting::Bytes);
    assert_eq!(cc.pacing_rate_bps(SECOND), Some(640_000));
    cc.on_lost(NOW, &lost(40_000));
    assert_eq!(cc.pacing_rate_bps(SECOND), Some(192_000));
}
