//! Use of a granted rate: what is not used is given back.

use skyhaul_core::Instant;

use super::{bytes_in, bytes_per_s};

/// Part of a rate that may go unused: questions, reports and the steps of a pacer take some.
const SLACK_PART: u64 = 16;
/// Loops in which all of what is unused has gone.
const MAX_LOOPS: u64 = 32;

/// Use of the rate since the last look, a loop ago at least.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    since: Option<Instant>,
    /// The least rate since then, in octets a second.
    rate: u64,
    bytes: u64,
}

impl Used {
    /// A packet leaves at `rate` octets a second. Result: the rate, less half of what was not used in each
    /// loop [XCP 4.1.3.1, p = 0.5].
    pub(super) fn note(&mut self, now: Instant, rate: u64, packet_bytes: u64, loop_ns: u64) -> u64 {
        let since = *self.since.get_or_insert(now);
        let passed_ns = now.since(since);
        if passed_ns < loop_ns.max(1) {
            self.rate = if self.bytes == 0 { rate } else { self.rate.min(rate) };
            self.bytes = self.bytes.saturating_add(packet_bytes);
            return rate;
        }
        // What was granted meanwhile could not be used from the begin, nor what a queue held back.
        let could_bytes = bytes_in(self.rate.min(rate), passed_ns);
        let unused_bytes = could_bytes.saturating_sub(self.bytes);
        let slack_bytes = (could_bytes / SLACK_PART).max(packet_bytes);
        let mut kept = rate;
        if unused_bytes > slack_bytes {
            let unused = bytes_per_s(unused_bytes, passed_ns).min(rate);
            let loops = (passed_ns / loop_ns.max(1)).min(MAX_LOOPS);
            kept = rate - unused + (unused >> loops);
        }
        *self = Self { since: Some(now), rate: kept, bytes: packet_bytes };
        kept
    }
}
