//! Token bucket of a declared rate: what is saved, and how fast that leaves.

use crate::path::DeclaredRate;
use crate::{Instant, Pacer};

/// Bucket of a declared rate: a pacer at the rate, and one at the peak, where there is one. A packet leaves
/// when both let it.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    pacer: Pacer,
    peak: Option<Pacer>,
}

impl TokenBucket {
    /// Full bucket.
    pub(crate) fn new(declared: DeclaredRate) -> Self {
        Self::of_pacer(Pacer::new(declared.rate_bps, declared.burst_ns), declared)
    }

    /// Bucket that goes on with what `pacer` has charged.
    pub(crate) fn of_pacer(pacer: Pacer, declared: DeclaredRate) -> Self {
        let peak = declared.peak.map(|peak| Pacer::new(peak.rate_bps, peak.burst_ns));
        Self { pacer, peak }
    }

    /// Pacer at the rate.
    pub(crate) fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    /// Changes the rate from now on.
    pub(crate) fn set_rate(&mut self, now: Instant, rate_bps: u64) {
        self.pacer.set_rate(now, rate_bps);
    }

    /// Time at which the next packet may leave (in the past: at once).
    pub(crate) fn ready_at(&self) -> Instant {
        let ready_at = self.pacer.ready_at();
        self.peak.as_ref().map_or(ready_at, |peak| ready_at.max(peak.ready_at()))
    }

    /// Charges a packet of `bytes`.
    pub(crate) fn spend(&mut self, now: Instant, bytes: u32) {
        self.pacer.spend(now, bytes);
        if let Some(peak) = &mut self.peak {
            peak.spend(now, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Peak;
    use crate::{MS, SECOND};

    /// Octets that leave in each millisecond after a long silence.
    fn octets_by_ms(declared: DeclaredRate, packet_bytes: u32, ms: u64) -> alloc::vec::Vec<u32> {
        let mut bucket = TokenBucket::new(declared);
        let start = Instant::from_ns(SECOND);
        (0..ms)
            .map(|ms| {
                let (now, mut octets) = (start.after(ms * MS), 0);
                while bucket.ready_at() <= now {
                    bucket.spend(now, packet_bytes);
                    octets += packet_bytes;
                }
                octets
            })
            .collect()
    }

    #[test]
    fn what_is_saved_leaves_at_the_peak_and_then_comes_the_rate() {
        // 1000 octets/s, 20 octets saved; at the peak 5 octets/ms, a packet of 5 and one of credit at once.
        let peak = Some(Peak { rate_bps: 40_000, burst_ns: MS });
        let declared = DeclaredRate { rate_bps: 8000, burst_ns: 20 * MS, peak };
        assert_eq!(octets_by_ms(declared, 5, 10), [10, 5, 5, 5, 0, 5, 0, 0, 0, 0]);
        let at_once = octets_by_ms(DeclaredRate { peak: None, ..declared }, 5, 10);
        assert_eq!(at_once, [25, 0, 0, 0, 0, 5, 0, 0, 0, 0]);
    }
}
