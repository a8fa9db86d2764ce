//! Vegas, as SCPS-TP uses it [SCPS-TP 3.1.1]: the window follows the queue that it makes, told by round
//! trips. Thresholds are those of the public reference implementation (`docs/spec/vegas.md`).

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::{Phase, Verdict};

use crate::growth::window_rate_bps;
use crate::rounds::Rounds;
use crate::{
    Acked, Avoidance, Controller, ControllerConfig, Delivery, Lost, Needs, Signal, SlowStart, Snapshot,
};

/// Segments in the queue below which the window grows by one a round trip: alpha.
const FEW_SEGMENTS: u64 = 3;
/// Segments in the queue beyond which it shrinks: beta.
const MANY_SEGMENTS: u64 = 5;
/// Segments in the queue that end slow start: gamma.
const START_SEGMENTS: u64 = 4;
/// Part of the window that is given back then: what the last doubling was too much.
const START_EXCESS: u64 = 8;

/// Choices of [`Vegas`] in which its sources differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VegasConfig {
    /// Slow start doubles every round trip, as in the reference implementation; else every other one
    /// [SCPS-TP 3.1.1].
    pub doubles_each_round: bool,
    /// Round trips are those that the engine times ([`Acked::rtt_ns`]): a delayed acknowledgement makes them
    /// longer [SCPS-TP 6.1.1]. Else they are those of the newest packet that arrived.
    pub times_segments: bool,
}

/// Controller that keeps three to five segments in the queue.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: ControllerConfig,
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    rounds: Rounds,
    /// Shortest round trip of all, and of the running round; `u64::MAX` before the first one.
    base_rtt_ns: u64,
    round_rtt_ns: u64,
    /// True if the running round filled the window: then its round trip judges the window.
    round_is_full: bool,
    /// Window and threshold before the last event: kept in case it was none.
    before_event: Option<(u64, u64)>,
}

impl Vegas {
    /// Controller at its first window.
    pub fn new(config: ControllerConfig) -> Self {
        Self {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh_bytes: config.start_until_bytes,
            rounds: Rounds::default(),
            base_rtt_ns: u64::MAX,
            round_rtt_ns: u64::MAX,
            round_is_full: false,
            before_event: None,
            config,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }

    /// Bytes of the window that wait in the queue, by the running round: W (1 - base / rtt).
    fn queued_bytes(&self) -> u64 {
        let waited_ns = u128::from(self.round_rtt_ns.saturating_sub(self.base_rtt_ns));
        let queued = u128::from(self.cwnd_bytes) * waited_ns / u128::from(self.round_rtt_ns.max(1));
        u64::try_from(queued).unwrap_or(u64::MAX)
    }

    /// Notes a round trip: of the newest packet, which no delayed acknowledgement has made longer, or, where
    /// that is asked for, the one that the engine timed.
    fn note(&mut self, delivery: &Delivery, timed_ns: Option<u64>, is_full: bool) {
        let rtt_ns = if self.config.vegas.times_segments { timed_ns } else { delivery.rtt_ns };
        if let Some(rtt_ns) = rtt_ns {
            self.base_rtt_ns = self.base_rtt_ns.min(rtt_ns);
            self.round_rtt_ns = self.round_rtt_ns.min(rtt_ns);
        }
        self.round_is_full |= is_full;
        if let Some(rate) = delivery.rate {
            self.rounds.update(rate.prior_total_bytes, delivery.total_bytes);
        } else {
            self.rounds.go_on();
        }
    }

    /// Judges the window by the round that has ended.
    fn judge(&mut self, in_recovery: bool) {
        let is_told = self.round_rtt_ns < u64::MAX && self.round_is_full && !in_recovery;
        if is_told {
            let queued_bytes = self.queued_bytes();
            if self.in_slow_start() { self.judge_start(queued_bytes) } else { self.adapt(queued_bytes) }
        }
        self.round_rtt_ns = u64::MAX;
        self.round_is_full = false;
    }

    fn judge_start(&mut self, queued_bytes: u64) {
        if queued_bytes > START_SEGMENTS * self.config.mss_bytes {
            self.set_window(self.cwnd_bytes - self.cwnd_bytes / START_EXCESS);
            self.ssthresh_bytes = self.cwnd_bytes;
        }
    }

    /// One segment more, or half of what is too much and one segment less, down to half the window.
    fn adapt(&mut self, queued_bytes: u64) {
        let mss_bytes = self.config.mss_bytes;
        if queued_bytes < FEW_SEGMENTS * mss_bytes {
            self.set_window(self.cwnd_bytes.saturating_add(mss_bytes));
        } else if queued_bytes > MANY_SEGMENTS * mss_bytes {
            let excess_bytes = (queued_bytes - MANY_SEGMENTS * mss_bytes) / 2;
            self.set_window(
                self.cwnd_bytes - excess_bytes.saturating_add(mss_bytes).min(self.cwnd_bytes / 2),
            );
            self.ssthresh_bytes = self.ssthresh_bytes.min(self.cwnd_bytes);
        }
    }

    fn set_window(&mut self, cwnd_bytes: u64) {
        let most_bytes = self.config.max_window_bytes.max(self.cwnd_bytes);
        self.cwnd_bytes = cwnd_bytes.min(most_bytes).max(2 * self.config.mss_bytes);
    }

    /// Doubles every other round trip, or every one.
    fn slow_start(&mut self, acked: &Acked) {
        let is_held = self.rounds.count.is_multiple_of(2) && !self.config.vegas.doubles_each_round;
        if is_held || acked.in_recovery || acked.leaves_unused(self.cwnd_bytes) {
            return;
        }
        let counted = self.config.counting.in_slow_start(acked.bytes, self.config.mss_bytes);
        let (grown, _) = SlowStart::grow(self.cwnd_bytes, self.ssthresh_bytes, counted);
        self.cwnd_bytes = grown.min(self.config.max_window_bytes.max(self.cwnd_bytes));
    }

    fn halve(&mut self, in_flight_bytes: u64) {
        self.before_event = Some((self.cwnd_bytes, self.ssthresh_bytes));
        let counted_bytes = in_flight_bytes.min(self.cwnd_bytes);
        self.ssthresh_bytes = Avoidance::default().halve(counted_bytes, self.config.mss_bytes);
    }
}

impl Controller for Vegas {
    fn on_acked(&mut self, _now: Instant, acked: &Acked) {
        if let Some(delivery) = &acked.delivery {
            self.note(delivery, acked.rtt_ns, !acked.leaves_unused(self.cwnd_bytes));
            if self.rounds.is_start {
                self.judge(acked.in_recovery);
            }
        }
        if self.in_slow_start() {
            self.slow_start(acked);
        }
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.halve(lost.in_flight_bytes);
            self.cwnd_bytes = self.ssthresh_bytes;
        }
    }

    fn on_signal(&mut self, _now: Instant, signal: Signal) {
        match signal {
            Signal::EcnMarks { in_flight_bytes } => {
                self.halve(in_flight_bytes);
                self.cwnd_bytes = self.ssthresh_bytes;
            }
            Signal::Timeout { in_flight_bytes, first, .. } => {
                if first {
                    self.halve(in_flight_bytes);
                }
                self.cwnd_bytes = self.config.mss_bytes;
            }
            Signal::Idle { idle_ns, rto_ns } => {
                self.cwnd_bytes = self.config.window_after_idle(self.cwnd_bytes, idle_ns, rto_ns);
            }
            Signal::SegmentSize { mss_bytes } => self.config.mss_bytes = mss_bytes,
            // Back to where it was [RFC 4015 3.2].
            Signal::Spurious => {
                if let Some((cwnd_bytes, ssthresh_bytes)) = self.before_event.take() {
                    self.cwnd_bytes = self.cwnd_bytes.max(cwnd_bytes);
                    self.ssthresh_bytes = ssthresh_bytes;
                }
            }
            Signal::Recovered => {}
        }
    }

    fn window_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let (starting, steady) = self.config.pacing_percent?;
        let percent = if self.in_slow_start() { starting } else { steady };
        Some(window_rate_bps(self.cwnd_bytes, percent, smoothed_rtt_ns))
    }

    fn needs(&self) -> Needs {
        Needs { delivery: true, ..Needs::default() }
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        let (cwnd_bytes, ssthresh_bytes) = (self.cwnd_bytes, self.ssthresh_bytes);
        Snapshot { name: "vegas", phase, cwnd_bytes, ssthresh_bytes }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
