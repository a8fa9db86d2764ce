//! Paths remembered from earlier connections, and how carefully a new one begins with what they found out: Careful
//! Resume [RFC 9959]. `docs/spec/remembered-paths.md` has the rules and where they depart from the RFC.

mod remembering;
mod resume;
#[cfg(test)]
mod resume_tests;

use core::fmt;

use skyhaul_core::{MS, PathEstimate, SECOND};

pub use remembering::Remembering;
pub use resume::{Carried, Contradiction, Resume, ResumeReport, verdict};

/// What is older is not used at all. The lifetime of [RFC 9959 2.4] is a matter of configuration, "minutes to
/// hours": a terminal and its orbit stay for days, the weather and who shares the link do not.
pub const LIFETIME_NS: u64 = 24 * 3600 * SECOND;

/// What is younger is used from the first packet on, before a round trip is known; what is older waits for one
/// (departure from [RFC 9959 3.2], argued in the specification).
pub const FIRST_FLIGHT_AGE_NS: u64 = 3600 * SECOND;

/// Rates outside of this, in bit/s, were measured by nobody: from a modem of the last century to a fibre.
const RATES_BPS: core::ops::RangeInclusive<u64> = 100..=1_000_000_000_000;

/// Nor were such round trips: from a loopback interface to somewhat beyond the moon.
const ROUND_TRIPS_NS: core::ops::RangeInclusive<u64> = 1000..=60 * SECOND;

/// A rate that did not last for this many round trips is not worth remembering: one is what a queue can hold.
const WORTH_ROUND_TRIPS: u64 = 2;

/// A rate that did not last this long is not worth it either: on short paths, round trips are soon over.
const WORTH_NS: u64 = 200 * MS;

/// What an earlier connection found out about the path to the same peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedPath {
    /// Rate that the path delivered, in bit/s of IP bytes.
    pub rate_bps: u64,
    /// Smallest round trip, in ns.
    pub rtt_min_ns: u64,
    /// How long ago that was, in ns. Engines have no calendar: whoever kept it says so.
    pub age_ns: u64,
}

/// Why a remembered path is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Older than [`LIFETIME_NS`].
    TooOld,
    /// It was kept at a time that is yet to come: a clock was set.
    FromTheFuture,
    /// Nobody can have measured such a rate or round trip.
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
    /// Whether it may be used.
    ///
    /// # Errors
    /// Why it may not.
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

/// Whether an estimate is worth remembering: its rate lasted, and somebody can have measured it.
pub fn is_worth_saving(estimate: &PathEstimate) -> bool {
    let PathEstimate { rate_bps, rtt_min_ns, confirmed_bytes } = *estimate;
    let lasted_ns = (WORTH_ROUND_TRIPS * rtt_min_ns.min(*ROUND_TRIPS_NS.end())).max(WORTH_NS);
    SavedPath { rate_bps, rtt_min_ns, age_ns: 0 }.check().is_ok()
        && confirmed_bytes >= bytes_in(rate_bps, lasted_ns)
}

/// Bytes that this rate carries in this time.
fn bytes_in(rate_bps: u64, ns: u64) -> u64 {
    let bytes = u128::from(rate_bps) * u128::from(ns) / (8 * u128::from(SECOND));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
