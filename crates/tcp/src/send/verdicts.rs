//! Causes that losses are taken for.

use skyhaul_core::event::Verdict;

use crate::loss::{LossEvidence, LossJudge};

/// True if the network is to be spared: nobody knows of another cause.
pub(super) fn is_congestion(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Congestion | Verdict::Unknown)
}

/// Verdicts on losses, and what the carrier says of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdicts {
    /// Cause of the last loss.
    last: Verdict,
    /// Cause that the carrier named; `None`: it has said nothing.
    named: Option<Verdict>,
    /// Cause where nobody says anything.
    by_default: Verdict,
    /// The peer says that routers damage what it gets [SCPS-TP 3.1.2].
    is_damage_told: bool,
    /// That is no matter here: the route does not obey it.
    ignores_damage: bool,
    /// The link was judged to be gone: one segment at a time, until something is acknowledged.
    in_outage: bool,
}

impl Verdicts {
    pub(super) const NONE: Self = Self {
        last: Verdict::Congestion,
        named: None,
        by_default: Verdict::Congestion,
        is_damage_told: false,
        ignores_damage: false,
        in_outage: false,
    };

    pub(super) fn last(self) -> Verdict {
        self.last
    }

    /// Cause where no judge says otherwise: the peer's word goes before the carrier's, that before the
    /// default [SCPS-TP 3.1.1].
    pub(super) fn assumed(self) -> Verdict {
        if self.is_damage_told { Verdict::Corruption } else { self.named.unwrap_or(self.by_default) }
    }

    pub(super) fn in_outage(self) -> bool {
        self.in_outage
    }

    /// Takes what the carrier says of losses from now on.
    pub(super) fn assume(&mut self, cause: Verdict) {
        self.named = Some(cause);
    }

    /// Takes the cause of losses on this way, as far as nobody says anything.
    pub(super) fn assume_by_default(&mut self, cause: Verdict) {
        self.by_default = cause;
    }

    /// Takes what an acknowledgement of a peer that speaks SCPS-TP says of damage.
    pub(super) fn take_damage(&mut self, is_told: bool) {
        self.is_damage_told = is_told && !self.ignores_damage;
    }

    /// Ignores what the peer says of damage from now on.
    pub(super) fn ignore_damage(&mut self) {
        (self.ignores_damage, self.is_damage_told) = (true, false);
    }

    /// Judges a loss that shows now.
    pub(super) fn judge(&mut self, judge: Option<&dyn LossJudge>, evidence: &LossEvidence) -> Verdict {
        self.last = judge.map_or(self.assumed(), |judge| judge.judge(evidence));
        self.last
    }

    /// Routers say that a link is down: what goes again for it has no other cause.
    pub(super) fn on_link_outage(&mut self) -> Verdict {
        self.last = Verdict::Outage;
        self.last
    }

    /// What is lost was too large, if anything: what goes again for it has no other cause.
    pub(super) fn on_lost_probe(&mut self) -> Verdict {
        self.last = Verdict::Unknown;
        self.last
    }

    /// A timeout was judged: the link is there or not.
    pub(super) fn on_timeout(&mut self) {
        self.in_outage = self.last == Verdict::Outage;
    }

    /// Something new was acknowledged: the link is there.
    pub(super) fn on_answer(&mut self) {
        self.in_outage = false;
    }
}
