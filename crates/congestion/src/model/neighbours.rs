//! Others on the path: who fills its queue, who has the rest of a short one, and what is claimed beside them.

use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Others, PathSample};

use super::competition::{CompetitionDetector, CubicClaim, QueueCause};
use super::jumps::Jumps;
use super::sharing::{Evidence, Sharing};

/// What a report says of our part of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) evidence: Evidence,
    /// True if no train shows that the path carries much more than the estimate.
    pub(super) is_all_ours: bool,
    /// True while nothing is lost and nothing waits for so long that nobody else can be there.
    pub(super) is_loose: bool,
    /// Time for which what the evidence says has to hold.
    pub(super) patience_ns: u64,
}

/// Delivery that a claim goes by, as a report tells it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    /// Rate in bit/s at which packets arrive, what noise takes included.
    pub(super) delivered_bps: f64,
    /// Rate in bit/s that a train showed, if the report ended one.
    pub(super) carried_bps: Option<f64>,
    /// Part of what is sent that noise takes.
    pub(super) noise_part: f64,
    /// True if the report met no queue.
    pub(super) is_calm: bool,
}

/// Knowledge of others, and the claim beside them.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    detector: CompetitionDetector,
    claim: Option<CubicClaim>,
    jumps: Jumps,
    sharing: Sharing,
}

impl Neighbours {
    /// Claim beside others who fill the queue, while there is one.
    pub(super) fn claim(&self) -> Option<&CubicClaim> {
        self.claim.as_ref()
    }

    /// Jumps to what trains show of late.
    pub(super) fn jumps(&self) -> &Jumps {
        &self.jumps
    }

    /// True while others have a part of the path, or have left one that is not ours yet.
    pub(super) fn are_sharing(&self) -> bool {
        self.sharing.is_shared()
    }

    /// True while others have much of what trains show, and what is lost is lost to them.
    pub(super) fn have_taken(&self) -> bool {
        self.sharing.is_taken()
    }

    /// Rate in bit/s that arrives, on average over some packets; `None`: nothing has.
    pub(super) fn left_bps(&self) -> Option<f64> {
        self.sharing.arrived_bps()
    }

    /// Takes in how long a packet waited that arrived at this time of the receiver's clock, and tells why the
    /// queue stays.
    pub(super) fn waited(
        &mut self,
        arrived_ns: u64,
        wait_ns: u64,
        target_ns: u64,
        rtt_min_ns: u64,
    ) -> QueueCause {
        self.detector.saw(arrived_ns, wait_ns, target_ns, rtt_min_ns)
    }

    /// Takes in that what waited of late stood in no queue.
    pub(super) fn became_longer(&mut self) {
        self.detector = CompetitionDetector::default();
    }

    /// Begins to claim a share, with the window that `bps` fills.
    pub(super) fn begin_claim(&mut self, now: Instant, sample: &PathSample, bps: f64, mss_bytes: u64) {
        self.claim = Some(CubicClaim::new(now, sample, bps, mss_bytes));
    }

    /// Rate in bit/s that is claimed; `None`: nobody is there any more.
    pub(super) fn claim_bps(
        &mut self,
        now: Instant,
        sample: &PathSample,
        delivered: Delivered,
        rtt_min_ns: u64,
    ) -> Option<f64> {
        let claim = self.claim.as_mut()?;
        let are_there =
            claim.is_opposed(now, delivered.is_calm, rtt_min_ns) && claim.on_sample(now, sample, &delivered);
        let bps = claim.rate_bps();
        if !are_there {
            self.claim = None;
        }
        are_there.then_some(bps)
    }

    /// Takes in the estimate of a report: whether the last jump lasts.
    pub(super) fn held(&mut self, now: Instant, estimate_bps: f64, rtt_min_ns: u64) {
        self.jumps.saw(now, estimate_bps, rtt_min_ns);
    }

    /// Takes in a jump to this estimate.
    pub(super) fn jumped(&mut self, now: Instant, estimate_bps: f64) {
        self.jumps.went(now, estimate_bps);
    }

    /// Takes in the rate at which so many packets arrived between two marks.
    pub(super) fn left(&mut self, bps: f64, packets: u64) {
        self.sharing.arrived(bps, packets);
    }

    /// Takes in whether others have a part of the path: they fill its queue, or, if it is a short one, what
    /// we lose is theirs although trains show it.
    pub(super) fn saw(&mut self, now: Instant, part: Part) {
        self.sharing.saw(now, part.evidence, part.patience_ns);
        let are_filling = self.claim.is_some() || self.detector.is_crowded();
        if part.is_all_ours && !are_filling && part.is_loose {
            self.jumps.forgive();
        }
        let are_there = are_filling || self.jumps.have_failed();
        self.sharing.conclude(are_there, part.is_all_ours, part.is_loose);
    }

    /// Forgets what was seen but that a claim goes on: it may be another path now.
    pub(super) fn forget(&mut self) {
        self.detector = CompetitionDetector::default();
        self.jumps = Jumps::default();
        self.sharing.forget(self.claim.is_some());
    }

    /// Phase beside others; `None`: nobody is there.
    pub(super) fn phase(&self) -> Option<Phase> {
        match &self.claim {
            Some(_) => Some(Phase::Competing),
            None if self.sharing.is_shared() => Some(Phase::Sharing),
            None => None,
        }
    }

    /// What is known of others, in this phase: they are there if the last train has shown that they have a
    /// part. A queue that does not go away may be our own, of a path that carries less than it did. Who has
    /// had a part is not there while no queue stands and trains show that all is ours.
    pub(super) fn others(&self, is_all_ours: bool) -> Others {
        let is_filled = self.detector.is_filled();
        match self.phase() {
            Some(_) if self.sharing.is_in_doubt() => Others::Present,
            Some(Phase::Competing) => Others::Suspected,
            Some(Phase::Sharing) if !is_all_ours => Others::Suspected,
            _ if is_filled || self.sharing.is_in_doubt() => Others::Suspected,
            _ => Others::Absent,
        }
    }
}
