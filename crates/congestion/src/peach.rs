//! TCP-Peach+ [Akyildiz, Zhang, Fang 2002], as [P-XCP I] tells of it, by the names that stand there: segments
//! of low priority (NILs) find out what the path has left, as routers drop them first. What a NIL carries,
//! and when each leaves, is the engine's.

use alloc::boxed::Box;

use skyhaul_core::Instant;
use skyhaul_core::event::{Phase, Verdict};

use crate::growth::window_rate_bps;
use crate::{Acked, Avoidance, Controller, ControllerConfig, ExtraSegments, Lost, Needs, Signal, Snapshot};

/// Controller that opens its window by one segment for each NIL that is answered; Reno's avoidance otherwise.
///
/// Sudden start: one segment, and NILs for the rest of the peer's window. Rapid recovery: half the window,
/// and as many NILs as there were segments in it; the first answers, as many as half, open nothing.
#[derive(Clone, Debug)]
pub struct PeachPlus {
    config: ControllerConfig,
    cwnd_bytes: u64,
    avoidance: Avoidance,
    /// NILs that are wanted, until they are ordered.
    wanted: u32,
    /// Answers that open nothing.
    silent_answers: u32,
    /// Answers are those of a sudden start.
    is_starting: bool,
    /// Window before the last event, in case it was none.
    before_event_bytes: Option<u64>,
}

impl PeachPlus {
    /// Controller at its sudden start.
    pub fn new(config: ControllerConfig) -> Self {
        let mut controller = Self {
            cwnd_bytes: config.mss_bytes,
            avoidance: Avoidance::default(),
            wanted: 0,
            silent_answers: 0,
            is_starting: true,
            before_event_bytes: None,
            config,
        };
        controller.start();
        controller
    }

    fn start(&mut self) {
        self.set_window(self.config.mss_bytes);
        (self.wanted, self.silent_answers, self.is_starting) = (ExtraSegments::ALL, 0, true);
    }

    /// Half the window, and NILs in its place.
    fn recover(&mut self) {
        let before_bytes = self.cwnd_bytes;
        self.halve();
        let segments = |bytes: u64| u32::try_from(bytes / self.config.mss_bytes.max(1)).unwrap_or(u32::MAX);
        // All of them is what a sudden start asks for.
        self.wanted = segments(before_bytes).min(ExtraSegments::ALL - 1);
        self.silent_answers = segments(self.cwnd_bytes);
        self.is_starting = false;
    }

    fn halve(&mut self) {
        self.before_event_bytes = Some(self.cwnd_bytes);
        self.avoidance = Avoidance::default();
        let half_bytes = self.cwnd_bytes / 2;
        // In whole segments, as NILs are.
        self.set_window(half_bytes - half_bytes % self.config.mss_bytes.max(1));
    }

    fn set_window(&mut self, cwnd_bytes: u64) {
        let most_bytes = self.config.max_window_bytes.max(self.config.mss_bytes);
        self.cwnd_bytes = cwnd_bytes.clamp(self.config.mss_bytes, most_bytes).max(1);
    }
}

impl Controller for PeachPlus {
    fn on_acked(&mut self, _now: Instant, acked: &Acked) {
        if !acked.in_recovery && !acked.leaves_unused(self.cwnd_bytes) {
            let grown = self.avoidance.grow(self.cwnd_bytes, self.config.mss_bytes, acked.bytes);
            self.set_window(grown);
        }
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.recover();
        }
    }

    fn on_signal(&mut self, _now: Instant, signal: Signal) {
        match signal {
            Signal::EcnMarks { .. } => self.halve(),
            Signal::Timeout { first, .. } => {
                if first {
                    self.before_event_bytes = Some(self.cwnd_bytes);
                }
                self.start();
            }
            Signal::Spurious => {
                if let Some(cwnd_bytes) = self.before_event_bytes.take() {
                    self.set_window(self.cwnd_bytes.max(cwnd_bytes));
                }
            }
            Signal::Idle { idle_ns, rto_ns } => {
                if self.config.idle_restart.is_due(idle_ns, rto_ns) {
                    self.start();
                }
            }
            Signal::SegmentSize { mss_bytes } => self.config.mss_bytes = mss_bytes.max(1),
            Signal::Recovered => {}
        }
    }

    fn on_extra(&mut self, _now: Instant, extra: ExtraSegments) {
        match extra {
            ExtraSegments::Ordered => self.wanted = 0,
            ExtraSegments::Answered if self.silent_answers > 0 => self.silent_answers -= 1,
            ExtraSegments::Answered => {
                self.set_window(self.cwnd_bytes.saturating_add(self.config.mss_bytes));
            }
        }
    }

    fn window_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let (_, steady) = self.config.pacing_percent?;
        Some(window_rate_bps(self.cwnd_bytes, steady, smoothed_rtt_ns))
    }

    fn needs(&self) -> Needs {
        Needs { conserves: true, extra_segments: self.wanted, ..Needs::default() }
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.is_starting { Phase::SlowStart } else { Phase::Avoidance };
        Snapshot { name: "peach-plus", phase, cwnd_bytes: self.cwnd_bytes, ssthresh_bytes: u64::MAX }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
