//! Causes that losses are taken for: a place for those who know more of the path than TCP does.

use core::fmt::Debug;

use skyhaul_core::{Instant, Verdict};

/// Sign of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSign {
    /// Duplicate or selective acknowledgements: what was sent later arrived.
    Duplicates,
    /// The retransmission timer ran out: nothing is known to arrive.
    Timeout,
}

/// Knowledge of the engine when a loss shows.
#[derive(Clone, Copy, Debug)]
pub struct LossEvidence {
    /// Now.
    pub now: Instant,
    /// Sign that showed it.
    pub sign: LossSign,
    /// Cause that the carrier named last for losses on this way (`Endpoint::assume_loss_cause`).
    pub assumed: Verdict,
    /// Bytes under way, those lost included.
    pub in_flight_bytes: u64,
    /// Timeouts in a row before this one.
    pub timeouts: u32,
    /// Smoothed round trip; `None` before the first.
    pub rtt_smoothed_ns: Option<u64>,
    /// Smallest round trip; `None` before the first.
    pub rtt_min_ns: Option<u64>,
    /// Marks that the peer reported so far [RFC 3168].
    pub marks: u64,
}

/// Judges losses. What follows:
///
/// - `Congestion` and `Unknown`: the controller answers, the timer backs off [RFC 5681, RFC 6298].
/// - `Corruption`: what was lost goes again; window and timer stay as they are.
/// - `Outage`: the window stays; after a timeout one segment at a time asks whether the link is back.
pub trait LossJudge: Debug + Send + Sync {
    /// Verdict. Called once for each loss event and each timeout; must depend on nothing but the evidence,
    /// or runs are not repeatable.
    fn judge(&self, evidence: &LossEvidence) -> Verdict;
}
