//! What a sample says.

use serde::Serialize;

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
        Some(Self { n, mean, sd, ci95, min, max })
    }

    /// The interval of the mean, a point if the sample is too small to have one.
    pub fn interval(&self) -> (f64, f64) {
        let half = self.ci95.unwrap_or(0.0);
        (self.mean - half, self.mean + half)
    }

    /// Whether the 95 % intervals of two samples share a value.
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
        }
    }
}
