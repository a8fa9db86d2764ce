//! A stated value.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::paired::Decision;
use super::{Finding, MeanBetween, ValueAt, ValuesBetween, curve, is_at, short};
use crate::figure::{Datum, PanelData};
use crate::stats::Summary;

pub(super) fn at(panel: &PanelData, test: &ValueAt) -> Finding {
    let curve = curve(panel, &test.series)?;
    let datum = curve.data.iter().find(|datum| is_at(datum, &test.x));
    let datum = datum.ok_or_else(|| format!("nothing was measured at {}", test.x))?;
    let slack = test.slack();
    let decision = Decision::inside(&datum.y, test.expected - slack, test.expected + slack);
    let (low, high) = datum.y.interval();
    let mut words = format!("{} at {}; stated {}", said(&datum.y), test.x, short(test.expected));
    if datum.y.ci95.is_some() && (low..=high).contains(&test.expected) {
        words += ", inside the 95 % interval";
    }
    Ok((decision, words))
}

pub(super) fn between(panel: &PanelData, test: &ValuesBetween) -> Finding {
    let curve = curve(panel, &test.series)?;
    if let Some(missing) = test.at.iter().find(|x| !curve.data.iter().any(|datum| is_at(datum, x))) {
        return Err(format!("nothing was measured at {missing}"));
    }
    let asked = |datum: &&Datum| test.at.is_empty() || test.at.iter().any(|x| is_at(datum, x));
    let found: Vec<&Datum> = curve.data.iter().filter(asked).collect();
    let means = || found.iter().map(|datum| datum.y.mean);
    let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    let each = found.iter().map(|datum| Decision::inside(&datum.y, test.low, test.high));
    let decision = Decision::all(each);
    let stated = format!("{} to {}", short(test.low), short(test.high));
    let words = match &found[..] {
        [datum] => said(&datum.y),
        _ => format!("{} to {}", short(least), short(most)),
    };
    Ok((decision, format!("{words}; stated {stated}")))
}

/// The finding on the mean over all places of `panels`, with the interval that the seeds' means give it.
pub(super) fn mean(panels: &[&PanelData], test: &MeanBetween) -> Finding {
    let mut sums: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    let mut places = 0;
    for panel in panels {
        for datum in &curve(panel, &test.series)?.data {
            places += 1;
            for (seed, value) in &datum.runs {
                let sum = sums.entry(*seed).or_default();
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
    }
    let whole = sums.values().filter(|sum| sum.1 == places).map(|sum| sum.0 / places as f64);
    let summary = Summary::of(&whole.collect::<Vec<f64>>())
        .ok_or_else(|| format!("no seed has a value of '{}' at every place", test.series))?;
    let decision = Decision::inside(&summary, test.low, test.high);
    let mut words = format!("{}, over {places} places", said(&summary));
    if let Some(stated) = test.stated {
        let _ = write!(words, "; stated {}", short(stated));
    }
    Ok((decision, words))
}

fn said(summary: &Summary) -> String {
    let half = summary.ci95.map(|half| format!(" ± {}", short(half))).unwrap_or_default();
    format!("{}{half}", short(summary.mean))
}
