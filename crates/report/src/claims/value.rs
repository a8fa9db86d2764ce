//! A stated value.

use super::paired::Decision;
use super::{Finding, ValueAt, ValuesBetween, curve, is_at, short};
use crate::figure::PanelData;

pub(super) fn at(panel: &PanelData, test: &ValueAt) -> Finding {
    let curve = curve(panel, &test.series)?;
    let datum = curve.data.iter().find(|datum| is_at(datum, &test.x));
    let datum = datum.ok_or_else(|| format!("nothing was measured at {}", test.x))?;
    let slack = test.slack();
    let decision = Decision::inside(&datum.y, test.expected - slack, test.expected + slack);
    let (low, high) = datum.y.interval();
    let interval = datum.y.ci95.map(|half| format!(" ± {}", short(half))).unwrap_or_default();
    let mut words =
        format!("{}{interval} at {}; stated {}", short(datum.y.mean), test.x, short(test.expected));
    if datum.y.ci95.is_some() && (low..=high).contains(&test.expected) {
        words += ", inside the 95 % interval";
    }
    Ok((decision, words))
}

pub(super) fn between(panel: &PanelData, test: &ValuesBetween) -> Finding {
    let curve = curve(panel, &test.series)?;
    let means = || curve.data.iter().map(|datum| datum.y.mean);
    let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    let each = curve.data.iter().map(|datum| Decision::inside(&datum.y, test.low, test.high));
    let decision = Decision::all(each);
    let stated = format!("{} to {}", short(test.low), short(test.high));
    Ok((decision, format!("{} to {}; stated {stated}", short(least), short(most))))
}
