//! One figure beside another.

use super::order::{self, WantedOrder};
use super::{CompareFigures, Finding, LargerGain, curve, gain, pairs, percent};
use crate::figure::PanelData;

pub(super) fn larger_gain(own: &PanelData, other: &PanelData, test: &LargerGain) -> Finding {
    let here = gain::gains(own, &test.series, &test.over, &[])?;
    let there = gain::gains(other, &test.series, &test.over, &[])?;
    let find = |name: &str| there.iter().find(|(other, _)| other == name).map(|(_, gain)| *gain);
    let both: Vec<(f64, f64)> = here.iter().filter_map(|(name, gain)| Some((*gain, find(name)?))).collect();
    if both.is_empty() {
        return Err(format!("the figures have no place in common with {}", test.than_figure));
    }
    let mean = |take: fn(&(f64, f64)) -> f64| both.iter().map(take).sum::<f64>() / both.len() as f64;
    let (own, other) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let larger = both.iter().filter(|(a, b)| a > b).count();
    let words = format!(
        "mean gain {} against {} in {}; larger at {larger} of {} places",
        percent(own),
        percent(other),
        test.than_figure,
        both.len()
    );
    // A mean alone may be that of a single place with a large gain.
    Ok((own > other && 2 * larger > both.len(), words))
}

pub(super) fn compare(
    own: &PanelData,
    other: &PanelData,
    test: &CompareFigures,
    wanted: WantedOrder,
) -> Finding {
    let pairs = pairs(curve(own, &test.series)?, curve(other, &test.series)?);
    let (holds, words) = order::compared(&pairs, wanted, test.tolerance)?;
    Ok((holds, format!("'{}' beside {}: {words}", test.series, test.than_figure)))
}
