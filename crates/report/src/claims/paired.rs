//! Two samples seed by seed, and what a 95 % interval says of a claimed range.
//!
//! Runs of one seed meet one channel, so that their difference has less chance in it than either value.

use std::collections::BTreeMap;

use crate::figure::Datum;
use crate::stats::Summary;

/// Decision on a claim, or on one place of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The numbers bear it out.
    Holds,
    /// The interval has values for and against it, or there is none.
    Open,
    /// The numbers contradict it.
    Fails,
}

impl Decision {
    /// Decision on a claim that all of these must bear out; one that fails decides it.
    pub(super) fn all(each: impl IntoIterator<Item = Self>) -> Self {
        each.into_iter().fold(Self::Holds, |worst, one| match (worst, one) {
            (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
            (Self::Open, _) | (_, Self::Open) => Self::Open,
            _ => Self::Holds,
        })
    }

    /// Decision by something that chance does not blur.
    pub(super) fn known(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    /// The 95 % interval lies within a range, or outside of it; without an interval open.
    pub(super) fn inside(sample: &Summary, low: f64, high: f64) -> Self {
        let (from, to) = sample.interval();
        match sample.ci95 {
            Some(_) if low <= from && to <= high => Self::Holds,
            Some(_) if to < low || high < from => Self::Fails,
            _ => Self::Open,
        }
    }

    /// The mean lies within a range; open if it does not, but a part of its 95 % interval does.
    pub(super) fn mean_inside(sample: &Summary, low: f64, high: f64) -> Self {
        let (from, to) = sample.interval();
        if sample.ci95.is_none() {
            Self::Open
        } else if (low..=high).contains(&sample.mean) {
            Self::Holds
        } else if to < low || high < from {
            Self::Fails
        } else {
            Self::Open
        }
    }

    /// The 95 % interval of a difference lies beyond `-slack`: above 0 if there is no slack.
    pub(super) fn above(difference: &Summary, slack: f64) -> Self {
        let (from, to) = difference.interval();
        match difference.ci95 {
            Some(_) if from > -slack => Self::Holds,
            Some(_) if to <= -slack => Self::Fails,
            _ => Self::Open,
        }
    }
}

/// (seed, value, value) of the seeds that two samples share.
fn common(a: &Datum, b: &Datum) -> Vec<(u64, f64, f64)> {
    let others: BTreeMap<u64, f64> = b.runs.iter().copied().collect();
    a.runs.iter().filter_map(|(seed, a)| Some((*seed, *a, *others.get(seed)?))).collect()
}

/// Differences a - b by seed, times `sign`; none if no seed is shared.
pub(super) fn differences(a: &Datum, b: &Datum, sign: f64) -> Option<Summary> {
    let each: Vec<f64> = common(a, b).iter().map(|(_, a, b)| sign * (a - b)).collect();
    Summary::of(&each)
}

/// Each seed's part in the gain of the means in percent: their mean is that gain, and their spread that of a
/// quotient of two means to first order. None over a mean of 0.
pub(super) fn gain_by_seed(a: &Datum, b: &Datum) -> Option<Vec<(u64, f64)>> {
    let pairs = common(a, b);
    let sum = |of: fn(&(u64, f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let (own, other) = (sum(|pair| pair.1), sum(|pair| pair.2));
    let mean = other / pairs.len() as f64;
    if pairs.is_empty() || mean == 0.0 {
        return None;
    }
    let ratio = own / other;
    let part = |(seed, a, b): &(u64, f64, f64)| {
        (*seed, 100.0 * ((ratio - 1.0) * mean.signum() + (a - ratio * b) / mean.abs()))
    };
    Some(pairs.iter().map(part).collect())
}

/// Gain of the means in percent, with the 95 % interval that the seeds' pairs give it.
pub(super) fn gain(a: &Datum, b: &Datum) -> Option<Summary> {
    let each: Vec<f64> = gain_by_seed(a, b)?.into_iter().map(|(_, part)| part).collect();
    Summary::of(&each)
}
