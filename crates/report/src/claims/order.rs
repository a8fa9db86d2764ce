//! One series above or below another.

use std::fmt::Write as _;

use super::{Compare, Finding, curve, gain_percent, is_at, pairs, percent};
use crate::error::listed;
use crate::figure::{Datum, PanelData};

/// Which side is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedOrder {
    Greater,
    Less,
}

pub(super) fn judge(panel: &PanelData, test: &Compare, wanted: WantedOrder) -> Finding {
    let (own, other) = (curve(panel, &test.series)?, curve(panel, &test.than)?);
    let all = pairs(own, other);
    if let Some(missing) = test.at.iter().find(|x| !all.iter().any(|(datum, _)| is_at(datum, x))) {
        return Err(format!("nothing was measured at {missing}"));
    }
    let asked = |datum: &Datum| {
        let named = |list: &[_]| list.iter().any(|x| is_at(datum, x));
        (test.at.is_empty() || named(&test.at)) && !named(&test.except)
    };
    let chosen: Vec<(&Datum, &Datum)> = all.into_iter().filter(|(datum, _)| asked(datum)).collect();
    compared(&chosen, wanted, test.tolerance)
}

/// The finding for pairs of values; says where the claim fails and where the intervals are too wide to tell.
pub(super) fn compared(pairs: &[(&Datum, &Datum)], wanted: WantedOrder, tolerance_percent: f64) -> Finding {
    if pairs.is_empty() {
        return Err("the two have no place in common".to_owned());
    }
    let sign = if wanted == WantedOrder::Greater { 1.0 } else { -1.0 };
    let holds = |(a, b): &(&Datum, &Datum)| {
        let slack = tolerance_percent / 100.0 * b.y.mean.abs();
        let ahead = sign * (a.y.mean - b.y.mean);
        ahead > 0.0 || (slack > 0.0 && ahead >= -slack)
    };
    let failing: Vec<&str> = pairs.iter().filter(|pair| !holds(pair)).map(|(a, _)| a.name.as_str()).collect();
    let open: Vec<&str> =
        pairs.iter().filter(|(a, b)| a.y.overlaps(&b.y)).map(|(a, _)| a.name.as_str()).collect();
    let side = if wanted == WantedOrder::Greater { "above" } else { "below" };
    let mut words = format!("{side} at {} of {} places", pairs.len() - failing.len(), pairs.len());
    if !failing.is_empty() {
        let _ = write!(words, ", not at {}", listed(&failing));
    }
    let gains: Vec<f64> = pairs.iter().filter_map(|pair| gain_percent(*pair)).collect();
    if !gains.is_empty() {
        let low = gains.iter().copied().fold(f64::INFINITY, f64::min);
        let high = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let _ = write!(words, "; difference {} to {}", percent(low), percent(high));
    }
    if pairs.iter().any(|(a, b)| a.y.ci95.is_none() || b.y.ci95.is_none()) {
        words += "; no intervals (a single run)";
    } else if !open.is_empty() {
        let _ = write!(words, "; the 95 % intervals overlap at {}", listed(&open));
    }
    Ok((failing.is_empty(), words))
}
