//! Paths remembered from earlier connections, and how carefully a new one begins with what they found out:
//! Careful Resume [RFC 9959]. `docs/spec/remembered-paths.md` has the rules and where they depart from the
//! RFC.

mod remembered_start;
mod resume;
#[cfg(test)]
mod resume_tests;

use core::fmt;

use skyhaul_core::{MS, PathEstimate, SECOND};

pub use remembered_start::RememberedStart;
pub use resume::{Carried, Contradiction, Resume, ResumeReport, verdict};

/// Age above which a path is not used at all. The lifetime of [RFC 9959 2.4] is a matter of configuration,
/// "minutes to hours": a terminal and its orbit stay for days, the weather and who shares the link do not.
pub const LIFETIME_NS: u64 = 24 * 3600 * SECOND;

/// Age below which a path is used from the first packet on, before a round trip is known; an older one waits
/// for that (departure from [RFC 9959 3.2], argued in the specification).
pub const FIRST_FLIGHT_AGE_NS: u64 = 3600 * SECOND;

/// Rates, in bit/s, that somebody can have measured: from a modem of the last century to a fibre.
const RATES_BPS: core::ops::RangeInclusive<u64> = 100..=1_000_000_000_000;

/// Round trips that somebody can have measured: from a loopback interface to somewhat beyond the moon.
const ROUND_TRIPS_NS: core::ops::RangeInclusive<u64> = 1000..=60 * SECOND;

/// Round trips for which a rate must have lasted to be worth remembering: one is what a queue can hold.
const WORTH_ROUND_TRIPS: u64 = 2;

/// Time for which it must have lasted, too: on short paths, round trips are soon over.
const WORTH_NS: u64 = 200 * MS;

/// Path to the same peer as an earlier connection found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedPath {
    /// Rate that the path delivered, in bit/s of IP bytes.
    pub rate_bps: u64,
    /// Smallest round trip, in ns.
    pub rtt_min_ns: u64,
    /// Age of that, in ns. Engines have no calendar: whoever kept it says so.
    pub age_ns: u64,
}

/// Reason why a remembered path is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Older than [`LIFETIME_NS`].
    TooOld,
    /// Kept at a time that is yet to come: a clock was set.
    FromTheFuture,
    /// Rate or round trip that nobody can have measured.
    Absurd,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooOld => write!(f, "it is older than {} h", LIFETIME_NS / (3600 * SECOND)),
            Self::FromTheFuture => write!(f, "it is from the future"),
            Self::Absurd => write!(f, "no path has such a rate and round trip"),
        }
    }
}

impl SavedPath {
    /// Check that it may be used.
    ///
    /// # Errors
    /// Reason why it may not.
    pub fn check(&self) -> Result<(), Unfit> {
        if !RATES_BPS.contains(&self.rate_bps) || !ROUND_TRIPS_NS.contains(&self.rtt_min_ns) {
            return Err(Unfit::Absurd);
        }
        if self.age_ns > LIFETIME_NS { Err(Unfit::TooOld) } else { Ok(()) }
    }

    /// Bytes under way at that rate: `saved_cwnd` of [RFC 9959 3.1].
    pub fn bdp_bytes(&self) -> u64 {
        bytes_in(self.rate_bps, self.rtt_min_ns)
    }
}

/// True if an estimate is worth remembering: its rate lasted, and somebody can have measured it.
pub fn is_worth_saving(estimate: &PathEstimate) -> bool {
    let PathEstimate { rate_bps, rtt_min_ns, confirmed_bytes } = *estimate;
    let lasted_ns = (WORTH_ROUND_TRIPS * rtt_min_ns.min(*ROUND_TRIPS_NS.end())).max(WORTH_NS);
    SavedPath { rate_bps, rtt_min_ns, age_ns: 0 }.check().is_ok()
        && confirmed_bytes >= bytes_in(rate_bps, lasted_ns)
}

/// Bytes that a rate carries in `ns`.
fn bytes_in(rate_bps: u64, ns: u64) -> u64 {
    let bytes = u128::from(rate_bps) * u128::from(ns) / (8 * u128::from(SECOND));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
