//! Reno, the standard's own controller [RFC 5681]. What to repeat, and how many segments may leave during
//! fast recovery, is the engine's: the window is the same for Reno, NewReno and SACK.

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, Verdict};
use skyhaul_core::{Instant, SECOND};

use crate::{Acked, Controller, IdleRestart, Lost, SlowStart, Snapshot};

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
    /// What sends the window back to its first value.
    pub idle_restart: IdleRestart,
}

/// Slow start, avoidance by one segment a round trip, half on a loss, one segment after a timeout.
#[derive(Clone, Debug)]
pub struct Reno {
    config: RenoConfig,
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    /// Acknowledged in avoidance and not yet turned into a segment of window.
    counted_bytes: u64,
}

impl Reno {
    /// A controller at its first window.
    pub fn new(config: RenoConfig) -> Self {
        Self {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            ssthresh_bytes: u64::MAX,
            counted_bytes: 0,
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
        if acked.in_recovery || acked.bytes == 0 || acked.leaves_unused(self.cwnd_bytes) {
            return;
        }
        let grown =
            if self.in_slow_start() { self.slow_start(acked.bytes) } else { self.avoidance(acked.bytes) };
        self.cwnd_bytes = grown.min(self.config.max_window_bytes.max(self.cwnd_bytes));
    }

    fn on_lost(&mut self, now: Instant, lost: &Lost) {
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.on_ecn(now, lost.in_flight_bytes);
        }
    }

    /// As for a loss [RFC 3168 6.1.2].
    fn on_ecn(&mut self, _now: Instant, in_flight_bytes: u64) {
        self.set_threshold(in_flight_bytes);
        self.cwnd_bytes = self.ssthresh_bytes;
    }

    /// One segment [RFC 5681 3.1]; the threshold is not halved again for the same silence.
    fn on_timeout(&mut self, _now: Instant, in_flight_bytes: u64, first: bool) {
        if first {
            self.set_threshold(in_flight_bytes);
        }
        self.cwnd_bytes = self.config.mss_bytes;
    }

    fn on_idle(&mut self, _now: Instant, idle_ns: u64, rto_ns: u64) {
        if self.config.idle_restart.is_due(idle_ns, rto_ns) {
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
