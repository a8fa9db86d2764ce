//! Next step of a connection.

use crate::Instant;

/// Next thing that a connection does without further input: `deadline` is its `at`, `poll_transmit` executes
/// its action. One decision says both, so that they cannot disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<A> {
    /// Moment at which it is due; not after now: at once.
    pub at: Instant,
    /// Action of the protocol.
    pub action: A,
}
