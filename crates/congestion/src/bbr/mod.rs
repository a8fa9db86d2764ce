//! BBR in its first version, as the Linux kernel runs it [draft-cardwell-iccrg-bbr-congestion-control-00,
//! `net/ipv4/tcp_bbr.c`]: it sends at the bandwidth that it measures and keeps about two bandwidth-delay
//! products under way. Losses are no signal, but for one round trip of packet conservation; neither are
//! marks.
//!
//! Other than there: bytes instead of packets, the exact highest of ten round trips instead of an estimate,
//! and departures are not scheduled ahead, so that what is under way needs no forecast. Names are those of
//! draft and kernel: `bw` (bandwidth of payload, in bytes/s), `min_rtt`, `full_bw`, `extra_acked`,
//! `target_inflight`.

#[cfg(test)]
mod bbr_tests;
mod model;
mod phases;
mod policer;
mod state;
mod window;

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, Verdict};
use skyhaul_core::{Instant, MS, SECOND};

use crate::rounds::Rounds;
use crate::{Acked, Controller, ControllerConfig, Delivery, Lost, Needs, Signal, Snapshot};
use model::{ExtraAcked, FullPipe, MaxBwFilter};
use policer::{Policer, Report, Totals};
pub use state::Bbr;
use state::{BBR_UNIT, HIGH_GAIN, Mode, Repair, scaled};

/// Percent by which pacing is slower than the bandwidth: queues drain.
const PACING_MARGIN_PERCENT: u64 = 1;
/// Round trip assumed before the first is measured.
const FIRST_RTT_NS: u64 = MS;

impl Bbr {
    /// Controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        let mut bbr = Self {
            mode: Mode::Startup,
            rounds: Rounds::default(),
            bw_filter: MaxBwFilter::default(),
            full_pipe: FullPipe::default(),
            extra_acked: ExtraAcked::new(Instant::ZERO),
            policer: Policer::new(),
            min_rtt_ns: None,
            min_rtt_stamp: Instant::ZERO,
            repair: Repair::None,
            lost_bytes: 0,
            totals: Totals::default(),
            idle_restart: false,
            has_seen_rtt: false,
            pacing_bytes_per_s: 0,
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            prior_cwnd: 0,
            cycles: 0,
            config,
        };
        bbr.pace_by_window(config.rtt_ns);
        bbr
    }

    /// Sets the first pace: the first window in a round trip, times the high gain.
    fn pace_by_window(&mut self, rtt_ns: Option<u64>) {
        self.has_seen_rtt = rtt_ns.is_some();
        let rtt_ns = rtt_ns.unwrap_or(FIRST_RTT_NS).max(1);
        let bytes_per_s = u128::from(self.cwnd_bytes) * u128::from(SECOND) / u128::from(rtt_ns);
        self.pacing_bytes_per_s = self.pace_bytes_per_s(bytes_per_s as u64, HIGH_GAIN);
    }

    /// Pace in IP bytes for a bandwidth of payload, less the margin.
    fn pace_bytes_per_s(&self, bw: u64, gain: u64) -> u64 {
        let ControllerConfig { mss_bytes, overhead_bytes, .. } = self.config;
        let wire = u128::from(bw) * u128::from(mss_bytes + overhead_bytes) / u128::from(mss_bytes.max(1));
        let wire = u64::try_from(wire).unwrap_or(u64::MAX);
        let pace = scaled(wire, gain);
        pace - pace / 100 * PACING_MARGIN_PERCENT
    }

    fn update_bandwidth(&mut self, now: Instant, delivery: &Delivery) {
        self.rounds.go_on();
        let Some(rate) = delivery.rate else { return };
        self.rounds.update(rate.prior_total_bytes, delivery.total_bytes);
        if self.rounds.is_start {
            self.end_conservation();
        }
        let is_cruising = matches!(self.mode, Mode::ProbeBandwidth { .. });
        if self.policer.is_over(self.rounds.is_start && is_cruising) {
            self.begin_cycle(now);
        }
        let (has_losses, round_starts) = (self.lost_bytes > 0, self.rounds.is_start);
        let report = Report { totals: self.totals, has_losses, app_limited: rate.app_limited, round_starts };
        self.policer.update(now, &report);
        let bw = rate.bytes_per_s();
        if !rate.app_limited || bw >= self.bw_filter.max_bw() {
            self.bw_filter.insert(self.rounds.count, bw);
        }
        let (cwnd_bytes, mss_bytes) = (self.cwnd_bytes, self.config.mss_bytes);
        let bw = self.bw();
        self.extra_acked.update(now, delivery, round_starts, bw, cwnd_bytes, mss_bytes);
        if round_starts && !rate.app_limited && !self.full_pipe.filled_pipe {
            self.full_pipe.update(self.bw_filter.max_bw());
        }
    }

    fn update_pace(&mut self, gain: u64, rtt_ns: Option<u64>) {
        if !self.has_seen_rtt && rtt_ns.is_some() {
            self.pace_by_window(rtt_ns);
        }
        let rate = self.pace_bytes_per_s(self.bw(), gain);
        if self.full_pipe.filled_pipe || rate > self.pacing_bytes_per_s {
            self.pacing_bytes_per_s = rate;
        }
    }
}

impl Bbr {
    /// Begins a round trip here; growth of the bandwidth is measured anew.
    fn time_out(&mut self, now: Instant, lost_bytes: u64, left_bytes: u64, first: bool) {
        self.totals.lost_bytes += lost_bytes;
        self.collapse_window(left_bytes, first);
        self.full_pipe.forget();
        let totals = self.totals;
        self.policer
            .update(now, &Report { totals, has_losses: true, app_limited: false, round_starts: true });
    }

    fn restart(&mut self, now: Instant) {
        self.extra_acked.restart(now);
        if matches!(self.mode, Mode::ProbeBandwidth { .. }) {
            self.update_pace(BBR_UNIT, None);
        }
        self.restart_mode(now);
    }
}

impl Controller for Bbr {
    fn on_acked(&mut self, now: Instant, acked: &Acked) {
        let Some(delivery) = &acked.delivery else { return };
        self.totals.delivered_bytes = delivery.total_bytes;
        self.begin_min_rtt(now);
        self.update_bandwidth(now, delivery);
        self.update_mode(now, acked, delivery);
        self.update_min_rtt(now, acked, delivery);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.update_pace(pacing_gain, delivery.rtt_ns.or(acked.rtt_ns));
        self.update_window(cwnd_gain, delivery);
        self.lost_bytes = 0;
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        if lost.verdict != Verdict::Congestion {
            return; // a link that damages packets polices nothing
        }
        self.lost_bytes += lost.bytes;
        self.totals.lost_bytes += lost.bytes;
        if lost.begins_event {
            self.begin_repair();
        }
    }

    fn on_signal(&mut self, now: Instant, signal: Signal) {
        match signal {
            Signal::Timeout { lost_bytes, left_bytes, first, .. } => {
                self.time_out(now, lost_bytes, left_bytes, first);
            }
            Signal::Recovered => self.end_repair(),
            Signal::Spurious => {
                self.full_pipe.forget();
                self.policer = Policer::new();
                self.end_repair();
            }
            Signal::Idle { .. } => self.restart(now),
            Signal::SegmentSize { mss_bytes } => self.config.mss_bytes = mss_bytes,
            Signal::EcnMarks { .. } => {}
        }
    }

    fn needs(&self) -> Needs {
        let holds_back = matches!(self.mode, Mode::ProbeRtt { .. });
        Needs { delivery: true, holds_back, conserves: true, ..Needs::default() }
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
        Snapshot { name: "bbr", phase, cwnd_bytes: self.cwnd_bytes, ssthresh_bytes: u64::MAX }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
