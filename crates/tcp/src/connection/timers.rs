//! Deadlines and what happens at them.

use skyhaul_core::event::{Repeat, Verdict};
use skyhaul_core::{CloseReason, Event, Instant, SECOND};

use super::loss::is_congestion;
use super::{Connection, Context, State};
use crate::ack_policy::Urgency;
use crate::loss::LossSign;

/// Whether an acknowledgement is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckDue {
    No,
    /// At this moment, unless something takes it along before.
    At(Instant),
    Now,
}

impl AckDue {
    pub(super) fn is_due(self, now: Instant) -> bool {
        match self {
            Self::No => false,
            Self::At(at) => at <= now,
            Self::Now => true,
        }
    }
}

/// The persist timer: probes of a closed window.
#[derive(Clone, Debug, Default)]
pub(super) struct Persist {
    due: Option<Instant>,
    tries: u32,
    /// Probes since the peer was heard.
    unanswered: u32,
}

impl Persist {
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Starts, unless it runs; true if it did.
    fn arm(&mut self, due: Instant) -> bool {
        let starts = self.due.is_none();
        self.due.get_or_insert(due);
        starts
    }

    /// True if it ran.
    pub(super) fn stop(&mut self) -> bool {
        self.tries = 0;
        self.due.take().is_some()
    }

    pub(super) fn heard(&mut self) {
        self.unanswered = 0;
    }

    /// A probe was sent: twice as long to the next.
    pub(super) fn tried(&mut self, now: Instant, first_ns: u64, max_ns: u64) {
        self.tries = (self.tries + 1).min(20);
        self.unanswered += 1;
        self.due = Some(now.after(first_ns.saturating_mul(1 << self.tries).min(max_ns)));
    }
}

/// Challenge acknowledgements of the running second [RFC 5961 7]; each connection counts its own, so that
/// nobody learns from one about another.
#[derive(Clone, Debug, Default)]
pub(super) struct Challenges {
    since: Option<Instant>,
    count: u32,
}

impl Connection {
    /// An acknowledgement for a segment that may be forged, if not too many were sent.
    pub(super) fn challenge(&mut self, context: &Context<'_>) {
        let challenges = &mut self.challenges;
        if challenges.since.is_none_or(|since| context.now.since(since) >= SECOND) {
            *challenges = Challenges { since: Some(context.now), count: 0 };
        }
        if challenges.count < self.config.max_challenges_per_s {
            challenges.count += 1;
            self.stats.challenges += 1;
            self.ack_due = AckDue::Now;
        }
    }

    /// A segment with data or FIN arrived.
    pub(super) fn owe_acknowledgement(&mut self, urgency: Urgency, now: Instant) {
        self.unacked_packets += 1;
        self.ack_due = match (self.config.ack_policy.due(self.unacked_packets, urgency, now), self.ack_due) {
            (None, _) => AckDue::Now,
            (Some(due), AckDue::No) => AckDue::At(due),
            (Some(_), owed) => owed,
        };
    }

    /// Starts the retransmission timer anew while something is under way [RFC 6298 5].
    pub(super) fn restart_retransmission(&mut self, now: Instant) {
        let is_needed = self.sending.nxt > self.sending.una;
        self.retransmit_at = is_needed.then(|| self.rto.due(now));
    }

    /// Nothing more can be sent now: if no acknowledgement will change that, the persist timer runs.
    pub(super) fn settle(&mut self, context: &mut Context<'_>) {
        if self.pace.held_until.is_some() {
            return;
        }
        let changed =
            if self.is_stuck() { self.persist.arm(self.rto.due(context.now)) } else { self.persist.stop() };
        if changed {
            self.emit(context, Event::Persist { on: self.is_stuck() });
        }
    }

    /// When something is to be done next without further input. Pure.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        let ack_at = match self.ack_due {
            AckDue::At(at) => Some(at),
            AckDue::No | AckDue::Now => None,
        };
        let paced_at = self.pace.held_until;
        [self.retransmit_at, self.persist.due, ack_at, self.quiet_until, paced_at, self.keepalive_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Does what is due other than sending: sending is decided by `poll_transmit`.
    pub(crate) fn handle_timeout(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.state != State::Closed && self.quiet_until.is_some_and(|until| until <= now) {
            let is_clean = self.state == State::TimeWait;
            self.close(if is_clean { None } else { Some(CloseReason::Silence) });
        } else if self.retransmit_at.is_some_and(|at| at <= now) && self.state != State::Closed {
            self.on_retransmission_timeout(context);
        } else if self.persist.is_due(now) && self.persist.unanswered > self.config.max_repeats {
            self.close(Some(self.silence_reason()));
        } else if self.keepalive_at().is_some_and(|at| at <= now) {
            self.on_keepalive(context);
        }
        self.tell_state(context);
    }

    /// [RFC 6298 5.4 to 5.7, RFC 6582 3.2 (4), RFC 6675 5.1, RFC 2018 8]
    fn on_retransmission_timeout(&mut self, context: &mut Context<'_>) {
        let is_opening = self.state.is_opening();
        let most = if is_opening { self.config.max_syn_repeats } else { self.config.max_repeats };
        if self.timeouts >= most {
            return self.close(Some(self.silence_reason()));
        }
        self.stats.timeouts += 1;
        let in_flight_bytes = self.sending.nxt - self.sending.una;
        let verdict = self.judge_loss(LossSign::Timeout, context);
        if !is_opening && is_congestion(verdict) {
            self.controller.on_timeout(context.now, in_flight_bytes, self.timeouts == 0);
            self.on_window_reduced();
            self.told_event = true;
        }
        if is_opening || is_congestion(verdict) {
            self.rto.back_off();
        }
        self.in_outage = verdict == Verdict::Outage;
        self.timeouts += 1;
        self.sending.board.clear();
        let doubt = self.doubt;
        self.go_back(Repeat::Timer);
        self.doubt = doubt;
        self.doubt_repeat(context.now);
        if !is_opening {
            self.suspect_black_hole(context);
        }
    }
}
