//! Silence of the peer: questions after a long one [RFC 9293 3.8.4], and why it may be silent.

use skyhaul_core::Instant;

use crate::config::Keepalive;

/// Time since something was heard, and what was asked since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// Last acceptable segment, or last question.
    since: Instant,
    questions: u32,
    /// A question waits to be sent.
    is_due: bool,
    /// A router said that the peer is out of reach, and nothing came since.
    is_unreachable: bool,
}

impl Silence {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, questions: 0, is_due: false, is_unreachable: false }
    }

    /// Moment of the last acceptable segment, or of the last question.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    pub(super) fn is_question_due(&self) -> bool {
        self.is_due
    }

    pub(super) fn is_unreachable(&self) -> bool {
        self.is_unreachable
    }

    /// Moment at which the peer is asked next, or given up.
    pub(super) fn ends_at(&self, keepalive: Keepalive) -> Instant {
        let wait_ns = if self.questions == 0 { keepalive.idle_ns } else { keepalive.interval_ns };
        self.since.after(wait_ns.max(1))
    }

    /// An acceptable segment arrived.
    pub(super) fn heard(&mut self, now: Instant) {
        *self = Self { is_unreachable: self.is_unreachable, ..Self::new(now) };
    }

    /// A router says that the peer is out of reach.
    pub(super) fn on_unreachable(&mut self) {
        self.is_unreachable = true;
    }

    /// Something new was acknowledged.
    pub(super) fn on_answer(&mut self) {
        self.is_unreachable = false;
    }

    /// It has lasted: a question is due. False if enough were asked.
    pub(super) fn ask(&mut self, keepalive: Keepalive, now: Instant) -> bool {
        let may_ask = self.questions < keepalive.max_questions;
        if may_ask {
            (self.since, self.questions, self.is_due) = (now, self.questions + 1, true);
        }
        may_ask
    }

    /// The question left.
    pub(super) fn asked(&mut self) {
        self.is_due = false;
    }
}
