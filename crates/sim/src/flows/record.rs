//! Record of an end of a flow.

use skyhaul_core::{Instant, Stats};
use skyhaul_petra::utl::RoundTrips;

/// Record of one end of one flow so far.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// When it first wrote.
    pub started_at: Option<Instant>,
    /// Bytes read in order.
    pub received_bytes: u64,
    /// Those of them before the end of the warm-up.
    pub warm_up_bytes: u64,
    /// Bytes read that were not the pattern's.
    pub wrong_bytes: u64,
    /// Bytes that are missing for good.
    pub missing_bytes: u64,
    /// When the latest byte was read.
    pub last_byte_at: Option<Instant>,
    /// When the peer had confirmed everything.
    pub confirmed_at: Option<Instant>,
    /// Transactions begun, those of the warm-up counted.
    pub exchanges: u64,
    /// Transactions completed, those of the warm-up counted.
    pub completions: u64,
    /// How long the first [`MAX_COMPLETIONS`] of them that ended after the warm-up took, in nanoseconds.
    pub completion_ns: Vec<u64>,
    /// Round trips of batches that were confirmed end to end: the longest, and the last.
    pub round_trips: RoundTrips,
    /// Counters of connections that are gone.
    pub closed: Stats,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// Durations of transactions kept by each flow; further ones are only counted.
pub const MAX_COMPLETIONS: usize = 100_000;

impl Record {
    pub(crate) fn fail(&mut self, why: &impl ToString) {
        self.failure.get_or_insert_with(|| why.to_string());
    }

    /// Takes in what a connection's end-to-end layer has measured.
    pub(crate) fn confirm(&mut self, round_trips: RoundTrips) {
        let max_ns = self.round_trips.max_ns.max(round_trips.max_ns);
        self.round_trips = RoundTrips { max_ns, ..round_trips };
    }

    pub(crate) fn read(&mut self, now: Instant, bytes: u64, wrong: u64, warm_up: Instant) {
        self.received_bytes += bytes;
        self.wrong_bytes += wrong;
        self.last_byte_at = Some(now);
        if now < warm_up {
            self.warm_up_bytes += bytes;
        }
    }

    /// Takes in that so many bytes are missing for good.
    pub(crate) fn miss(&mut self, bytes: u64) {
        self.missing_bytes += bytes;
    }

    pub(crate) fn complete(&mut self, now: Instant, took_ns: u64, warm_up: Instant) {
        self.completions += 1;
        if now >= warm_up && self.completion_ns.len() < MAX_COMPLETIONS {
            self.completion_ns.push(took_ns);
        }
    }
}
