//! Life of a connection: opening, open, lingering, closed, each with what belongs to it alone.

use skyhaul_core::{CloseReason, Instant, ResetReason};

/// State of a connection, as `docs/spec/petra.md` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The peer has not accepted yet.
    Opening,
    /// In use.
    Open,
    /// Both directions have ended; late repeats of the peer are answered.
    Lingering,
    /// Over.
    Closed,
}

impl State {
    /// Name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Opening => "OPENING",
            Self::Open => "OPEN",
            Self::Lingering => "LINGERING",
            Self::Closed => "CLOSED",
        }
    }
}

/// Life of a connection. It goes down this list, and may skip steps.
#[derive(Clone, Debug)]
pub(super) enum Life {
    /// Ours to open, and not answered yet.
    Opening {
        /// OPENs sent.
        tries: u32,
        /// When the next one is due.
        due: Instant,
    },
    /// Both ends know of it.
    Open {
        /// True if the peer's OPEN is to be answered, once more if it came again.
        owes_answer: bool,
    },
    /// Both directions have ended; late repeats of the peer are answered until then.
    Lingering {
        /// When it ends.
        until: Instant,
    },
    /// Over.
    Closed {
        /// `None` after a clean end.
        reason: Option<CloseReason>,
        /// Reset that is to be sent.
        reset: Option<ResetReason>,
    },
}

impl Life {
    pub(super) fn state(&self) -> State {
        match self {
            Self::Opening { .. } => State::Opening,
            Self::Open { .. } => State::Open,
            Self::Lingering { .. } => State::Lingering,
            Self::Closed { .. } => State::Closed,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// True if the application can do no more: it was told that the connection is closed.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Lingering { .. } | Self::Closed { .. })
    }

    /// Why it is over.
    pub(super) fn reason(&self) -> Option<CloseReason> {
        if let Self::Closed { reason, .. } = self { *reason } else { None }
    }

    pub(super) fn owed_reset(&self) -> Option<ResetReason> {
        if let Self::Closed { reset, .. } = self { *reset } else { None }
    }

    /// Takes in that an OPEN leaves, to be repeated at `due`.
    pub(super) fn on_open_sent(&mut self, again: Instant) {
        if let Self::Opening { tries, due } = self {
            *tries += 1;
            *due = again;
        }
    }

    /// Takes in that the peer has accepted.
    pub(super) fn on_accepted(&mut self) {
        *self = Self::Open { owes_answer: false };
    }

    /// Takes in that the peer's OPEN came again.
    pub(super) fn on_opened_again(&mut self) {
        if let Self::Open { owes_answer } = self {
            *owes_answer = true;
        }
    }

    /// Takes in that the answer to the peer's OPEN leaves.
    pub(super) fn on_answered(&mut self) {
        if let Self::Open { owes_answer } = self {
            *owes_answer = false;
        }
    }

    pub(super) fn linger(&mut self, until: Instant) {
        *self = Self::Lingering { until };
    }

    pub(super) fn close(&mut self, reason: Option<CloseReason>, reset: Option<ResetReason>) {
        *self = Self::Closed { reason, reset };
    }

    /// Takes in that the reset leaves.
    pub(super) fn on_reset_sent(&mut self) {
        if let Self::Closed { reset, .. } = self {
            *reset = None;
        }
    }
}
