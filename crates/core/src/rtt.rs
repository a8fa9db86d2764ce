//! Smoothed round-trip time and variance in integers.

/// Round-trip estimator with the gains of [RFC 6298 2]: 1/8 for the mean, 1/4 for the variance.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    initial_ns: u64,
    smoothed_ns: u64,
    variance_ns: u64,
    min_ns: u64,
    latest_ns: u64,
}

impl RttEstimator {
    /// Estimator that answers `initial_ns` until the first sample.
    pub fn new(initial_ns: u64) -> Self {
        Self { initial_ns, smoothed_ns: 0, variance_ns: initial_ns / 2, min_ns: u64::MAX, latest_ns: 0 }
    }

    /// Lets the newest sample be the smallest: the path has changed.
    pub fn forget_min(&mut self) {
        if self.is_known() {
            self.min_ns = self.latest_ns;
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self, rtt_ns: u64) {
        let rtt_ns = rtt_ns.max(1);
        self.latest_ns = rtt_ns;
        self.min_ns = self.min_ns.min(rtt_ns);
        if self.smoothed_ns == 0 {
            self.smoothed_ns = rtt_ns;
            self.variance_ns = rtt_ns / 2;
            return;
        }
        let deviation = self.smoothed_ns.abs_diff(rtt_ns);
        self.variance_ns = self.variance_ns - self.variance_ns / 4 + deviation / 4;
        self.smoothed_ns = self.smoothed_ns - self.smoothed_ns / 8 + rtt_ns / 8;
    }

    /// True if a sample was taken.
    pub fn is_known(&self) -> bool {
        self.smoothed_ns != 0
    }

    /// Smoothed round-trip time, or the initial guess.
    pub fn smoothed_ns(&self) -> u64 {
        if self.is_known() { self.smoothed_ns } else { self.initial_ns }
    }

    /// Smoothed deviation.
    pub fn variance_ns(&self) -> u64 {
        self.variance_ns
    }

    /// Smallest sample, or the initial guess.
    pub fn min_ns(&self) -> u64 {
        if self.is_known() { self.min_ns } else { self.initial_ns }
    }

    /// Newest sample, or the initial guess.
    pub fn latest_ns(&self) -> u64 {
        if self.is_known() { self.latest_ns } else { self.initial_ns }
    }

    /// Time after which an answer is overdue: mean + 4 deviations, at least `floor_ns`
    /// [RFC 6298 2.3].
    pub fn overdue_ns(&self, floor_ns: u64) -> u64 {
        (self.smoothed_ns() + 4 * self.variance_ns).max(floor_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MS;

    #[test]
    fn first_sample_replaces_the_guess_and_later_ones_move_it_by_an_eighth() {
        let mut rtt = RttEstimator::new(600 * MS);
        assert_eq!(rtt.smoothed_ns(), 600 * MS);
        rtt.sample(80 * MS);
        assert_eq!((rtt.smoothed_ns(), rtt.variance_ns(), rtt.min_ns()), (80 * MS, 40 * MS, 80 * MS));
        rtt.sample(160 * MS);
        assert_eq!((rtt.smoothed_ns(), rtt.variance_ns()), (90 * MS, 50 * MS));
        assert_eq!((rtt.min_ns(), rtt.latest_ns()), (80 * MS, 160 * MS));
    }
}
