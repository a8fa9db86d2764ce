//! Waiting times of packets: a histogram of bounded size.

use core::fmt;

/// Steps of each power of two, as a power of two: a quantile is at most a sixteenth too large.
const STEP_BITS: u32 = 4;
const STEPS: usize = 1 << STEP_BITS;
/// Microseconds from here on, some 71 minutes, count as this many.
const MAX_US: u64 = u32::MAX as u64;
/// Below `STEPS` one for each microsecond, then `STEPS` for each power of two up to [`MAX_US`].
const BUCKETS: usize = (32 - STEP_BITS as usize + 1) * STEPS;

/// Histogram of the times that packets waited in a queue. Less than 2 kB, whatever it has counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WaitHistogram {
    packets: [u32; BUCKETS],
}

impl Default for WaitHistogram {
    fn default() -> Self {
        Self { packets: [0; BUCKETS] }
    }
}

impl WaitHistogram {
    pub(crate) fn add(&mut self, waited_ns: u64) {
        let packets = &mut self.packets[bucket((waited_ns / 1000).min(MAX_US))];
        *packets = packets.saturating_add(1);
    }

    /// Counts since `before`, an earlier state of these counts.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut packets = self.packets;
        for (now, before) in packets.iter_mut().zip(&before.packets) {
            *now = now.saturating_sub(*before);
        }
        Self { packets }
    }

    /// The wait, in nanoseconds, that `percent` of the packets did not exceed: to the microsecond where it is
    /// below 16 of them, else up to a sixteenth more. `None`: no packet was counted.
    pub fn percentile_ns(&self, percent: u64) -> Option<u64> {
        let total: u64 = self.packets.iter().map(|&packets| u64::from(packets)).sum();
        let rank = (total * percent.min(100)).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.packets.iter().position(|&packets| {
            seen += u64::from(packets);
            seen >= rank
        });
        found.map(|bucket| max_us(bucket) * 1000)
    }
}

impl fmt::Debug for WaitHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WaitHistogram(median {:?} ns, 95 % {:?} ns)",
            self.percentile_ns(50),
            self.percentile_ns(95)
        )
    }
}

fn bucket(us: u64) -> usize {
    if us < STEPS as u64 {
        return us as usize; // most wait for nothing
    }
    let shift = us.ilog2() - STEP_BITS;
    (shift << STEP_BITS) as usize + (us >> shift) as usize
}

/// The longest wait of a bucket.
fn max_us(bucket: usize) -> u64 {
    let shift = (bucket >> STEP_BITS).saturating_sub(1);
    let first = (bucket - (shift << STEP_BITS)) as u64;
    ((first + 1) << shift) - 1
}

#[cfg(test)]
#[path = "waits_tests.rs"]
mod tests;
