//! Controllers from elsewhere: of a window, and of the rate of a path.

use alloc::boxed::Box;
use alloc::vec;

use skyhaul_congestion::{
    Acked, Controller, ControllerFactory, ControllerKind, Lost, PathControllerFactory, PathStart, Snapshot,
};
use skyhaul_core::event::Phase;
use skyhaul_core::{Connections, Instant, PathController, PathSample, SECOND, Stats, UNMEASURED_RATE_BPS};

use super::bench::*;
use crate::Config;

/// A window that never changes.
#[derive(Clone, Debug)]
struct Fixed(u64);

impl Controller for Fixed {
    fn on_acked(&mut self, _now: Instant, _acked: &Acked) {}

    fn on_lost(&mut self, _now: Instant, _lost: &Lost) {}

    fn window_bytes(&self) -> u64 {
        self.0
    }

    fn pacing_rate_bps(&self, _smoothed_rtt_ns: u64) -> Option<u64> {
        None
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { name: "fixed", phase: Phase::Avoidance, cwnd_bytes: self.0, ssthresh_bytes: u64::MAX }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// A path that carries this rate, as soon as anything has arrived.
#[derive(Clone, Debug)]
struct Steady {
    rate_bps: u64,
    first_window_bytes: u64,
    has_sample: bool,
    /// Window once a sample is there: so many packets, if it is told how large those are.
    window_bytes: u64,
}

/// Kind of controller that finds this rate.
pub(super) fn steady(rate_bps: u64) -> ControllerKind {
    ControllerKind::Path(PathControllerFactory::new(move |start: PathStart| {
        let first_window_bytes = start.first_window_bytes;
        Box::new(Steady { rate_bps, first_window_bytes, has_sample: false, window_bytes: 1 << 20 })
    }))
}

impl PathController for Steady {
    fn on_sample(&mut self, _now: Instant, _sample: &PathSample) {
        self.has_sample = true;
    }

    fn on_outage(&mut self, _now: Instant) {}

    fn on_packet_size(&mut self, mss_bytes: u64) {
        self.window_bytes = 1000 * mss_bytes;
    }

    fn rate_bps(&self) -> u64 {
        if self.has_sample { self.rate_bps } else { UNMEASURED_RATE_BPS }
    }

    fn window_bytes(&self) -> u64 {
        if self.has_sample { self.window_bytes } else { self.first_window_bytes }
    }

    fn phase(&self) -> Phase {
        if self.has_sample { Phase::Holding } else { Phase::Measuring }
    }

    fn name(&self) -> &'static str {
        "steady"
    }

    fn boxed_clone(&self) -> Box<dyn PathController> {
        Box::new(self.clone())
    }
}

/// Ten seconds of sending with this controller: octets that arrived, and the sender's counters.
fn run(controller: ControllerKind) -> (usize, Stats) {
    run_with(Config { controller, ..Config::standard() })
}

fn run_with(config: Config) -> (usize, Stats) {
    let mut bench = Bench::new();
    let config = Config { send_limit_bytes: 64 << 20, ..config };
    let id = bench.open_with(config);
    let data = vec![7; 8_000_000];
    assert_eq!(bench.a.write(id, &data), Ok(data.len()));
    bench.run(10 * SECOND);
    (bench.received(1).len(), bench.a.stats(id).unwrap())
}

#[test]
fn a_window_from_elsewhere_is_what_leaves_each_round_trip() {
    let factory = ControllerFactory::new(|start| Box::new(Fixed(20 * start.mss_bytes)));
    let (octets, stats) = run(ControllerKind::Window(factory));
    assert_eq!((stats.controller, stats.cwnd_bytes % 20, stats.cwnd_bytes / 20 > 1400), ("fixed", 0, true));
    let windows = octets as u64 / stats.cwnd_bytes;
    assert!((25..=50).contains(&windows), "{windows} windows in 50 round trips");
}

#[test]
fn a_path_controller_from_elsewhere_sets_the_rate() {
    let (octets, stats) = run(steady(1_000_000));
    assert_eq!((stats.controller, stats.cwnd_bytes), ("steady", 1 << 20));
    let wire_bps = stats.sent_bytes * 8 / 10;
    assert!((950_000..=1_010_000).contains(&wire_bps), "{wire_bps} bit/s");
    assert!(octets as u64 * 8 / 10 > 900_000, "{octets} octets");
}

#[test]
fn a_path_controller_is_told_how_large_packets_have_become() {
    let config = Config { controller: steady(1_000_000), discover_mtu: true, ..Config::standard() };
    let (_, stats) = run_with(config);
    // Up to 1280 bytes at first, up to 1500 once that is found out.
    assert!((1_400_000..1_500_000).contains(&stats.cwnd_bytes), "{}", stats.cwnd_bytes);
}
