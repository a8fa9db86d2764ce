//! How connections end: by END and ENDAK each way, by RST, or by silence.

use core::fmt;

use super::{Connection, Context, StreamEvent};
use crate::receive::Assembly;
use crate::segment::ResetReason;

/// Why a connection ended other than by both sides finishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer reset it.
    Reset(ResetReason),
    /// This side aborted.
    AbortedHere,
    /// The opening was not answered.
    ConnectTimeout,
    /// The peer gave no sign of life.
    Silence,
    /// The carrier says that nobody receives at the peer's address.
    Unreachable,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reset(ResetReason::Refused) => "the peer refused the connection: nothing listens there",
            Self::Reset(ResetReason::UnknownConnection) => {
                "the peer no longer knows the connection (it restarted or gave up)"
            }
            Self::Reset(ResetReason::Aborted) => "the peer aborted the connection",
            Self::Reset(ResetReason::Protocol) => "the peer saw an impossible segment",
            Self::Reset(ResetReason::Busy) => "the peer has no room for another connection",
            Self::Reset(ResetReason::Other(code)) => {
                return write!(f, "the peer reset the connection (code {code})");
            }
            Self::AbortedHere => "the connection was aborted here",
            Self::ConnectTimeout => "the peer did not answer",
            Self::Silence => "the peer gave no sign of life for too long",
            Self::Unreachable => "nothing receives at the peer's address",
        })
    }
}

impl core::error::Error for CloseReason {}

impl Connection {
    /// Ends the connection here and now.
    pub(super) fn close(&mut self, reason: Option<CloseReason>) {
        if self.is_closed {
            return;
        }
        self.is_closed = true;
        self.close_reason = reason;
        self.tell(StreamEvent::Closed(reason));
    }

    /// The carrier reports that nobody receives at the peer's address.
    pub(crate) fn unreachable(&mut self) {
        self.close(Some(CloseReason::Unreachable));
    }

    /// Whether nothing is under way in our direction and END is confirmed.
    fn our_half_is_done(&self) -> bool {
        self.end_acknowledged && self.cache.is_empty()
    }

    /// Both halves done: stay for a while to answer repeats of a peer that missed our last words,
    /// then go.
    pub(super) fn check_ended(&mut self, context: &Context<'_>) {
        if self.our_half_is_done() && !self.finished_told {
            self.finished_told = true;
            self.tell(StreamEvent::Finished);
        }
        let theirs = self.assembly.as_ref().is_some_and(Assembly::is_complete);
        if self.linger_until.is_none() && theirs && self.our_half_is_done() {
            let wait_ns = 3 * self.rtt.overdue_ns(100 * skyhaul_core::MS);
            self.linger_until = Some(context.now.after(wait_ns));
        }
    }
}
