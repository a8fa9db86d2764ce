//! One rule a test; the whole against a path.

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, MS, SECOND, Verdict};

use super::model::{ExtraAcked, FullPipe, MaxBwFilter};
use super::policer::{Policer, Report, Totals};
use super::state::{BBR_UNIT, Bbr, DRAIN_GAIN, HIGH_GAIN, Mode, PACING_GAIN_CYCLE, Repair};
use crate::pipe::{MSS_BYTES, Path, Run, config};
use crate::{Controller, ControllerConfig, ControllerKind, Delivery, Lost, Signal};

const PATH: Path = Path { rate_bps: 10_000_000, rtt_ns: 100 * MS, queue_packets: 1000, lost_per_million: 0 };
/// Packets of the path's bandwidth-delay product.
const PRODUCT: u64 = 120;

fn phase(run: &Run) -> Phase {
    run.controller.snapshot().phase
}

#[test]
fn gains_are_those_of_the_kernel() {
    assert_eq!(
        (HIGH_GAIN, DRAIN_GAIN, PACING_GAIN_CYCLE),
        (739, 88, [320, 192, 256, 256, 256, 256, 256, 256])
    );
}

#[test]
fn the_first_pace_is_the_first_window_in_a_round_trip() {
    let pace = |rtt_ns| Bbr::new(ControllerConfig { rtt_ns, ..config() }).pacing_rate_bps(0);
    // 10 000 bytes * 1040/1000 * 739/256 * 99/100, each millisecond.
    assert_eq!(pace(None), Some(237_773_256));
    assert_eq!(pace(Some(100 * MS)), Some(2_377_728), "a hundredth of that, rounded");
}

#[test]
fn the_highest_bandwidth_is_forgotten_after_ten_rounds() {
    let mut bandwidth = MaxBwFilter::default();
    for (round, rate) in [(1, 50), (1, 100), (2, 70), (4, 80), (4, 60)] {
        bandwidth.insert(round, rate);
    }
    assert_eq!(bandwidth.max_bw(), 100);
    bandwidth.insert(11, 10);
    assert_eq!(bandwidth.max_bw(), 100);
    bandwidth.insert(12, 10);
    assert_eq!(bandwidth.max_bw(), 80);
    bandwidth.insert(15, 90);
    assert_eq!(bandwidth.max_bw(), 90);
}

#[test]
fn the_pipe_is_full_after_three_rounds_without_a_quarter_more() {
    let mut pipe = FullPipe::default();
    let update = |pipe: &mut FullPipe, rates: &[u64]| {
        for &rate in rates {
            pipe.update(rate);
        }
    };
    update(&mut pipe, &[100, 125, 156, 156]);
    assert!(!pipe.filled_pipe, "156 is not a quarter more than 125, nor is the second 156: two");
    pipe.update(156);
    assert!(pipe.filled_pipe);
    let mut pipe = FullPipe::default();
    update(&mut pipe, &[100, 124, 124, 125, 130, 130]);
    assert!(!pipe.filled_pipe, "125 came in time");
}

#[test]
fn what_arrives_at_once_beyond_the_bandwidth_is_allowed_for() {
    let mut extra_acked = ExtraAcked::new(Instant::ZERO);
    let mut tell = |ms, newly_bytes, round_starts| {
        let delivery = Delivery { newly_bytes, total_bytes: 0, in_flight_bytes: 0, rtt_ns: None, rate: None };
        extra_acked.update(Instant::from_ns(ms * MS), &delivery, round_starts, 100_000, 50_000, 1000);
        extra_acked.allowance_bytes(100_000)
    };
    assert_eq!(tell(10, 1000, false), 1000);
    assert_eq!(tell(20, 8000, false), 8000, "9000 in 10 ms, of which 1000 were to be expected");
    assert_eq!(tell(30, 30_000, false), 10_000, "at most 100 ms of the bandwidth");
    for round in 0..10 {
        tell(1000 + 100 * round, 1000, true);
    }
    assert_eq!(tell(3000, 1000, false), 1000, "two windows of five rounds later");
}

#[test]
fn two_stretches_with_heavy_losses_and_one_rate_are_a_policer() {
    let mut policer = Policer::new();
    let mut tell = |at_ms: u64, lost_percent: u64, app_limited| {
        let delivered_bytes = at_ms * 100;
        let totals = Totals { delivered_bytes, lost_bytes: delivered_bytes * lost_percent / 100 };
        let report = Report { totals, has_losses: true, app_limited, round_starts: true };
        policer.update(Instant::from_ns(at_ms * MS), &report);
        policer.bw()
    };
    (0..12).for_each(|round| assert_eq!(tell(100 * round, 10, false), None, "too few losses"));
    assert_eq!(tell(1200, 10, true), None, "the application was the limit");
    let found = (0..12).find_map(|round| tell(2000 + 100 * round, 30, false));
    assert_eq!(found, Some(100_000));
    let over = (0..60).position(|_| policer.is_over(true));
    assert_eq!((over, policer.bw()), (Some(47), None), "after 48 round trips");
}

#[test]
fn startup_fills_the_pipe_drain_empties_the_queue() {
    let mut run = Run::new(&ControllerKind::Bbr, PATH);
    run.go(450 * MS);
    assert_eq!(phase(&run), Phase::Startup);
    while phase(&run) == Phase::Startup {
        run.go(MS);
    }
    assert_eq!(phase(&run), Phase::Drain);
    assert!(run.longest_queue > PRODUCT / 2, "startup overfills: {}", run.longest_queue);
    while phase(&run) == Phase::Drain {
        run.go(MS);
    }
    assert_eq!(phase(&run), Phase::ProbeBandwidth);
    run.longest_queue = 0;
    run.go(8 * SECOND);
    assert!(run.longest_queue <= PRODUCT / 3, "a quarter more for a round trip: {}", run.longest_queue);
    assert_eq!(run.lost, 0);
}

#[test]
fn the_round_trip_is_measured_anew_every_ten_seconds() {
    let mut run = Run::new(&ControllerKind::Bbr, PATH);
    run.go(9 * SECOND);
    let (mut began_ms, mut lasted_ms) = (None, 0);
    for ms in 9000..11_500 {
        run.go(MS);
        if phase(&run) == Phase::ProbeRtt {
            began_ms.get_or_insert(ms);
            lasted_ms += 1;
            assert!(run.controller.window_bytes() <= 4 * MSS_BYTES);
        }
    }
    assert!((10_000..10_700).contains(&began_ms.unwrap()), "{began_ms:?}");
    assert!((300..500).contains(&lasted_ms), "until four are under way, and 200 ms: {lasted_ms}");
    assert_eq!(phase(&run), Phase::ProbeBandwidth);
}

#[test]
fn random_losses_do_not_stop_it() {
    let share = |kind| {
        let mut run = Run::new(&kind, Path { lost_per_million: 10_000, ..PATH });
        run.go(2 * SECOND);
        run.share_percent(8 * SECOND)
    };
    let [bbr, cubic, reno] = [ControllerKind::Bbr, ControllerKind::Cubic, ControllerKind::Reno].map(share);
    assert!(bbr >= 93 && cubic < 30 && reno < 30, "BBR {bbr} %, CUBIC {cubic} %, Reno {reno} %");
}

#[test]
fn for_a_round_trip_after_a_loss_as_much_leaves_as_arrives() {
    let mut run = Run::new(&ControllerKind::Bbr, PATH);
    run.go(5 * SECOND);
    let before_bytes = run.controller.window_bytes();
    let now = Instant::from_ns(5 * SECOND);
    let lost = Lost {
        bytes: 2000,
        packets: 2,
        begins_event: true,
        in_flight_bytes: 125_000,
        verdict: Verdict::Congestion,
    };
    run.controller.on_lost(now, &lost);
    run.go(20 * MS);
    assert!(run.controller.window_bytes() < before_bytes * 2 / 3, "what is under way, not two products");
    run.controller.on_signal(now, Signal::Recovered);
    assert_eq!(run.controller.window_bytes(), before_bytes);
}

#[test]
fn a_timeout_leaves_one_segment_and_the_end_of_the_repair_brings_the_window_back() {
    let mut run = Run::new(&ControllerKind::Bbr, PATH);
    run.go(5 * SECOND);
    let before_bytes = run.controller.window_bytes();
    run.controller.on_signal(
        Instant::from_ns(5 * SECOND),
        Signal::Timeout { in_flight_bytes: 125_000, lost_bytes: 125_000, left_bytes: 0, first: true },
    );
    assert_eq!(run.controller.window_bytes(), MSS_BYTES);
    run.controller.on_signal(Instant::from_ns(6 * SECOND), Signal::Recovered);
    assert_eq!(run.controller.window_bytes(), before_bytes);
}

#[test]
fn flows_begin_their_cycles_at_different_places() {
    let cycle_index = |seed| {
        let mut bbr = Bbr::new(ControllerConfig { seed, ..config() });
        bbr.begin_cycle(Instant::ZERO);
        match bbr.mode {
            Mode::ProbeBandwidth { cycle_index, .. } => cycle_index,
            _ => unreachable!("a cycle began"),
        }
    };
    let mut places: alloc::vec::Vec<usize> = (0..100).map(cycle_index).collect();
    assert_eq!(cycle_index(7), cycle_index(7));
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, [0, 2, 3, 4, 5, 6, 7], "never with the low gain");
    assert!(places.iter().all(|&cycle_index| PACING_GAIN_CYCLE[cycle_index] >= BBR_UNIT));
}

#[test]
fn a_timeout_leaves_what_may_arrive_and_a_lost_repeat_after_it_conserves_packets() {
    let mut run = Run::new(&ControllerKind::Bbr, PATH);
    run.go(5 * SECOND);
    let now = Instant::from_ns(5 * SECOND);
    let timeout =
        Signal::Timeout { in_flight_bytes: 125_000, lost_bytes: 100_000, left_bytes: 25_000, first: true };
    run.controller.on_signal(now, timeout);
    assert_eq!(run.controller.window_bytes(), 25_000 + MSS_BYTES);
    let mut bbr = Bbr::new(config());
    bbr.collapse_window(25_000, true);
    assert_eq!(bbr.repair, Repair::TimedOut);
    bbr.begin_repair();
    assert_eq!(bbr.repair, Repair::Begins);
}
