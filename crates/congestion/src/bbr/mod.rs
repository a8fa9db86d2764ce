//! BBR in its first version, as the Linux kernel runs it [draft-cardwell-iccrg-bbr-congestion-control-00,
//! `net/ipv4/tcp_bbr.c`]: it sends at the bandwidth that it measures and keeps about two bandwidth-delay products
//! under way. Losses are no signal, but for one round trip of packet conservation; neither are marks.
//!
//! Other than there: bytes instead of packets, the exact highest of ten round trips instead of an estimate, and
//! departures are not scheduled ahead, so that what is under way needs no forecast.

#[cfg(test)]
mod bbr_tests;
mod gains;
mod model;
mod phases;
mod policer;
mod window;

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, Verdict};
use skyhaul_core::{Instant, MS, SECOND};

use crate::{Acked, Controller, ControllerConfig, Delivery, Lost, Snapshot};
use gains::{CYCLE, DRAIN, HIGH, UNIT, WINDOW, scaled};
use model::{Bandwidth, Bunching, FullPipe, Rounds};
use policer::{Policer, Report, Totals};

/// Segments under way meanwhile, and at least at any time.
const MIN_WINDOW_SEGMENTS: u64 = 4;
/// Pacing is so much slower than the bandwidth, in percent: queues drain.
const PACING_MARGIN_PERCENT: u64 = 1;
/// Assumed round trip before the first is measured.
const FIRST_RTT_NS: u64 = MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles each round trip until the pipe is full.
    Startup,
    /// Empties the queue that this made.
    Drain,
    /// Goes round the cycle of gains: this place of it, entered then.
    ProbeBandwidth { place: usize, since: Instant },
    /// Measures the shortest round trip. The end, once little enough is under way, and whether a round trip has
    /// passed since.
    ProbeRtt { until: Option<Instant>, had_round: bool },
}

/// How far the repair of losses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    /// Losses were noticed, and not yet answered.
    Begins,
    /// For a round trip, as much leaves as arrives.
    Conserves,
    Goes,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: ControllerConfig,
    mode: Mode,
    rounds: Rounds,
    bandwidth: Bandwidth,
    pipe: FullPipe,
    bunching: Bunching,
    policer: Policer,
    /// The shortest round trip, and when it was measured.
    min_rtt_ns: Option<u64>,
    min_rtt_at: Instant,
    repair: Repair,
    /// Lost since the last acknowledgement.
    lost_bytes: u64,
    totals: Totals,
    /// Sending starts again after a silence, and nothing of it is acknowledged.
    restarts: bool,
    paced_by_rtt: bool,
    pacing_bytes_per_s: u64,
    cwnd_bytes: u64,
    /// The window before losses or the measuring of the round trip lowered it.
    prior_cwnd_bytes: u64,
    /// Cycles begun.
    cycles: u64,
}

impl Bbr {
    /// A controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        let mut bbr = Self {
            mode: Mode::Startup,
            rounds: Rounds::default(),
            bandwidth: Bandwidth::default(),
            pipe: FullPipe::default(),
            bunching: Bunching::new(Instant::ZERO),
            policer: Policer::new(),
            min_rtt_ns: None,
            min_rtt_at: Instant::ZERO,
            repair: Repair::None,
            lost_bytes: 0,
            totals: Totals::default(),
            restarts: false,
            paced_by_rtt: false,
            pacing_bytes_per_s: 0,
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            prior_cwnd_bytes: 0,
            cycles: 0,
            config,
        };
        bbr.pace_by_window(config.rtt_ns);
        bbr
    }

    /// The first pace: the first window in a round trip, times the high gain.
    fn pace_by_window(&mut self, rtt_ns: Option<u64>) {
        self.paced_by_rtt = rtt_ns.is_some();
        let rtt_ns = rtt_ns.unwrap_or(FIRST_RTT_NS).max(1);
        let bytes_per_s = u128::from(self.cwnd_bytes) * u128::from(SECOND) / u128::from(rtt_ns);
        self.pacing_bytes_per_s = self.pace_bytes_per_s(bytes_per_s as u64, HIGH);
    }

    /// What a bandwidth of payload means in IP bytes, less the margin.
    fn pace_bytes_per_s(&self, bytes_per_s: u64, gain: u64) -> u64 {
        let ControllerConfig { mss_bytes, overhead_bytes, .. } = self.config;
        let wire =
            u128::from(bytes_per_s) * u128::from(mss_bytes + overhead_bytes) / u128::from(mss_bytes.max(1));
        let wire = u64::try_from(wire).unwrap_or(u64::MAX);
        let pace = scaled(wire, gain);
        pace - pace / 100 * PACING_MARGIN_PERCENT
    }

    /// The bandwidth to go by: the policer's, else the highest.
    fn bytes_per_s(&self) -> u64 {
        self.policer.bytes_per_s().unwrap_or_else(|| self.bandwidth.max_bytes_per_s())
    }

    /// (pacing gain, window gain)
    fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (HIGH, HIGH),
            Mode::Drain => (DRAIN, HIGH),
            Mode::ProbeBandwidth { .. } if self.policer.bytes_per_s().is_some() => (UNIT, WINDOW),
            Mode::ProbeBandwidth { place, .. } => (CYCLE[place % CYCLE.len()], WINDOW),
            Mode::ProbeRtt { .. } => (UNIT, UNIT),
        }
    }

    fn update_bandwidth(&mut self, now: Instant, delivery: &Delivery) {
        self.rounds.is_start = false;
        let Some(rate) = delivery.rate else { return };
        self.rounds.update(rate.prior_total_bytes, delivery.total_bytes);
        if self.rounds.is_start && self.repair == Repair::Conserves {
            self.repair = Repair::Goes;
        }
        let is_cruising = matches!(self.mode, Mode::ProbeBandwidth { .. });
        if self.policer.is_over(self.rounds.is_start && is_cruising) {
            self.begin_cycle(now);
        }
        let (has_losses, round_starts) = (self.lost_bytes > 0, self.rounds.is_start);
        let report = Report { totals: self.totals, has_losses, app_limited: rate.app_limited, round_starts };
        self.policer.update(now, &report);
        let bytes_per_s = rate.bytes_per_s();
        if !rate.app_limited || bytes_per_s >= self.bandwidth.max_bytes_per_s() {
            self.bandwidth.insert(self.rounds.count, bytes_per_s);
        }
        let (cwnd_bytes, mss_bytes) = (self.cwnd_bytes, self.config.mss_bytes);
        let known = self.bytes_per_s();
        self.bunching.update(now, delivery, round_starts, known, cwnd_bytes, mss_bytes);
        if round_starts && !rate.app_limited && !self.pipe.is_reached {
            self.pipe.update(self.bandwidth.max_bytes_per_s());
        }
    }

    fn update_pace(&mut self, gain: u64, rtt_ns: Option<u64>) {
        if !self.paced_by_rtt && rtt_ns.is_some() {
            self.pace_by_window(rtt_ns);
        }
        let wanted = self.pace_bytes_per_s(self.bytes_per_s(), gain);
        if self.pipe.is_reached || wanted > self.pacing_bytes_per_s {
            self.pacing_bytes_per_s = wanted;
        }
    }
}

impl Controller for Bbr {
    fn on_acked(&mut self, now: Instant, acked: &Acked) {
        let Some(delivery) = &acked.delivery else { return };
        self.totals.delivered_bytes = delivery.total_bytes;
        if self.min_rtt_ns.is_none() {
            self.min_rtt_at = now;
        }
        self.update_bandwidth(now, delivery);
        self.update_mode(now, acked, delivery);
        self.update_min_rtt(now, acked, delivery);
        let (pacing_gain, window_gain) = self.gains();
        self.update_pace(pacing_gain, delivery.rtt_ns.or(acked.rtt_ns));
        self.update_window(window_gain, delivery);
        self.lost_bytes = 0;
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        if lost.verdict != Verdict::Congestion {
            return; // a link that damages packets polices nothing
        }
        self.lost_bytes += lost.bytes;
        self.totals.lost_bytes += lost.bytes;
        if lost.begins_event && self.repair == Repair::None {
            self.save_window();
            self.repair = Repair::Begins;
        }
    }

    /// A round trip ends here; what the bandwidth grew by is measured anew.
    fn on_timeout(&mut self, now: Instant, in_flight_bytes: u64, first: bool) {
        if first {
            self.save_window();
            self.totals.lost_bytes += in_flight_bytes;
        }
        self.repair = Repair::Goes;
        self.pipe.forget();
        let totals = self.totals;
        self.policer
            .update(now, &Report { totals, has_losses: true, app_limited: false, round_starts: true });
        self.cwnd_bytes = self.config.mss_bytes;
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.repair != Repair::None {
            self.repair = Repair::None;
            self.restore_window();
        }
    }

    fn on_spurious(&mut self, now: Instant) {
        self.pipe.forget();
        self.policer = Policer::new();
        self.on_recovered(now);
    }

    fn on_idle(&mut self, now: Instant, _idle_ns: u64, _rto_ns: u64) {
        self.restarts = true;
        self.bunching.restart(now);
        match self.mode {
            Mode::ProbeBandwidth { .. } => self.update_pace(UNIT, None),
            Mode::ProbeRtt { .. } => self.end_probe_rtt(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn set_mss(&mut self, mss_bytes: u64) {
        self.config.mss_bytes = mss_bytes;
    }

    fn wants_delivery(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    fn conserves(&self) -> bool {
        true
    }

    fn window_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn pacing_rate_bps(&self, _smoothed_rtt_ns: u64) -> Option<u64> {
        Some(self.pacing_bytes_per_s.saturating_mul(8).max(1))
    }

    fn snapshot(&self) -> Snapshot {
        let phase = match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::ProbeBandwidth { .. } => Phase::ProbeBandwidth,
            Mode::ProbeRtt { .. } => Phase::ProbeRtt,
        };
        Snapshot { phase, cwnd_bytes: self.cwnd_bytes, ssthresh_bytes: u64::MAX }
    }

    fn name(&self) -> &'static str {
        "bbr"
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
