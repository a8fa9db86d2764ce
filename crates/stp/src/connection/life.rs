//! Life of a connection: opening, open, ending, lingering, closed, each with what belongs to it alone.

use skyhaul_core::{CloseReason, Instant, ResetReason, RttEstimator};

use super::State;
use crate::config::Config;
use crate::retry::Retry;

/// Our END.
#[derive(Clone, Debug)]
pub(super) struct OwnEnd {
    acknowledged: bool,
    /// True if every copy confirmed all that the peer ever sent, its END included.
    confirms_all: bool,
    timer: Retry,
}

/// Life of a connection. It goes down this list, and may skip steps; END may even be sent while opening.
#[derive(Clone, Debug)]
pub(super) enum Life {
    /// Ours to open, and not answered yet.
    Opening {
        /// When it began.
        since: Instant,
        /// True while BGN waits for the application's first word.
        held: bool,
        /// BGN's timer.
        begin: Retry,
        /// Our END, if it was sent with the first data.
        end: Option<OwnEnd>,
    },
    /// Both ends know of it, and our END was not sent. Numbers below `early_to` were sent before the answer.
    Open { early_to: u64 },
    /// Our END was sent.
    Ending { early_to: u64, end: OwnEnd },
    /// Both directions have ended; late repeats of the peer are answered until then.
    Linger { until: Instant, span_ns: u64 },
    /// Over. A reason is there unless both sides have finished; a reset is there until it is sent.
    Closed { reason: Option<CloseReason>, reset: Option<ResetReason> },
}

impl Life {
    /// Life of a connection that opens now. `held`: not before the application's first word.
    pub(super) fn opening(now: Instant, held: bool, config: &Config) -> Self {
        let mut begin = Retry::new(config.bgn_timer_ns, config.max_timer_ns);
        begin.start(now);
        Self::Opening { since: now, held, begin, end: None }
    }

    /// Life of a connection that a peer opened.
    pub(super) fn open() -> Self {
        Self::Open { early_to: 0 }
    }

    /// True if the answer to our opening is missing.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self, Self::Opening { .. })
    }

    /// True if nothing is sent yet, since the application has said nothing.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Self::Opening { held: true, .. })
    }

    /// True while late repeats are answered, and nothing else.
    pub(super) fn is_lingering(&self) -> bool {
        matches!(self, Self::Linger { .. })
    }

    /// True if it is over.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Error with the reason of the end, if it is over: none after a clean one.
    pub(super) fn check(&self) -> Result<(), Option<CloseReason>> {
        if let Self::Closed { reason, .. } = self { Err(*reason) } else { Ok(()) }
    }

    /// The application said its first word.
    pub(super) fn release(&mut self) {
        if let Self::Opening { held, .. } = self {
            *held = false;
        }
    }

    /// Sends BGN again at this time.
    pub(super) fn begin_again(&mut self, at: Instant) {
        if let Self::Opening { begin, .. } = self {
            begin.start(at);
        }
    }

    /// A BGN left.
    pub(super) fn begin_sent(&mut self, now: Instant) {
        if let Self::Opening { begin, .. } = self {
            begin.tried(now);
        }
    }

    /// When BGN is due.
    pub(super) fn begin_due(&self) -> Option<Instant> {
        if let Self::Opening { held: false, begin, .. } = self { begin.due() } else { None }
    }

    /// The peer has answered. `next`: our next number.
    pub(super) fn become_open(&mut self, next: u64) {
        if let Self::Opening { end, .. } = self {
            let end = end.take();
            *self = end.map_or(Self::Open { early_to: next }, |end| Self::Ending { early_to: next, end });
        }
    }

    /// True if a segment with this number may have been sent before the peer knew of us.
    pub(super) fn is_early(&self, number: u64) -> bool {
        matches!(self, Self::Open { early_to } | Self::Ending { early_to, .. } if number < *early_to)
    }

    fn end(&self) -> Option<&OwnEnd> {
        match self {
            Self::Opening { end, .. } => end.as_ref(),
            Self::Ending { end, .. } => Some(end),
            _ => None,
        }
    }

    fn end_mut(&mut self) -> Option<&mut OwnEnd> {
        match self {
            Self::Opening { end, .. } => end.as_mut(),
            Self::Ending { end, .. } => Some(end),
            _ => None,
        }
    }

    /// True if our END was sent. Not once it lingers or is over.
    pub(super) fn has_ended(&self) -> bool {
        self.end().is_some()
    }

    /// True if our END was sent and confirmed, or need not be any more.
    pub(super) fn is_end_confirmed(&self) -> bool {
        self.end().map_or(self.is_lingering(), |end| end.acknowledged)
    }

    /// When END is due again.
    pub(super) fn end_due(&self) -> Option<Instant> {
        self.end().filter(|end| !end.acknowledged).and_then(|end| end.timer.due())
    }

    /// True if our END is confirmed, and the peer has with it all that it can want to hear: there is nothing
    /// to linger for.
    pub(super) fn is_peer_content(&self) -> bool {
        self.end().is_some_and(|end| end.acknowledged && end.confirms_all)
    }

    /// An END left, at first or again. `overdue_ns`: when an answer is overdue. `confirms_all`: its segment
    /// confirmed all that the peer ever sent, its END included.
    pub(super) fn end_sent(&mut self, now: Instant, overdue_ns: u64, confirms_all: bool, config: &Config) {
        if let Some(end) = self.end_mut() {
            end.confirms_all &= confirms_all;
            return end.timer.tried(now);
        }
        let mut timer = Retry::new(config.end_timer_ns, config.max_timer_ns);
        timer.arm(now, overdue_ns);
        let new = OwnEnd { acknowledged: false, confirms_all, timer };
        match self {
            Self::Opening { end, .. } => *end = Some(new),
            Self::Open { early_to } => *self = Self::Ending { early_to: *early_to, end: new },
            _ => {}
        }
    }

    /// ENDAK came.
    pub(super) fn confirm_end(&mut self) {
        if let Some(end) = self.end_mut() {
            end.acknowledged = true;
            end.timer.stop();
        }
    }

    /// The END timer turns out to be shorter, before the first repeat. The peer lingers by what it knows of
    /// the path: a timer from before the first sample would come too late for it.
    pub(super) fn shorten_end(&mut self, first_ns: u64) {
        if let Some(end) = self.end_mut() {
            end.timer.shorten(first_ns);
        }
    }

    /// Stays long enough to answer two repeats of the peer's END; twice as long after each, as the peer's
    /// timer is. `polled_again` is false for a peer that may have heard no answer: its timers still run by
    /// the first guess.
    pub(super) fn linger(&mut self, now: Instant, rtt: &RttEstimator, polled_again: bool, config: &Config) {
        let guess_ns = RttEstimator::new(config.initial_rtt_ns).overdue_ns(0);
        let floor_ns = config.end_timer_ns.max(if polled_again { 0 } else { guess_ns });
        let first_ns = 3 * rtt.overdue_ns(floor_ns);
        let before_ns = if let Self::Linger { span_ns, .. } = self { *span_ns } else { 0 };
        let span_ns = first_ns.max((2 * before_ns).min(3 * config.max_timer_ns));
        *self = Self::Linger { until: now.after(span_ns), span_ns };
    }

    /// Ends it. Result: false if it was over already.
    pub(super) fn close(&mut self, reason: Option<CloseReason>) -> bool {
        let is_news = !self.is_closed();
        if is_news {
            *self = Self::Closed { reason, reset: None };
        }
        is_news
    }

    /// Ends it with a reset for the peer. Result: false if it was over already.
    pub(super) fn abort(&mut self, with: ResetReason, reason: CloseReason) -> bool {
        let is_news = !self.is_closed();
        if is_news {
            *self = Self::Closed { reason: Some(reason), reset: Some(with) };
        }
        is_news
    }

    /// Reset that is still to be sent.
    pub(super) fn reset(&self) -> Option<ResetReason> {
        if let Self::Closed { reset, .. } = self { *reset } else { None }
    }

    /// The reset left.
    pub(super) fn reset_sent(&mut self) {
        if let Self::Closed { reset, .. } = self {
            *reset = None;
        }
    }

    /// When it ends by itself, and why: the end of lingering, the end of patience. `patience_at`: when
    /// silence is too long.
    pub(super) fn expiry(
        &self,
        patience_at: Option<Instant>,
        max_tries: u32,
    ) -> Option<(Instant, Option<CloseReason>)> {
        let tired_of_end =
            || self.end().filter(|end| !end.acknowledged).and_then(|end| end.timer.tired_at(max_tries));
        match self {
            Self::Linger { until, .. } => Some((*until, None)),
            Self::Closed { .. } | Self::Opening { held: true, .. } => None,
            Self::Opening { begin, .. } => {
                let tired_of_begin = begin.tired_at(max_tries);
                let at = patience_at.into_iter().chain(tired_of_begin).chain(tired_of_end()).min();
                at.map(|at| (at, Some(CloseReason::ConnectTimeout)))
            }
            Self::Open { .. } | Self::Ending { .. } => {
                let at = patience_at.into_iter().chain(tired_of_end()).min();
                at.map(|at| (at, Some(CloseReason::Silence)))
            }
        }
    }

    /// When the opening began, if it is not answered yet.
    pub(super) fn opening_since(&self) -> Option<Instant> {
        if let Self::Opening { since, .. } = self { Some(*since) } else { None }
    }

    /// Invariants, checked in debug builds: what is confirmed is not said again.
    pub(super) fn check_invariants(&self) {
        debug_assert!(self.end().is_none_or(|end| end.acknowledged == end.timer.due().is_none()));
        debug_assert!(!self.is_held() || !self.has_ended());
    }

    /// State that this amounts to, with what is known of data: ours was sent, the peer's has ended.
    pub(super) fn state(&self, has_sent: bool, peer_ended: bool) -> State {
        match self {
            Self::Opening { end: Some(_), .. } => State::BgnDataEndSent,
            Self::Opening { .. } if has_sent => State::BgnDataSent,
            Self::Opening { .. } => State::BgnSent,
            Self::Open { .. } if peer_ended => State::HalfClosedRemote,
            Self::Open { .. } => State::Established,
            Self::Ending { .. } if peer_ended => State::Closing,
            Self::Ending { end, .. } if end.acknowledged => State::HalfClosedLocal,
            Self::Ending { .. } => State::EndSent,
            Self::Linger { .. } => State::Linger,
            Self::Closed { .. } => State::Closed,
        }
    }
}
