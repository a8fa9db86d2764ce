//! One formula a test.

use skyhaul_core::{Instant, SECOND, Verdict};

use crate::{Acked, Controller, ControllerConfig, Counting, IdleRestart, Lost, Signal, SlowStartAvoidance};

fn controller(initial_window_bytes: u64) -> SlowStartAvoidance {
    SlowStartAvoidance::new(ControllerConfig {
        mss_bytes: 1000,
        initial_window_bytes,
        max_window_bytes: 64_000,
        start_until_bytes: u64::MAX,
        counting: Counting::Reports,
        idle_restart: IdleRestart::After(SECOND),
        pacing_percent: None,
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

fn lost() -> Lost {
    Lost { bytes: 1000, packets: 1, begins_event: true, in_flight_bytes: 0, verdict: Verdict::Congestion }
}

#[test]
fn slow_start_grows_by_what_is_acknowledged_up_to_the_limit() {
    let mut cc = controller(1000);
    cc.on_acked(Instant::ZERO, &acked(1000));
    assert_eq!(cc.window_bytes(), 2000);
    cc.on_acked(Instant::ZERO, &acked(2000));
    assert_eq!(cc.window_bytes(), 4000);
    cc.on_acked(Instant::ZERO, &acked(1_000_000));
    assert_eq!(cc.window_bytes(), 64_000);
}

#[test]
fn a_loss_halves_once_a_window_and_ends_slow_start() {
    let mut cc = controller(32_000);
    cc.on_lost(Instant::from_ns(5 * SECOND), &lost());
    assert_eq!(cc.window_bytes(), 16_000);
    cc.on_lost(Instant::from_ns(6 * SECOND), &Lost { begins_event: false, ..lost() });
    assert_eq!(cc.window_bytes(), 16_000, "the same event");
    cc.on_lost(Instant::from_ns(7 * SECOND), &lost());
    assert_eq!(cc.window_bytes(), 8_000);
    cc.on_acked(Instant::ZERO, &acked(8000));
    assert_eq!(cc.window_bytes(), 9_000, "avoidance: one segment per window");
}

#[test]
fn the_window_never_falls_below_two_segments() {
    let mut cc = controller(2000);
    for second in 1..9 {
        cc.on_lost(Instant::from_ns(2 * second * SECOND), &lost());
    }
    assert_eq!(cc.window_bytes(), 2000);
}

#[test]
fn only_a_long_silence_restarts_slow_start() {
    let mut cc = controller(2000);
    cc.on_acked(Instant::ZERO, &acked(30_000));
    cc.on_signal(Instant::ZERO, Signal::Idle { idle_ns: SECOND / 2, rto_ns: 1 });
    assert_eq!(cc.window_bytes(), 32_000);
    cc.on_signal(Instant::ZERO, Signal::Idle { idle_ns: SECOND, rto_ns: 1 });
    assert_eq!(
        (cc.window_bytes(), cc.snapshot().ssthresh_bytes),
        (2000, u64::MAX),
        "never congested: as far as it goes"
    );
    let mut cc = controller(32_000);
    cc.on_lost(Instant::ZERO, &lost());
    cc.on_signal(Instant::ZERO, Signal::Idle { idle_ns: SECOND, rto_ns: 1 });
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (16_000, 16_000));
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut cc = controller(32_000);
    cc.on_acked(Instant::ZERO, &Acked { app_limited: true, ..acked(2000) });
    assert_eq!(cc.window_bytes(), 32_000);
}
