//! Questions to a peer that has long been silent [RFC 9293 3.8.4].

use skyhaul_core::Instant;

use super::{Connection, Context, State};
use crate::config::Keepalive;

/// Since when nothing was heard, and what was asked since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// The last acceptable segment, or the last question.
    since: Instant,
    questions: u32,
    is_due: bool,
}

impl Silence {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, questions: 0, is_due: false }
    }
}

impl Connection {
    /// An acceptable segment arrived.
    pub(super) fn heard(&mut self, now: Instant) {
        self.silence = Silence::new(now);
    }

    /// When the peer is asked next, or given up. While something is under way, its own timers watch.
    pub(super) fn keepalive_at(&self) -> Option<Instant> {
        let Keepalive { idle_ns, interval_ns, .. } = self.config.keepalive?;
        let is_open = matches!(self.state, State::Established | State::CloseWait | State::FinWait2);
        let is_quiet = self.sending.una == self.sending.max && self.sending.end() == self.sending.max;
        let wait_ns = if self.silence.questions == 0 { idle_ns } else { interval_ns };
        (is_open && is_quiet).then(|| self.silence.since.after(wait_ns.max(1)))
    }

    /// Asks, or gives up.
    pub(super) fn on_keepalive(&mut self, context: &Context<'_>) {
        let most = self.config.keepalive.map_or(0, |keepalive| keepalive.max_questions);
        if self.silence.questions >= most {
            return self.close(Some(self.silence_reason()));
        }
        self.silence = Silence { since: context.now, questions: self.silence.questions + 1, is_due: true };
    }

    /// Whether a question is to be sent; it is an acknowledgement with a number that was acknowledged, which
    /// every peer answers.
    pub(super) fn take_question(&mut self) -> bool {
        core::mem::take(&mut self.silence.is_due)
    }
}
