//! One figure beside another.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::order::{self, WantedOrder};
use super::paired::{self, Decision};
use super::{CompareFigures, Finding, LargerGain, curve, gain_percent, is_at, pairs, percent, short};
use crate::figure::{Datum, PanelData};
use crate::stats::Summary;

/// A place of both figures: the series and what it gains over, here and there.
struct Place<'a> {
    here: (&'a Datum, &'a Datum),
    there: (&'a Datum, &'a Datum),
}

impl Place<'_> {
    /// Gains of the means, here and there.
    fn gains(&self) -> Option<(f64, f64)> {
        Some((gain_percent(self.here)?, gain_percent(self.there)?))
    }

    /// Each seed's part in the gain here less that in the gain there.
    fn by_seed(&self) -> Option<Vec<(u64, f64)>> {
        let here = paired::gain_by_seed(self.here.0, self.here.1)?;
        let there: BTreeMap<u64, f64> =
            paired::gain_by_seed(self.there.0, self.there.1)?.into_iter().collect();
        Some(here.into_iter().filter_map(|(seed, gain)| Some((seed, gain - there.get(&seed)?))).collect())
    }
}

pub(super) fn larger_gain(own: &PanelData, other: &PanelData, test: &LargerGain) -> Finding {
    let here = pairs(curve(own, &test.series)?, curve(own, &test.over)?);
    let there = pairs(curve(other, &test.series)?, curve(other, &test.over)?);
    let find = |name: &str| there.iter().find(|(datum, _)| datum.name == name).copied();
    let places: Vec<Place<'_>> =
        here.iter().filter_map(|&here| Some(Place { here, there: find(&here.0.name)? })).collect();
    let both: Vec<(f64, f64)> = places.iter().filter_map(Place::gains).collect();
    if both.is_empty() {
        return Err(format!("the figures have no place in common with {}", test.than_figure));
    }
    let mean = |take: fn(&(f64, f64)) -> f64| both.iter().map(take).sum::<f64>() / both.len() as f64;
    let larger = both.iter().filter(|(a, b)| a > b).count();
    let lead = lead(&places);
    let mut words = format!(
        "mean gain {} against {} in {}; larger at {larger} of {} places",
        percent(mean(|pair| pair.0)),
        percent(mean(|pair| pair.1)),
        test.than_figure,
        both.len()
    );
    if let Some((mean, half)) = lead.as_ref().and_then(|lead| Some((lead.mean, lead.ci95?))) {
        let _ = write!(words, "; lead by seed {} ± {} points", short(mean), short(half));
    }
    let decision = lead.map_or(Decision::Open, |lead| Decision::above(&lead, 0.0));
    // A mean alone may be that of a single place with a large gain.
    let is_majority = 2 * larger > both.len();
    let decision = if decision == Decision::Holds && !is_majority { Decision::Fails } else { decision };
    Ok((decision, words))
}

/// The lead of the mean gain here over that there, by seeds that have values at every place.
fn lead(places: &[Place<'_>]) -> Option<Summary> {
    let mut sums: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    for (seed, part) in places.iter().filter_map(Place::by_seed).flatten() {
        let sum = sums.entry(seed).or_default();
        *sum = (sum.0 + part, sum.1 + 1);
    }
    let most = sums.values().map(|sum| sum.1).max()?;
    let whole: Vec<f64> =
        sums.values().filter(|sum| sum.1 == most).map(|(sum, count)| sum / *count as f64).collect();
    Summary::of(&whole)
}

pub(super) fn compare(
    own: &PanelData,
    other: &PanelData,
    test: &CompareFigures,
    wanted: WantedOrder,
) -> Finding {
    let mut pairs = pairs(curve(own, &test.series)?, curve(other, &test.series)?);
    pairs.retain(|(datum, _)| !test.except.iter().any(|x| is_at(datum, x)));
    let (decision, words) = order::compared(&pairs, wanted, test.tolerance)?;
    Ok((decision, format!("'{}' beside {}: {words}", test.series, test.than_figure)))
}
