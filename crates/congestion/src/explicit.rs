//! Windows that routers rule: XCP [XCP 4.1] and P-XCP [P-XCP III, Fig. 6]. What the headers ask and tell is
//! the engine's; here is what becomes of the window.

use alloc::boxed::Box;

use skyhaul_core::event::{Phase, Verdict};
use skyhaul_core::{Instant, SECOND};

use crate::growth::window_rate_bps;
use crate::{Acked, Controller, ControllerConfig, Lost, Needs, Reno, RouterFeedback, Signal, Snapshot};

/// Answer to losses, where routers rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAnswer {
    /// XCP: half on three duplicate acknowledgements, one segment after a timeout. Feedback goes on.
    Reduce,
    /// P-XCP to the letter of [P-XCP Fig. 6]: as before on three duplicate acknowledgements, one segment
    /// after a timeout.
    KeepOnDuplicates,
    /// P-XCP: as before, whatever is lost, while answers come; half after each further timeout without any.
    Keep,
}

impl LossAnswer {
    /// Name of a controller that answers so.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reduce => "xcp",
            Self::KeepOnDuplicates => "p-xcp-literal",
            Self::Keep => "p-xcp",
        }
    }
}

/// Controller whose window the routers on the path rule.
///
/// Until the receiver tells of one, and after it told that there was none, it is [`Reno`]: nobody has granted
/// anything.
#[derive(Clone, Debug)]
pub struct Explicit {
    config: ControllerConfig,
    answer: LossAnswer,
    cwnd_bytes: u64,
    /// Window before the last event, in case it was none.
    before_event_bytes: Option<u64>,
    /// Router's rule; while there is none, Reno's.
    without_router: Option<Reno>,
    used: Used,
    /// Feedback arrived since the last timeout.
    is_answered: bool,
}

/// Use of the window in a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    since: Instant,
    /// Window at its beginning.
    window_bytes: u64,
    /// The most that was under way.
    most_bytes: u64,
}

impl Explicit {
    /// Controller at its first window.
    pub fn new(config: ControllerConfig, answer: LossAnswer) -> Self {
        Self {
            cwnd_bytes: config.initial_window_bytes.min(config.max_window_bytes),
            before_event_bytes: None,
            without_router: Some(Reno::new(config)),
            used: Used::default(),
            is_answered: false,
            answer,
            config,
        }
    }

    fn set_window(&mut self, cwnd_bytes: u64) {
        let most_bytes = self.config.max_window_bytes.max(self.config.mss_bytes);
        self.cwnd_bytes = cwnd_bytes.clamp(self.config.mss_bytes, most_bytes);
    }

    /// A router rules from now on, or none does.
    fn follow(&mut self, rules: bool) {
        if !rules && self.without_router.is_none() {
            let initial_window_bytes = self.cwnd_bytes;
            self.without_router = Some(Reno::new(ControllerConfig { initial_window_bytes, ..self.config }));
        } else if rules && let Some(reno) = self.without_router.take() {
            self.set_window(reno.window_bytes());
            self.used = Used::default();
        }
    }

    /// Window that was not used in a round trip becomes smaller by half of what was too much
    /// [XCP 4.1.3.1, p = 0.5].
    fn age(&mut self, now: Instant, acked: &Acked) {
        self.used.most_bytes = self.used.most_bytes.max(acked.in_flight_before_bytes);
        if now.since(self.used.since) < acked.smoothed_rtt_ns {
            return;
        }
        let unused_bytes = self.used.window_bytes.min(self.cwnd_bytes).saturating_sub(self.used.most_bytes);
        if unused_bytes >= self.config.mss_bytes && !acked.in_recovery {
            self.set_window(self.cwnd_bytes.saturating_sub(unused_bytes / 2));
        }
        self.used = Used { since: now, window_bytes: self.cwnd_bytes, most_bytes: 0 };
    }

    fn reduce_to(&mut self, cwnd_bytes: u64) {
        self.before_event_bytes = Some(self.cwnd_bytes);
        self.set_window(cwnd_bytes);
    }

    fn on_timeout(&mut self, first: bool) {
        let is_answered = core::mem::take(&mut self.is_answered);
        match self.answer {
            LossAnswer::Reduce | LossAnswer::KeepOnDuplicates if first => {
                self.reduce_to(self.config.mss_bytes);
            }
            LossAnswer::Reduce | LossAnswer::KeepOnDuplicates => self.set_window(self.config.mss_bytes),
            LossAnswer::Keep if is_answered => {}
            LossAnswer::Keep => self.reduce_to(self.cwnd_bytes / 2),
        }
    }
}

impl Controller for Explicit {
    fn on_sent(&mut self, now: Instant, bytes: u64) {
        if let Some(reno) = &mut self.without_router {
            reno.on_sent(now, bytes);
        }
    }

    fn on_acked(&mut self, now: Instant, acked: &Acked) {
        match &mut self.without_router {
            Some(reno) => reno.on_acked(now, acked),
            None => self.age(now, acked),
        }
    }

    fn on_lost(&mut self, now: Instant, lost: &Lost) {
        if let Some(reno) = &mut self.without_router {
            return reno.on_lost(now, lost);
        }
        let counts = lost.verdict == Verdict::Congestion && lost.begins_event;
        if counts && self.answer == LossAnswer::Reduce {
            self.reduce_to(self.cwnd_bytes / 2);
        }
    }

    fn on_signal(&mut self, now: Instant, signal: Signal) {
        if let Signal::SegmentSize { mss_bytes } = signal {
            self.config.mss_bytes = mss_bytes;
        }
        if let Some(reno) = &mut self.without_router {
            return reno.on_signal(now, signal);
        }
        match signal {
            // A queue that marks has no router of ours: a loss to XCP, and news to P-XCP, too.
            Signal::EcnMarks { .. } => self.reduce_to(self.cwnd_bytes / 2),
            Signal::Timeout { first, .. } => self.on_timeout(first),
            Signal::Spurious => {
                if let Some(cwnd_bytes) = self.before_event_bytes.take() {
                    self.set_window(self.cwnd_bytes.max(cwnd_bytes));
                }
            }
            Signal::Idle { idle_ns, rto_ns } => {
                self.set_window(self.config.window_after_idle(self.cwnd_bytes, idle_ns, rto_ns));
            }
            Signal::Recovered | Signal::SegmentSize { .. } => {}
        }
    }

    /// cwnd = max(cwnd + feedback RTT, MSS) [XCP 4.1.3].
    fn on_feedback(&mut self, _now: Instant, feedback: &RouterFeedback) {
        self.is_answered = true;
        self.follow(feedback.routers > 0);
        if self.without_router.is_none() {
            let per_rtt = i128::from(feedback.bytes_per_s) * i128::from(feedback.smoothed_rtt_ns);
            let cwnd_bytes = i128::from(self.cwnd_bytes) + per_rtt / i128::from(SECOND);
            self.set_window(u64::try_from(cwnd_bytes.max(0)).unwrap_or(u64::MAX));
        }
    }

    fn window_bytes(&self) -> u64 {
        self.without_router.as_ref().map_or(self.cwnd_bytes, Reno::window_bytes)
    }

    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        if let Some(reno) = &self.without_router {
            return reno.pacing_rate_bps(smoothed_rtt_ns);
        }
        let (_, steady) = self.config.pacing_percent?;
        Some(window_rate_bps(self.cwnd_bytes, steady, smoothed_rtt_ns))
    }

    fn needs(&self) -> Needs {
        let is_ruled = self.without_router.is_none();
        let reduces = self.answer == LossAnswer::Reduce;
        Needs {
            path_header: true,
            conserves: is_ruled && !reduces,
            each_window: is_ruled && reduces,
            ..Needs::default()
        }
    }

    fn snapshot(&self) -> Snapshot {
        let name = self.answer.name();
        match &self.without_router {
            Some(reno) => Snapshot { name, ..reno.snapshot() },
            None => Snapshot {
                name,
                phase: Phase::Explicit,
                cwnd_bytes: self.cwnd_bytes,
                ssthresh_bytes: u64::MAX,
            },
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
