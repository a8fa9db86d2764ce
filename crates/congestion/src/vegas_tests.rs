//! One formula a test, and the queue that comes of them.

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, MS, SECOND, Verdict};

use crate::pipe::{MSS_BYTES, Path, Run, config};
use crate::{Acked, Controller, ControllerKind, Delivery, Lost, RateSample, Signal, Vegas, VegasConfig};

const NOW: Instant = Instant::from_ns(10 * SECOND);
/// Link of 10 Mbit/s, 100 ms, with room for two bandwidth-delay products in its queue.
const PATH: Path = Path { rate_bps: 10_000_000, rtt_ns: 100 * MS, queue_packets: 240, lost_per_million: 0 };

/// Acknowledgement of a window, with this round trip, which ends a round.
fn round(window_bytes: u64, rtt_ns: u64) -> Acked {
    let rate = RateSample { bytes: 1, interval_ns: 1, prior_total_bytes: u64::MAX, app_limited: false };
    let delivery = Delivery {
        newly_bytes: window_bytes,
        total_bytes: 0,
        in_flight_bytes: 0,
        rtt_ns: Some(rtt_ns),
        rate: Some(rate),
    };
    Acked {
        bytes: window_bytes,
        packets: 1,
        in_flight_before_bytes: window_bytes,
        rtt_ns: Some(rtt_ns),
        smoothed_rtt_ns: rtt_ns,
        app_limited: false,
        in_recovery: false,
        delivery: Some(delivery),
    }
}

fn lost(in_flight_bytes: u64, verdict: Verdict) -> Lost {
    Lost { bytes: MSS_BYTES, packets: 1, begins_event: true, in_flight_bytes, verdict }
}

/// Controller in avoidance with a window of so many segments, and a base of 100 ms.
fn steady(segments: u64) -> Vegas {
    let mut cc = Vegas::new(crate::ControllerConfig {
        initial_window_bytes: 2 * segments * MSS_BYTES,
        counting: crate::Counting::Reports,
        ..config()
    });
    cc.on_acked(NOW, &Acked { app_limited: true, in_flight_before_bytes: 0, ..round(1000, 100 * MS) });
    cc.on_lost(NOW, &lost(2 * segments * MSS_BYTES, Verdict::Congestion));
    assert_eq!(cc.window_bytes(), segments * MSS_BYTES);
    cc
}

#[test]
fn the_window_doubles_every_other_round_trip() {
    let mut cc = Vegas::new(crate::ControllerConfig { counting: crate::Counting::Reports, ..config() });
    let mut windows = alloc::vec::Vec::new();
    for _ in 0..4 {
        let window_bytes = cc.window_bytes();
        cc.on_acked(NOW, &round(window_bytes, 100 * MS));
        windows.push(cc.window_bytes() / MSS_BYTES);
    }
    assert_eq!(windows, [20, 20, 40, 40]);
}

#[test]
fn where_that_is_asked_for_the_window_doubles_every_round_trip() {
    let vegas = VegasConfig { doubles_each_round: true, ..VegasConfig::default() };
    let mut cc =
        Vegas::new(crate::ControllerConfig { counting: crate::Counting::Reports, vegas, ..config() });
    let mut windows = alloc::vec::Vec::new();
    for _ in 0..4 {
        let window_bytes = cc.window_bytes();
        cc.on_acked(NOW, &round(window_bytes, 100 * MS));
        windows.push(cc.window_bytes() / MSS_BYTES);
    }
    assert_eq!(windows, [20, 40, 80, 160]);
}

/// The newest packet took 100 ms, and the timed segment waited 50 ms for its acknowledgement.
#[test]
fn a_delayed_acknowledgement_is_a_queue_where_segments_are_timed_alone() {
    for (times_segments, expected) in [(false, 40), (true, 35)] {
        let vegas = VegasConfig { times_segments, ..VegasConfig::default() };
        let mut cc =
            Vegas::new(crate::ControllerConfig { initial_window_bytes: 40 * MSS_BYTES, vegas, ..config() });
        for timed_ms in [100, 150] {
            let acked = round(40 * MSS_BYTES, 100 * MS);
            cc.on_acked(NOW, &Acked { bytes: 0, rtt_ns: Some(timed_ms * MS), ..acked });
        }
        assert_eq!(cc.window_bytes() / MSS_BYTES, expected, "timed: {times_segments}");
    }
}

#[test]
fn more_than_gamma_segments_in_the_queue_end_slow_start_and_an_eighth_is_given_back() {
    for (rtt_ms, expected) in [(111, 40), (112, 35)] {
        let mut cc = Vegas::new(crate::ControllerConfig { initial_window_bytes: 40 * MSS_BYTES, ..config() });
        cc.on_acked(NOW, &Acked { bytes: 0, ..round(40 * MSS_BYTES, 100 * MS) });
        cc.on_acked(NOW, &Acked { bytes: 0, ..round(40 * MSS_BYTES, rtt_ms * MS) });
        // 40 segments: 3.96 of them wait at 111 ms, 4.29 at 112 ms.
        assert_eq!(cc.window_bytes() / MSS_BYTES, expected, "{rtt_ms} ms");
    }
}

#[test]
fn avoidance_adds_a_segment_below_alpha_and_takes_half_of_what_is_beyond_beta_and_one() {
    // 40 segments: 2.9 wait at 108 ms, 3.7 at 110 ms, 4.7 at 113 ms, 10 at 133.3 ms, 30 at 400 ms.
    for (rtt_us, expected) in
        [(108_000, 41_000), (110_000, 40_000), (113_000, 40_000), (133_333, 36_500), (400_000, 26_500)]
    {
        let mut cc = steady(40);
        cc.on_acked(NOW, &round(40 * MSS_BYTES, rtt_us * 1000));
        assert!(cc.window_bytes().abs_diff(expected) < 20, "{rtt_us} us: {}", cc.window_bytes());
    }
}

#[test]
fn a_round_that_left_the_window_unused_or_repaired_says_nothing_of_it() {
    let full = round(40 * MSS_BYTES, 101 * MS);
    for acked in [
        Acked { app_limited: true, in_flight_before_bytes: 1000, ..full },
        Acked { in_recovery: true, ..full },
    ] {
        let mut cc = steady(40);
        cc.on_acked(NOW, &acked);
        assert_eq!(cc.window_bytes(), 40 * MSS_BYTES);
    }
}

#[test]
fn congestion_halves_a_timeout_leaves_one_segment_and_damage_changes_nothing() {
    let mut cc = steady(40);
    cc.on_lost(NOW, &lost(40 * MSS_BYTES, Verdict::Corruption));
    assert_eq!(cc.window_bytes(), 40 * MSS_BYTES);
    cc.on_signal(NOW, Signal::EcnMarks { in_flight_bytes: 40 * MSS_BYTES });
    assert_eq!(cc.window_bytes(), 20 * MSS_BYTES);
    let silence = |first| Signal::Timeout {
        in_flight_bytes: 20 * MSS_BYTES,
        lost_bytes: 20 * MSS_BYTES,
        left_bytes: 0,
        first,
    };
    cc.on_signal(NOW, silence(true));
    cc.on_signal(NOW, silence(false));
    let snapshot = cc.snapshot();
    assert_eq!((snapshot.cwnd_bytes, snapshot.ssthresh_bytes), (MSS_BYTES, 10 * MSS_BYTES));
}

#[test]
fn what_was_no_loss_gives_the_window_and_slow_start_back() {
    let usual = crate::ControllerConfig { initial_window_bytes: 10 * MSS_BYTES, ..config() };
    let mut cc = Vegas::new(usual);
    let silence = Signal::Timeout {
        in_flight_bytes: 10 * MSS_BYTES,
        lost_bytes: 10 * MSS_BYTES,
        left_bytes: 0,
        first: true,
    };
    cc.on_signal(NOW, silence);
    assert_eq!((cc.window_bytes(), cc.snapshot().ssthresh_bytes), (MSS_BYTES, 5 * MSS_BYTES));
    for _ in 0..2 {
        cc.on_signal(NOW, Signal::Spurious);
        assert_eq!((cc.window_bytes(), cc.snapshot().phase), (10 * MSS_BYTES, Phase::SlowStart));
    }
}

#[test]
fn it_fills_the_link_with_a_few_packets_of_queue_and_loses_nothing() {
    let mut run = Run::new(&ControllerKind::Vegas, PATH);
    run.go(20 * SECOND);
    run.longest_queue = 0;
    let share = run.share_percent(30 * SECOND);
    assert!(share >= 99, "{share} %");
    assert!((3..=6).contains(&run.longest_queue), "{} packets", run.longest_queue);
    assert_eq!(run.lost, 0);
}
