//! Lateness of a medium: how far behind its schedule it runs.

use skyhaul_core::{MS, US};

/// Powers of two are divided into this many buckets: quantiles are exact to 1/16.
const PARTS: u64 = 16;
const PART_BITS: u32 = PARTS.ilog2();
const BUCKETS: usize = ((64 - PART_BITS as usize) + 1) * PARTS as usize;

/// A packet later than this was not emulated properly.
const LATE_NS: u64 = MS;
/// One late packet in so many is worth a remark.
const TOLERATED: u64 = 1000;

/// Upper bounds, in nanoseconds, of the rows of [`LatenessReport::histogram`]; the last row is for all
/// beyond.
pub const LATENESS_ROWS: [u64; 9] =
    [20 * US, 50 * US, 100 * US, 200 * US, 500 * US, MS, 2 * MS, 5 * MS, 20 * MS];

/// Counts of delays in buckets whose width grows with the delay.
#[derive(Debug)]
pub(super) struct Lateness {
    buckets: Vec<u64>,
    rows: [u64; LATENESS_ROWS.len() + 1],
    packets: u64,
    late_packets: u64,
    max_ns: u64,
}

/// Lateness of packets that left a medium: the time of sending minus the time that the medium had
/// scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatenessReport {
    /// Packets sent.
    pub packets: u64,
    /// Half of them were not later than this.
    pub p50_ns: u64,
    /// 99 % of them were not later than this.
    pub p99_ns: u64,
    /// 99.9 % of them were not later than this.
    pub p999_ns: u64,
    /// The latest.
    pub max_ns: u64,
    /// Packets later than 1 ms.
    pub late_packets: u64,
    /// Packets that were not later than each of [`LATENESS_ROWS`] and later than the one before; then all
    /// others.
    pub histogram: [u64; LATENESS_ROWS.len() + 1],
}

impl Default for Lateness {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], rows: Default::default(), packets: 0, late_packets: 0, max_ns: 0 }
    }
}

impl Lateness {
    /// A packet left `late_ns` after its time.
    pub(super) fn record(&mut self, late_ns: u64) {
        self.buckets[bucket(late_ns)] += 1;
        self.rows[LATENESS_ROWS.partition_point(|&bound| bound < late_ns)] += 1;
        self.packets += 1;
        self.late_packets += u64::from(late_ns > LATE_NS);
        self.max_ns = self.max_ns.max(late_ns);
    }

    /// Those of somebody else are ours, too.
    pub(super) fn add(&mut self, other: &Self) {
        let add = |own: &mut [u64], others: &[u64]| {
            own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
        };
        add(&mut self.buckets, &other.buckets);
        add(&mut self.rows, &other.rows);
        self.packets += other.packets;
        self.late_packets += other.late_packets;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    pub(super) fn report(&self) -> LatenessReport {
        LatenessReport {
            packets: self.packets,
            p50_ns: self.quantile(500),
            p99_ns: self.quantile(990),
            p999_ns: self.quantile(999),
            max_ns: self.max_ns,
            late_packets: self.late_packets,
            histogram: self.rows,
        }
    }

    /// A bound that `permille` of the delays keep, at most 1/16 above the smallest such.
    fn quantile(&self, permille: u64) -> u64 {
        let rank = (self.packets * permille).div_ceil(1000).max(1);
        let mut counted = 0;
        let reached = self.buckets.iter().position(|&count| {
            counted += count;
            counted >= rank
        });
        reached.map_or(0, |bucket| upper_bound(bucket).min(self.max_ns))
    }
}

impl LatenessReport {
    /// Share of the packets that were later than 1 ms.
    pub fn late_share(&self) -> f64 {
        if self.packets == 0 { 0.0 } else { self.late_packets as f64 / self.packets as f64 }
    }

    /// True if more than 0.1 % of the packets were later than 1 ms: the results are then those of a
    /// slightly worse link than the one asked for.
    pub fn is_inexact(&self) -> bool {
        self.late_packets * TOLERATED > self.packets
    }
}

/// Values below [`PARTS`] have a bucket each; above, each power of two has [`PARTS`] of them.
fn bucket(ns: u64) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let exponent = ns.ilog2() - PART_BITS;
    (u64::from(exponent) * PARTS + (ns >> exponent)) as usize
}

/// The largest value in a bucket.
fn upper_bound(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PARTS {
        return bucket;
    }
    let exponent = bucket / PARTS - 1;
    let part = u128::from(bucket % PARTS + PARTS + 1);
    u64::try_from((part << exponent) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_bounds_its_values_closely(ns in any::<u64>()) {
            let bound = upper_bound(bucket(ns));
            prop_assert!(bound >= ns && bound - ns <= ns / PARTS);
            prop_assert!(bucket(ns) < BUCKETS);
        }

        #[test]
        fn buckets_are_in_order(a in any::<u64>(), b in any::<u64>()) {
            prop_assert!(bucket(a.min(b)) <= bucket(a.max(b)));
        }
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut lateness = Lateness::default();
        (1..=100).for_each(|n| lateness.record(n * 10 * US));
        let report = lateness.report();
        assert!((500 * US..=532 * US).contains(&report.p50_ns), "{report:?}");
        assert!((990 * US..=1000 * US).contains(&report.p99_ns), "{report:?}");
        assert_eq!((report.packets, report.max_ns, report.late_packets), (100, 1000 * US, 0));
        assert_eq!(report.histogram, [2, 3, 5, 10, 30, 50, 0, 0, 0, 0]);
    }

    #[test]
    fn two_together_are_as_one() {
        let [mut one, mut even, mut odd] = [Lateness::default(), Lateness::default(), Lateness::default()];
        for n in 1..=1000 {
            one.record(n * n * 7);
            if n % 2 == 0 { &mut even } else { &mut odd }.record(n * n * 7);
        }
        even.add(&odd);
        assert_eq!(even.report(), one.report());
    }

    #[test]
    fn one_late_packet_in_a_thousand_is_tolerated() {
        let mut lateness = Lateness::default();
        assert!(!lateness.report().is_inexact(), "nothing was sent");
        (0..999).for_each(|_| lateness.record(20 * US));
        lateness.record(5 * MS);
        assert!(!lateness.report().is_inexact());
        lateness.record(7 * MS);
        assert!(lateness.report().is_inexact());
    }
}
