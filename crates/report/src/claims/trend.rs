//! Claims that a series rises, falls or stays.

use super::{Finding, Trend, curve, short};
use crate::figure::{Curve, PanelData};

/// Which way is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedTrend {
    Rises,
    Falls,
}

pub(super) fn judge(panel: &PanelData, test: &Trend, wanted: WantedTrend) -> Finding {
    let curve = curve(panel, &test.series)?;
    let [first, .., last] = &curve.data[..] else {
        return Err("a trend needs two places".to_owned());
    };
    let correlation = spearman(curve);
    let sign = if wanted == WantedTrend::Rises { 1.0 } else { -1.0 };
    let holds = sign * correlation >= test.correlation && sign * (last.y.mean - first.y.mean) > 0.0;
    let words = format!(
        "from {} (at {}) to {} (at {}), rank correlation {}{}",
        short(first.y.mean),
        first.name,
        short(last.y.mean),
        last.name,
        format!("{correlation:.2}").replace('-', "−"),
        if first.y.overlaps(&last.y) && first.y.ci95.is_some() {
            "; the 95 % intervals of the ends overlap"
        } else {
            ""
        }
    );
    Ok((holds, words))
}

pub(super) fn flat(panel: &PanelData, series: &str, ratio: f64) -> Finding {
    let means = || curve(panel, series).map(|curve| curve.data.iter().map(|datum| datum.y.mean));
    let low = means()?.fold(f64::INFINITY, f64::min);
    let high = means()?.fold(f64::NEG_INFINITY, f64::max);
    let holds = if low > 0.0 { high <= low * ratio } else { high.total_cmp(&low).is_eq() };
    Ok((
        holds,
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
