//! One formula a test.

use skyhaul_core::{Instant, MS, SECOND, Verdict};

use crate::{Acked, Controller, ControllerConfig, Counting, Cubic, Delivery, IdleRestart, Lost, Signal};

const RTT_NS: u64 = 100 * MS;

fn cubic(initial_segments: u64) -> Cubic {
    Cubic::new(ControllerConfig {
        mss_bytes: 1000,
        initial_window_bytes: initial_segments * 1000,
        max_window_bytes: 10_000_000,
        start_until_bytes: u64::MAX,
        counting: Counting::Bytes,
        idle_restart: IdleRestart::AfterRto,
        pacing_percent: None,
        hystart: false,
        vegas: crate::VegasConfig::default(),
        overhead_bytes: 40,
        rtt_ns: None,
        seed: 1,
    })
}

fn acked(bytes: u64, in_flight_before_bytes: u64) -> Acked {
    Acked {
        bytes,
        packets: (bytes / 1000) as u32,
        in_flight_before_bytes,
        rtt_ns: None,
        smoothed_rtt_ns: RTT_NS,
        app_limited: false,
        in_recovery: false,
        delivery: None,
    }
}

fn lose(cc: &mut Cubic, at: Instant) {
    let in_flight_bytes = cc.window_bytes();
    let verdict = Verdict::Congestion;
    cc.on_lost(at, &Lost { bytes: 1000, packets: 1, begins_event: true, in_flight_bytes, verdict });
}

/// Acknowledges a window each round trip from `from` until `until`.
fn run(cc: &mut Cubic, from: Instant, until: Instant, rtt_ns: u64) {
    let mut now = from;
    while now < until {
        now = now.after(rtt_ns);
        let window_bytes = cc.window_bytes();
        for _ in 0..window_bytes / 1000 {
            cc.on_acked(now, &Acked { smoothed_rtt_ns: rtt_ns, ..acked(1000, window_bytes) });
        }
    }
}

const START: Instant = Instant::from_ns(10 * SECOND);

#[test]
fn slow_start_is_plain() {
    let mut cc = cubic(10);
    cc.on_acked(START, &acked(2000, 10_000));
    assert_eq!(cc.window_bytes(), 12_000);
}

#[test]
fn an_event_leaves_seven_tenths_of_what_was_used() {
    for marked in [false, true] {
        let mut cc = cubic(100);
        if marked {
            cc.on_signal(START, Signal::EcnMarks { in_flight_bytes: 100_000 });
        } else {
            lose(&mut cc, START);
        }
        assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (70_000, 70_000));
    }
    let mut cc = cubic(100);
    cc.on_signal(START, Signal::EcnMarks { in_flight_bytes: 50_000 });
    assert_eq!(cc.window_bytes(), 35_000, "of what was under way");
    cc.on_signal(START, Signal::EcnMarks { in_flight_bytes: 1000 });
    assert_eq!(cc.window_bytes(), 2000, "at least two segments");
}

/// `W_max` = 1000 segments, K = cbrt(300 / 0.4) = 9.09 s: concave, then a plateau, then convex.
#[test]
fn the_window_returns_to_where_it_was_after_k() {
    let mut cc = cubic(1000);
    lose(&mut cc, START);
    let at = |seconds| START.after(seconds * SECOND);
    run(&mut cc, START, at(4), RTT_NS);
    let rising = cc.window_bytes();
    assert!((940_000..970_000).contains(&rising), "1000 - 0.4 * 5.0^3 = 950 segments: {rising}");
    run(&mut cc, at(4), at(9), RTT_NS);
    let plateau = cc.window_bytes();
    assert!((995_000..=1_001_000).contains(&plateau), "{plateau}");
    run(&mut cc, at(9), at(15), RTT_NS);
    let convex = cc.window_bytes();
    assert!((1_075_000..1_110_000).contains(&convex), "1000 + 0.4 * 6.0^3 = 1086 segments: {convex}");
}

/// With a short round trip Reno would be faster, so its estimate counts: 9/17 segments a round trip up to the
/// window before the loss.
#[test]
fn a_short_round_trip_is_reno_friendly() {
    let mut cc = cubic(40);
    lose(&mut cc, START);
    run(&mut cc, START, START.after(200 * MS), 10 * MS);
    let window_bytes = cc.window_bytes();
    assert!((38_000..=38_700).contains(&window_bytes), "28 + 20 * 9/17 = 38.6: {window_bytes}");
}

#[test]
fn a_second_loss_below_the_last_window_gives_way() {
    let mut cc = cubic(100);
    lose(&mut cc, START);
    lose(&mut cc, START);
    // W_max = 70 * (1 + 0.7) / 2 = 59.5 segments, window 49: the plateau is there after K = cbrt(10.5 / 0.4)
    // s.
    assert_eq!(cc.window_bytes(), 49_000);
    run(&mut cc, START, START.after(3 * SECOND), 500 * MS);
    let window_bytes = cc.window_bytes();
    assert!((58_000..=60_000).contains(&window_bytes), "{window_bytes}");
}

#[test]
fn a_timeout_leaves_one_segment_and_the_next_stage_begins_on_its_plateau() {
    let mut cc = cubic(100);
    cc.on_signal(
        START,
        Signal::Timeout { in_flight_bytes: 100_000, lost_bytes: 100_000, left_bytes: 0, first: true },
    );
    cc.on_signal(
        START,
        Signal::Timeout { in_flight_bytes: 1000, lost_bytes: 1000, left_bytes: 0, first: false },
    );
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (1000, 70_000));
    run(&mut cc, START, START.after(7 * RTT_NS), RTT_NS);
    let reached = cc.window_bytes();
    assert!((70_000..=72_000).contains(&reached), "K = 0 from 70 segments on: {reached}");
}

#[test]
fn an_event_that_was_none_is_taken_back() {
    let mut cc = cubic(100);
    lose(&mut cc, START);
    cc.on_signal(START, Signal::Spurious);
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (100_000, u64::MAX));
    lose(&mut cc, START);
    assert_eq!(cc.window_bytes(), 70_000);
}

#[test]
fn time_in_which_the_window_is_not_used_does_not_count() {
    let mut cc = cubic(1000);
    lose(&mut cc, START);
    run(&mut cc, START, START.after(SECOND), RTT_NS);
    let (before, mut paused) = (cc.window_bytes(), cc.clone());
    let later = START.after(SECOND);
    paused.on_acked(later, &Acked { app_limited: true, ..acked(1000, 1000) });
    assert_eq!(paused.window_bytes(), before);
    run(&mut paused, later.after(60 * SECOND), later.after(61 * SECOND), RTT_NS);
    run(&mut cc, later, later.after(SECOND), RTT_NS);
    // The acknowledgements of a round trip come at its end: one of them is one round trip late.
    assert!(paused.window_bytes().abs_diff(cc.window_bytes()) < 20_000, "{paused:?} {cc:?}");
}

#[test]
fn a_long_silence_brings_the_first_window_back() {
    let mut cc = cubic(10);
    run(&mut cc, START, START.after(2 * RTT_NS), RTT_NS);
    cc.on_signal(START, Signal::Idle { idle_ns: SECOND, rto_ns: SECOND });
    assert_eq!(cc.window_bytes(), 40_000);
    cc.on_signal(START, Signal::Idle { idle_ns: SECOND + 1, rto_ns: SECOND });
    assert_eq!(cc.window_bytes(), 10_000);
}

/// Acknowledges `per_round` segments in each of `rounds` round trips, `gap_ns` apart, the n-th round trip
/// taking `rtt_ns(n)`; the window afterwards.
fn start(hystart: bool, rounds: u64, gap_ns: u64, rtt_ns: impl Fn(u64) -> u64) -> u64 {
    let mut cc = Cubic::new(ControllerConfig { hystart, ..cubic(20).config });
    let (mut began, mut total_bytes) = (START, 0);
    for round in 0..rounds {
        began = began.after(rtt_ns(round));
        let in_flight_bytes = cc.window_bytes();
        for segment in 1..=in_flight_bytes / 1000 {
            total_bytes += 1000;
            let delivery = Delivery {
                newly_bytes: 1000,
                total_bytes,
                in_flight_bytes: in_flight_bytes - 1000,
                rtt_ns: Some(rtt_ns(round)),
                rate: None,
            };
            let acked = Acked { delivery: Some(delivery), ..acked(1000, in_flight_bytes) };
            cc.on_acked(began.after(segment * gap_ns), &acked);
        }
        assert_eq!(cc.needs().delivery, hystart && cc.snapshot().ssthresh_bytes == u64::MAX);
    }
    cc.window_bytes()
}

#[test]
fn a_round_trip_that_grows_ends_the_first_slow_start() {
    let grows = |round| (100 + 13 * (round / 2)) * MS;
    assert_eq!(start(false, 4, 0, grows), 320_000);
    let window_bytes = start(true, 4, 0, grows);
    assert!((80_000..100_000).contains(&window_bytes), "the third is 13 ms longer: {window_bytes}");
    let a_little = |round| (100 + 12 * (round / 2)) * MS;
    assert_eq!(start(true, 3, 0, a_little), 160_000, "an eighth is not exceeded");
}

#[test]
fn a_train_of_half_a_round_trip_ends_the_first_slow_start() {
    let window_bytes = start(true, 3, MS, |_| 100 * MS);
    assert!((130_000..134_000).contains(&window_bytes), "the third, 51 ms after its begin: {window_bytes}");
    assert_eq!(start(true, 4, 3 * MS, |_| 10_000 * MS), 320_000, "not close enough to be a train");
}

#[test]
fn equal_inputs_give_equal_windows() {
    let windows = || {
        let mut cc = cubic(300);
        lose(&mut cc, START);
        run(&mut cc, START, START.after(3 * SECOND), 37 * MS);
        cc.window_bytes()
    };
    assert_eq!(windows(), windows());
    assert_eq!(windows(), GOLDEN);
}

/// Equal on every machine.
const GOLDEN: u64 = 288_425;
