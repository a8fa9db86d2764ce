//! Summary of a sample.

use serde::{Deserialize, Serialize};

use super::t_975;

/// A sample in numbers. What one value alone cannot tell (deviation, interval) is absent, not zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// How many values.
    pub n: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample's standard deviation (n - 1).
    pub sd: Option<f64>,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t.
    pub ci95: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The value in the middle, or between the two in the middle.
    pub median: f64,
}

/// Statistic of a sample that a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The mean, with its 95 % confidence interval.
    #[default]
    Mean,
    /// The median, with the smallest and the largest value.
    Median,
}

/// The value in the middle, or halfway between the two in the middle; none if there is no value.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(low + (high - low) / 2.0)
}

/// The smallest value that `percent` of the values do not exceed; halfway between two where `percent` is 50
/// (the [`median`]). None if there is no value.
pub fn percentile(values: &[f64], percent: u32) -> Option<f64> {
    if percent == 50 {
        return median(values);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * percent.min(100) as usize).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

impl Summary {
    /// The summary of the finite values among `values`; none if there is no such value.
    ///
    /// The order of the values decides the last bits of the result: keep it fixed.
    pub fn of(values: &[f64]) -> Option<Self> {
        let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let n = values.len();
        let first = *values.first()?;
        // Around the first value, so that neither the sum nor equal values lose digits.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
        let ci95 = sd.map(|sd| t_975(n - 1) * sd / (n as f64).sqrt());
        let min = values.iter().copied().fold(first, f64::min);
        let max = values.iter().copied().fold(first, f64::max);
        let median = median(&values)?;
        Some(Self { n, mean, sd, ci95, min, max, median })
    }

    /// The interval of the mean, a point if the sample is too small to have one.
    pub fn interval(&self) -> (f64, f64) {
        let half = self.ci95.unwrap_or(0.0);
        (self.mean - half, self.mean + half)
    }

    /// Value that a figure shows, and from where to where it is uncertain, if more than one value was
    /// measured.
    pub fn shown(&self, statistic: Statistic) -> (f64, Option<(f64, f64)>) {
        match statistic {
            Statistic::Mean => (self.mean, self.ci95.map(|_| self.interval())),
            Statistic::Median => (self.median, (self.n > 1).then_some((self.min, self.max))),
        }
    }

    /// True if the 95 % intervals of two samples share a value.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (own, others) = (self.interval(), other.interval());
        own.0 <= others.1 && others.0 <= own.1
    }

    /// The summary of the same sample in another unit: every value times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let (low, high) = (self.min * factor, self.max * factor);
        Self {
            n: self.n,
            mean: self.mean * factor,
            sd: self.sd.map(|sd| sd * factor.abs()),
            ci95: self.ci95.map(|half| half * factor.abs()),
            min: low.min(high),
            max: low.max(high),
            median: self.median * factor,
        }
    }
}
