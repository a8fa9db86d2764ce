//! What a loss is taken for, and what follows.

use skyhaul_core::Event;
use skyhaul_core::event::Verdict;

use super::{Connection, Context};
use crate::loss::{LossEvidence, LossSign};

/// Whether the network is to be spared: nobody knows of another cause.
pub(super) fn is_congestion(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Congestion | Verdict::Unknown)
}

impl Connection {
    /// What the carrier says of losses from now on.
    pub(crate) fn assume_loss_cause(&mut self, verdict: Verdict) {
        self.assumed_cause = verdict;
    }

    /// The verdict of a loss that shows now; what goes again first is at SND.UNA.
    pub(super) fn judge_loss(&mut self, sign: LossSign, context: &mut Context<'_>) -> Verdict {
        let rtt = self.rto.rtt();
        let evidence = LossEvidence {
            now: context.now,
            sign,
            assumed: self.assumed_cause,
            in_flight_bytes: self.sending.nxt - self.sending.una,
            timeouts: self.timeouts,
            rtt_smoothed_ns: rtt.is_known().then(|| rtt.smoothed_ns()),
            rtt_min_ns: rtt.is_known().then(|| rtt.min_ns()),
            marks: self.stats.ecn_reductions,
        };
        let judge = self.config.loss_judge.as_ref();
        let verdict = judge.map_or(self.assumed_cause, |judge| judge.judge(&evidence));
        self.verdict = verdict;
        if context.sink.wants() {
            let first = self.sending.una;
            let end = self.sending.nxt.min(first + self.mss_bytes);
            context.sink.emit(context.now, self.id, Event::Lost { first, end, verdict });
        }
        verdict
    }
}
