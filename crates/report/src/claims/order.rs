//! One series above or below another.

use std::fmt::Write as _;

use super::paired::{self, Decision};
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

/// The finding for pairs of values: at every place the differences by seed decide.
pub(super) fn compared(pairs: &[(&Datum, &Datum)], wanted: WantedOrder, tolerance_percent: f64) -> Finding {
    if pairs.is_empty() {
        return Err("the two have no place in common".to_owned());
    }
    let decisions: Vec<(&str, Decision)> =
        pairs.iter().map(|pair| (pair.0.name.as_str(), at_place(*pair, wanted, tolerance_percent))).collect();
    let places =
        |wanted| decisions.iter().filter(move |(_, one)| *one == wanted).map(|(name, _)| *name).collect();
    let (open, failing): (Vec<&str>, Vec<&str>) = (places(Decision::Open), places(Decision::Fails));
    let side = if wanted == WantedOrder::Greater { "above" } else { "below" };
    let sure = pairs.len() - failing.len() - open.len();
    let mut words = format!("{side} at {sure} of {} places", pairs.len());
    if !failing.is_empty() {
        let _ = write!(words, ", not at {}", listed(&failing));
    }
    if !open.is_empty() {
        let _ = write!(words, ", undecided at {}", listed(&open));
    }
    let gains: Vec<f64> = pairs.iter().filter_map(|pair| gain_percent(*pair)).collect();
    if !gains.is_empty() {
        let low = gains.iter().copied().fold(f64::INFINITY, f64::min);
        let high = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let _ = write!(words, "; difference {} to {}", percent(low), percent(high));
    }
    if pairs.iter().any(|(a, b)| paired::differences(a, b, 1.0).is_none_or(|pair| pair.ci95.is_none())) {
        words += "; no interval (fewer than two seeds in common)";
    }
    Ok((Decision::all(decisions.iter().map(|(_, one)| *one)), words))
}

fn at_place((a, b): (&Datum, &Datum), wanted: WantedOrder, tolerance_percent: f64) -> Decision {
    let sign = if wanted == WantedOrder::Greater { 1.0 } else { -1.0 };
    let slack = tolerance_percent / 100.0 * b.y.mean.abs();
    paired::differences(a, b, sign).map_or(Decision::Open, |pairs| Decision::above(&pairs, slack))
}
