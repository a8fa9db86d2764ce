//! Claims that a series rises, falls or stays.

use super::paired::{self, Decision};
use super::{Finding, GainTrend, Trend, curve, is_at, pairs, short};
use crate::figure::{Curve, Datum, PanelData};
use crate::stats::Summary;

/// Which way is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedTrend {
    Rises,
    Falls,
}

pub(super) fn judge(panel: &PanelData, test: &Trend, wanted: WantedTrend) -> Finding {
    of_curve(curve(panel, &test.series)?, test.correlation, wanted)
}

/// The gain in percent rises: that of the means, seed by seed.
pub(super) fn of_gain(panel: &PanelData, test: &GainTrend) -> Finding {
    let (own, other) = (curve(panel, &test.series)?, curve(panel, &test.over)?);
    let is_asked = |datum: &Datum| test.at.is_empty() || test.at.iter().any(|x| is_at(datum, x));
    let gain = |(a, b): (&Datum, &Datum)| {
        let runs = paired::gain_by_seed(a, b)?;
        let y = Summary::of(&runs.iter().map(|(_, percent)| *percent).collect::<Vec<_>>())?;
        Some(Datum { x: a.x, name: a.name.clone(), y, runs })
    };
    let data = pairs(own, other).into_iter().filter(|(datum, _)| is_asked(datum)).filter_map(gain).collect();
    let curve = Curve { name: own.name.clone(), data };
    let (decision, words) = of_curve(&curve, test.correlation, WantedTrend::Rises)?;
    Ok((decision, format!("gain in percent {words}")))
}

fn of_curve(curve: &Curve, least_correlation: f64, wanted: WantedTrend) -> Finding {
    let [first, .., last] = &curve.data[..] else {
        return Err("a trend needs two places".to_owned());
    };
    let correlation = spearman(curve);
    let sign = if wanted == WantedTrend::Rises { 1.0 } else { -1.0 };
    let ends = paired::differences(last, first, sign);
    let ends = ends.map_or(Decision::Open, |ends| Decision::above(&ends, 0.0));
    let decision = if sign * correlation >= least_correlation { ends } else { Decision::Fails };
    let words = format!(
        "from {} (at {}) to {} (at {}), rank correlation {}{}",
        short(first.y.mean),
        first.name,
        short(last.y.mean),
        last.name,
        format!("{correlation:.2}").replace('-', "−"),
        if ends == Decision::Open { "; the ends' difference by seed is undecided" } else { "" }
    );
    Ok((decision, words))
}

pub(super) fn flat(panel: &PanelData, series: &str, ratio: f64) -> Finding {
    let data = &curve(panel, series)?.data;
    let by_mean = |a: &&Datum, b: &&Datum| a.y.mean.total_cmp(&b.y.mean);
    let (Some(least), Some(most)) = (data.iter().min_by(by_mean), data.iter().max_by(by_mean)) else {
        return Err("there is no value".to_owned());
    };
    let (low, high) = (least.y.mean, most.y.mean);
    let above = paired::gain(most, least).filter(|_| low > 0.0);
    let decision = match above {
        Some(above) => Decision::inside(&above, f64::NEG_INFINITY, 100.0 * (ratio - 1.0)),
        None => Decision::known(high.total_cmp(&low).is_eq()),
    };
    Ok((
        decision,
        format!(
            "between {} and {}: a ratio of {}, allowed {}",
            short(low),
            short(high),
            short(high / low),
            short(ratio)
        ),
    ))
}

/// Spearman's rank correlation of means with their places; equal means share their rank, no spread has none
/// (0).
fn spearman(curve: &Curve) -> f64 {
    let x = ranks(&curve.data.iter().map(|datum| datum.x).collect::<Vec<_>>());
    let y = ranks(&curve.data.iter().map(|datum| datum.y.mean).collect::<Vec<_>>());
    let middle = f64::midpoint(curve.data.len() as f64, 1.0);
    let product =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    let spread = libm::sqrt(product(&x, &x) * product(&y, &y));
    if spread > 0.0 { product(&x, &y) / spread } else { 0.0 }
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| other.total_cmp(value).is_lt()).count();
        let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        below as f64 + f64::midpoint(equal as f64, 1.0)
    };
    values.iter().map(rank).collect()
}
