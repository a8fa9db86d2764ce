//! Reno, the standard's own controller [RFC 5681]. What to repeat, and how many segments may leave during
//! fast recovery, is the engine's: the window is the same for Reno, NewReno and SACK.

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, Verdict};
use skyhaul_core::{Instant, SECOND};

use crate::{Acked, Controller, Lost, SlowStart, Snapshot};

/// What makes the window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each acknowledgement: at most a segment in slow start, SMSS * SMSS / cwnd in avoidance
    /// [RFC 5681 3.1 (2), (3)]. With delayed acknowledgements the growth is half as fast.
    Acks,
    /// What is acknowledged: at most two segments an acknowledgement in slow start, a segment a window in
    /// avoidance [RFC 3465 2.1, 2.2].
    Bytes,
}

/// Parameters of [`Reno`].
#[derive(Clone, Copy, Debug)]
pub struct RenoConfig {
    /// Largest payload of a segment.
    pub mss_bytes: u64,
    /// First window, and the one after a long silence.
    pub initial_window_bytes: u64,
    /// The window never grows beyond this.
    pub max_window_bytes: u64,
    /// See [`Counting`].
    pub counting: Counting,
    /// A silence this long sends the window back to its first value [RFC 5681 4.1]; `None`: never.
    pub idle_restart_ns: Option<u64>,
}

/// Slow start, avoidance by one segment a round trip, half on a loss, one segment after a timeout.
#[derive(Clone, Debug)]
pub struct Reno {
    config: RenoConfig,
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    /// Acknowledged in avoidance and not yet turned into a segment of window.
    counted_bytes: u64,
    /// Losses of packets sent before this belong to the event already answered.
    answered_until: Option<Instant>,
}

impl Reno {
    /// A controller at its first window.
    pub fn new(config: RenoConfig) -> Self {
        Self {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh_bytes: u64::MAX,
            counted_bytes: 0,
            answered_until: None,
            config,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }

    fn slow_start(&mut self, bytes: u64) -> u64 {
        let segments = if self.config.counting == Counting::Acks { 1 } else { 2 };
        let counted = bytes.min(segments * self.config.mss_bytes);
        SlowStart::grow(self.cwnd_bytes, self.ssthresh_bytes, counted).0
    }

    fn avoidance(&mut self, bytes: u64) -> u64 {
        let mss_bytes = self.config.mss_bytes;
        match self.config.counting {
            Counting::Acks => self.cwnd_bytes + (mss_bytes * mss_bytes / self.cwnd_bytes.max(1)).max(1),
            Counting::Bytes => {
                self.counted_bytes += bytes;
                if self.counted_bytes < self.cwnd_bytes {
                    return self.cwnd_bytes;
                }
                self.counted_bytes -= self.cwnd_bytes;
                self.cwnd_bytes + mss_bytes
            }
        }
    }

    /// Half of what was under way, at least two segments [RFC 5681 3.1 (4)].
    fn set_threshold(&mut self, in_flight_bytes: u64) {
        self.ssthresh_bytes = (in_flight_bytes / 2).max(2 * self.config.mss_bytes);
        self.counted_bytes = 0;
    }
}

impl Controller for Reno {
    fn on_acked(&mut self, _now: Instant, acked: &Acked) {
        // A window that was not used tells nothing about the network [RFC 7661 1].
        let is_unused = acked.app_limited && acked.in_flight_before_bytes * 2 < self.cwnd_bytes;
        if acked.in_recovery || is_unused || acked.bytes == 0 {
            return;
        }
        let grown =
            if self.in_slow_start() { self.slow_start(acked.bytes) } else { self.avoidance(acked.bytes) };
        self.cwnd_bytes = grown.min(self.config.max_window_bytes.max(self.cwnd_bytes));
    }

    fn on_lost(&mut self, now: Instant, lost: &Lost) {
        let is_answered = self.answered_until.is_some_and(|until| lost.newest_sent_at <= until);
        if lost.verdict != Verdict::Congestion || is_answered {
            return;
        }
        self.set_threshold(lost.in_flight_bytes);
        self.cwnd_bytes = self.ssthresh_bytes;
        self.answered_until = Some(now);
    }

    /// One segment [RFC 5681 3.1]; the threshold is not halved again for the same silence.
    fn on_timeout(&mut self, _now: Instant, in_flight_bytes: u64, first: bool) {
        if first {
            self.set_threshold(in_flight_bytes);
        }
        self.cwnd_bytes = self.config.mss_bytes;
    }

    fn on_idle(&mut self, _now: Instant, idle_ns: u64) {
        if self.config.idle_restart_ns.is_some_and(|limit| idle_ns >= limit) {
            self.cwnd_bytes = self.cwnd_bytes.min(self.config.initial_window_bytes);
        }
    }

    fn set_mss(&mut self, mss_bytes: u64) {
        self.config.mss_bytes = mss_bytes;
    }

    fn window_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    /// A window a round trip, for engines that spread what they send. TCP does not.
    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let bits = u128::from(self.cwnd_bytes) * 8;
        Some((bits * u128::from(SECOND) / u128::from(smoothed_rtt_ns.max(1))) as u64)
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        Snapshot { phase, cwnd_bytes: self.cwnd_bytes, ssthresh_bytes: self.ssthresh_bytes }
    }

    fn name(&self) -> &'static str {
        "reno"
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
