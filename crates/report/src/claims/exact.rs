//! Numbers in which there is no chance.

use crate::figure::{Datum, Figure};
use crate::stats::Summary;

/// Seed of the run that every exact value stands for a second time.
const SECOND_SEED: u64 = u64::MAX;

/// The figures as further runs would show them, if every run has the values of the one that there is. What
/// has several runs stays as it is.
pub(super) fn settled(figures: &[Figure]) -> Vec<Figure> {
    let mut figures = figures.to_vec();
    let panels = figures.iter_mut().flat_map(|figure| &mut figure.panels);
    panels.flat_map(|panel| &mut panel.curves).flat_map(|curve| &mut curve.data).for_each(settle);
    figures
}

fn settle(datum: &mut Datum) {
    let (mean, seed) = (datum.y.mean, datum.runs.first().map_or(0, |run| run.0));
    if datum.y.ci95.is_none()
        && let Some(twice) = Summary::of(&[mean, mean])
    {
        datum.y = twice;
        datum.runs = vec![(seed, mean), (SECOND_SEED, mean)];
    }
}
