//! From the saved rate to a confirmed one, or back.

use skyhaul_core::event::ResumePhase;
use skyhaul_core::{Instant, MS, PathEstimate, SECOND};

use super::{FIRST_FLIGHT_AGE_NS, SavedPath, Unfit, bytes_in};

/// Divisor of the saved rate, and of the saved bytes under way, before anything is confirmed: one half, which
/// leaves room for flows that have come since [RFC 9959 3.3].
const JUMP_DIVISOR: u64 = 2;

/// Factor by which a shortest round trip is that of another path, if it is longer than the saved one by more
/// [RFC 9959 4.2.1].
const LONGEST_FACTOR: u64 = 10;

/// Difference of two round trips that says nothing of the path: a busy machine makes it, and a saved window
/// of so short a round trip does no harm.
const MACHINE_NS: u64 = 20 * MS;

/// Percent of what was sent that may be missing without being a contradiction: links of satellites damage
/// packets, and a tenth and more is usual on the noisiest that can be used.
const MISSING_PERCENT: u64 = 30;

/// Bytes to be sent before what is missing proves anything: of 44 packets on a link that loses a ninth, 30 %
/// are missing once in several thousand times.
const TELLING_BYTES: u64 = 64_000;

/// Contradiction of the saved path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// Round trip of another path.
    RoundTrip,
    /// Rate below half of the saved one.
    Rate,
    /// Loss of a large part of what was sent.
    Missing,
    /// Full queue, as the controller found.
    Congestion,
}

/// Bytes sent between two questions, and their arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// IP bytes sent.
    pub sent_bytes: u64,
    /// IP bytes that arrived.
    pub arrived_bytes: u64,
    /// Time in which they arrived, by the receiver's clock.
    pub arrived_ns: u64,
}

impl Carried {
    /// Rate at which they arrived, in bit/s; 0 where no time passed.
    fn rate_bps(&self) -> u64 {
        let bits = u128::from(self.arrived_bytes) * 8 * u128::from(SECOND);
        bits.checked_div(self.arrived_ns.into()).map_or(0, |bps| u64::try_from(bps).unwrap_or(u64::MAX))
    }

    fn has_large_gaps(&self) -> bool {
        let missing_bytes = self.sent_bytes.saturating_sub(self.arrived_bytes);
        let percent = u128::from(missing_bytes) * 100 / u128::from(self.sent_bytes.max(1));
        self.sent_bytes >= TELLING_BYTES && percent > u128::from(MISSING_PERCENT)
    }
}

/// Report of the peer.
#[derive(Clone, Copy, Debug)]
pub struct ResumeReport {
    /// Time at which the question left that it answers.
    pub sent_at: Instant,
    /// Round trip of that, in ns.
    pub rtt_ns: u64,
    /// Arrivals, if the report tells them.
    pub carried: Option<Carried>,
    /// Rate by the peer's clock, in bit/s of IP bytes, of packets that were sent faster than that (a train):
    /// what the path lets through. `None` if they were sent no faster, so that it may let through more.
    pub capacity_bps: Option<u64>,
    /// True if the controller takes this report for a full queue (delay that grows, loss with delay, a mark).
    pub congested: bool,
}

/// Saved path in use by the one controller of all connections of a path: the RFC lets a saved path be used
/// once at a time [RFC 9959 3.2], so a path that carries traffic already begins none.
///
/// Its user feeds it with reports ([`Self::on_report`]) and keeps to [`Self::rate_bps`] and
/// [`Self::window_bytes`] where they say something. All methods are total.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    saved: SavedPath,
    phase: ResumePhase,
    contradiction: Option<Contradiction>,
    /// Time at which this phase began: a question that left later was behind all that the phase before had
    /// sent.
    since: Option<Instant>,
    /// Shortest round trip of this connection, once one is known.
    rtt_min_ns: Option<u64>,
    capacity_bps: Option<u64>,
    delivered_bps: u64,
}

impl Resume {
    /// Start with a saved path.
    ///
    /// # Errors
    /// Unfit path, too old or absurd: begin as if there were none.
    pub fn new(saved: SavedPath) -> Result<Self, Unfit> {
        saved.check()?;
        let is_young = saved.age_ns <= FIRST_FLIGHT_AGE_NS;
        Ok(Self {
            saved,
            phase: if is_young { ResumePhase::Unvalidated } else { ResumePhase::Reconnaissance },
            contradiction: None,
            since: None,
            rtt_min_ns: None,
            capacity_bps: None,
            delivered_bps: 0,
        })
    }

    /// Phase.
    pub fn phase(&self) -> ResumePhase {
        self.phase
    }

    /// Saved path.
    pub fn saved(&self) -> SavedPath {
        self.saved
    }

    /// Contradiction, if there was one: the saved path is to be forgotten [RFC 9959 3.5], unless a new
    /// estimate takes its place.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction
    }

    /// Rate to send at, in bit/s of IP bytes; `None`: the controller decides as without memory. While nothing
    /// is confirmed half of the saved one, from the first packet on if it is young. Once a train has shown
    /// what the path lets through, that: it is what a start without memory goes by.
    pub fn rate_bps(&self) -> Option<u64> {
        match self.phase {
            ResumePhase::Unvalidated => Some(self.jump_bps()),
            ResumePhase::Validating => Some(self.capacity_bps.unwrap_or(self.jump_bps())),
            ResumePhase::SafeRetreat => Some(self.retreat_bps()),
            ResumePhase::Reconnaissance | ResumePhase::Confirmed | ResumePhase::Contradicted => None,
        }
    }

    /// Bytes that may be under way; `None`: no limit of this piece. Before the first report the RFC's
    /// `jump_cwnd`, half of what was under way at the saved rate [RFC 9959 3.3]: however the path has
    /// changed, it is sent no more. In retreat what the rate then carries in a round trip; a controller has a
    /// smallest window of its own besides.
    pub fn window_bytes(&self) -> Option<u64> {
        match self.phase {
            ResumePhase::Unvalidated => Some(self.saved.bdp_bytes() / JUMP_DIVISOR),
            ResumePhase::SafeRetreat => Some(bytes_in(self.retreat_bps(), self.round_trip_ns())),
            _ => None,
        }
    }

    /// Takes in a report of the peer; the new phase if it is another one.
    pub fn on_report(&mut self, now: Instant, report: &ResumeReport) -> Option<ResumePhase> {
        if self.phase.is_over() {
            return None;
        }
        self.rtt_min_ns = Some(self.rtt_min_ns.map_or(report.rtt_ns, |ns| ns.min(report.rtt_ns)));
        self.capacity_bps = report.capacity_bps.or(self.capacity_bps);
        self.delivered_bps = report.carried.map_or(self.delivered_bps, |carried| carried.rate_bps());
        let next = self.next_phase(report);
        if next == self.phase {
            return None;
        }
        (self.phase, self.since) = (next, Some(now));
        Some(next)
    }

    fn next_phase(&mut self, report: &ResumeReport) -> ResumePhase {
        if self.phase != ResumePhase::SafeRetreat
            && let Some(contradiction) = self.contradicts(report)
        {
            self.contradiction = Some(contradiction);
            // The usual start has sent nothing by memory: nothing to retreat from.
            let by_memory = self.phase != ResumePhase::Reconnaissance;
            return if by_memory { ResumePhase::SafeRetreat } else { ResumePhase::Contradicted };
        }
        let is_later = self.since.is_none_or(|since| report.sent_at > since);
        match self.phase {
            ResumePhase::Reconnaissance => ResumePhase::Unvalidated,
            ResumePhase::Unvalidated if is_later => ResumePhase::Validating,
            ResumePhase::Validating if is_later => ResumePhase::Confirmed,
            ResumePhase::SafeRetreat if is_later => ResumePhase::Contradicted,
            phase => phase,
        }
    }

    fn contradicts(&self, report: &ResumeReport) -> Option<Contradiction> {
        let (saved_ns, rtt_ns) = (self.saved.rtt_min_ns, self.round_trip_ns());
        let is_far = rtt_ns.abs_diff(saved_ns) > MACHINE_NS;
        let is_other = is_far && (rtt_ns <= saved_ns / 2 || rtt_ns > saved_ns.saturating_mul(LONGEST_FACTOR));
        if is_other {
            Some(Contradiction::RoundTrip)
        } else if report.congested {
            Some(Contradiction::Congestion)
        } else if report.carried.is_some_and(|carried| carried.has_large_gaps()) {
            Some(Contradiction::Missing)
        } else {
            report.capacity_bps.filter(|&rate_bps| rate_bps < self.jump_bps()).map(|_| Contradiction::Rate)
        }
    }

    /// Shortest round trip: of this connection, or else the saved one.
    pub(super) fn round_trip_ns(&self) -> u64 {
        self.rtt_min_ns.unwrap_or(self.saved.rtt_min_ns)
    }

    fn jump_bps(&self) -> u64 {
        self.saved.rate_bps / JUMP_DIVISOR
    }

    /// Rate of a retreat, half of what arrives or can: half of the RFC's pipe size a round trip [RFC 9959
    /// 3.5].
    fn retreat_bps(&self) -> u64 {
        let carried_bps = self.capacity_bps.unwrap_or(self.delivered_bps).min(self.saved.rate_bps);
        (carried_bps / 2).max(1)
    }
}

/// Fate of the stored path after a connection: `Some(Some(..))` replaces it by what was measured now,
/// `Some(None)` deletes it since it was contradicted, `None` leaves it alone.
pub fn verdict(phase: Option<ResumePhase>, estimate: Option<PathEstimate>) -> Option<Option<PathEstimate>> {
    match estimate.filter(super::is_worth_saving) {
        Some(estimate) => Some(Some(estimate)),
        None if matches!(phase, Some(ResumePhase::Contradicted | ResumePhase::SafeRetreat)) => Some(None),
        None => None,
    }
}
