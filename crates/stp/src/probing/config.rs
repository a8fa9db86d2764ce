//! Parameters of probing, and what follows from them for round trips and gap lists.

use skyhaul_core::{RttEstimator, Verdict};

use super::Evidence;

/// Parameters of probing [XSTP 4.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbingConfig {
    /// Exchanges tracked at most.
    pub max_probes: usize,
    /// Consecutive answered exchanges that end a cycle under window control.
    pub req_probes: usize,
    /// Consecutive answered exchanges that end a cycle with a declared rate, where nothing but "it is back"
    /// is to be found out.
    pub req_probes_declared: usize,
    /// Meaning of `loss.RTT`.
    pub baseline: Baseline,
    /// A round trip counts as longer than `loss.RTT` only beyond this many percent of it.
    pub rtt_tolerance_percent: u64,
    /// That tolerance after an outage: the satellite may be another one, and our queues have drained.
    pub outage_tolerance_percent: u64,
    /// Nor does one that is longer by no more than this: timers and machines are not exact.
    pub rtt_slack_ns: u64,
    /// A row of losses after a round trip that was longer than before is no outage: a queue
    /// overflowed, and may have drained before the first probe comes by.
    pub counts_alarm_rtt: bool,
    /// With a declared rate, a gap alone starts no cycle: only silence does.
    pub gap_starts_declared: bool,
    /// Probes are this many a round trip.
    pub probes_per_rtt: u64,
    /// Probes are at least this far apart.
    pub min_interval_ns: u64,
    /// As a cycle lasts, probes are at least this part of its age apart. `None`: no back-off.
    pub age_divisor: Option<u64>,
    /// But back-off moves them no further apart than this.
    pub max_interval_ns: u64,
    /// A link verdict means an outage when so many probes in a row stayed without an answer, or
    /// so many packets that left in a row vanished, and corruption otherwise.
    pub silent_probes: u32,
    /// Packets that left in a row, over an eighth of the round-trip time at least, see above.
    /// `None`: they say nothing.
    pub silent_packets: Option<u64>,
    /// Under window control, a link that seems to lose so many percent or more is congested: a full
    /// queue may be too short to show in round trips. `None`: only round trips count.
    pub congested_percent: Option<u64>,
    /// With a declared rate, losses that start no cycle are judged by the round trips of the POLLs
    /// around them.
    pub judges_in_passing: bool,
    /// POLL intervals that an answer may be late before the interleave counts as broken.
    pub late_intervals: u64,
    /// But it may be late by so many deviations of the round-trip time at least. While the window is
    /// small, POLLs have no interval: then it is four of them.
    pub late_deviations: u64,
    /// Probes that were answered by the answer to a later one, because a queue held them all, are no
    /// silence, and their round trips count.
    pub queue_holds_probes: bool,
    /// Probes move apart if the round trip has become so long that the map cannot hold them until
    /// their answers come, or if many are answered and no neighbours. Without it such a cycle does not end.
    pub spaces_probes: bool,
    /// With a declared rate, probes take at most this many percent of it.
    pub declared_percent: u64,
}

impl ProbingConfig {
    /// Parameters of the paper: one POLL per round trip, no back-off, two exchanges. And one rule that the
    /// paper lacks, without which a cycle need not end.
    pub const fn paper() -> Self {
        Self {
            max_probes: 4,
            req_probes: 2,
            req_probes_declared: 2,
            baseline: Baseline::Smoothed,
            rtt_tolerance_percent: 0,
            outage_tolerance_percent: 0,
            rtt_slack_ns: 0,
            counts_alarm_rtt: false,
            gap_starts_declared: true,
            probes_per_rtt: 1,
            min_interval_ns: 0,
            age_divisor: None,
            max_interval_ns: 2 * skyhaul_core::SECOND,
            silent_probes: 1,
            silent_packets: None,
            congested_percent: None,
            judges_in_passing: false,
            late_intervals: 1,
            late_deviations: 0,
            queue_holds_probes: false,
            spaces_probes: true, // not in the paper, `docs/deviations.md` says why
            declared_percent: 100,
        }
    }

    /// Parameters that a user today should have (`docs/spec/stp.md`, section 13.3).
    pub const fn standard() -> Self {
        Self {
            max_probes: 32, // several round trips of four probes
            req_probes: 2,
            req_probes_declared: 1,
            baseline: Baseline::Smallest,
            rtt_tolerance_percent: 25,
            outage_tolerance_percent: 60,
            rtt_slack_ns: 20 * skyhaul_core::MS,
            counts_alarm_rtt: true,
            gap_starts_declared: false,
            probes_per_rtt: 4,
            min_interval_ns: 40 * skyhaul_core::MS,
            age_divisor: Some(256),
            max_interval_ns: 2 * skyhaul_core::SECOND,
            silent_probes: 2,
            silent_packets: Some(8),
            congested_percent: Some(20),
            judges_in_passing: true,
            late_intervals: 2,
            late_deviations: 4,
            queue_holds_probes: true,
            spaces_probes: true,
            declared_percent: 5,
        }
    }

    /// True if a round trip of a cycle without an outage is longer than loss.RTT, after the tolerance: then
    /// the verdict is congestion. If one that is not is called congestion all the same, it was for the share
    /// of packets that are missing.
    pub fn is_longer(&self, rtt_ns: u64, loss_rtt_ns: u64) -> bool {
        !self.is_short(rtt_ns, loss_rtt_ns, self.rtt_tolerance_percent)
    }

    /// True if a round trip is no longer than `base_ns`, after a tolerance.
    pub(crate) fn is_short(&self, rtt_ns: u64, base_ns: u64, tolerance_percent: u64) -> bool {
        let allowed = u128::from(base_ns) * u128::from(100 + tolerance_percent);
        u128::from(rtt_ns) * 100 <= allowed || rtt_ns <= base_ns.saturating_add(self.rtt_slack_ns)
    }

    /// True if packets in a row cannot have vanished one by one, nor as the end of a burst that found a queue
    /// full.
    pub(crate) fn is_silence(&self, evidence: &Evidence, rtt_ns: u64) -> bool {
        let row = &evidence.row;
        let is_long = row.duration_ns >= (rtt_ns / SILENT_PART).max(MIN_SILENCE_NS);
        // A full queue loses many rows, an outage one.
        let is_the_one = row.packets * 4 >= evidence.missing_packets * 3;
        self.silent_packets.is_some_and(|packets| is_long && is_the_one && row.packets >= packets)
    }

    /// True if more is missing than a link would lose.
    pub(super) fn is_overload(&self, evidence: &Evidence) -> bool {
        let of_hundred = |percent| evidence.missing_packets * 100 >= evidence.listed_packets * percent;
        evidence.missing_packets >= OVERLOAD_PACKETS && self.congested_percent.is_some_and(of_hundred)
    }

    /// The tolerance for round trips, and what they mean if they are short.
    pub(crate) fn link_verdict(&self, was_silent: bool) -> (u64, Verdict) {
        if was_silent {
            (self.outage_tolerance_percent, Verdict::Outage)
        } else {
            (self.rtt_tolerance_percent, Verdict::Corruption)
        }
    }

    /// `loss.RTT` of a cycle that starts now.
    pub(crate) fn loss_rtt_ns(&self, rtt: &RttEstimator) -> u64 {
        match self.baseline {
            Baseline::Smoothed => rtt.smoothed_ns(),
            Baseline::Smallest => rtt.min_ns(),
        }
    }
}

/// Round trip that others are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The estimate at the loss [XSTP 4.2].
    Smoothed,
    /// The shortest round trip of this path: an estimate taken while a queue filled up hides it.
    Smallest,
}

/// A row of lost packets takes at least this part of a round trip to mean an outage: a burst into a
/// short queue is lost in a moment.
const SILENT_PART: u64 = 8;
/// And at least this, however short the round trip: no link that is gone is back so soon, and a machine that
/// was late lets go for so long at once.
const MIN_SILENCE_NS: u64 = 10 * skyhaul_core::MS;
/// Fewer missing packets are too few for a percentage.
const OVERLOAD_PACKETS: u64 = 8;
