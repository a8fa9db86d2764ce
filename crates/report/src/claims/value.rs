//! A stated value.

use super::{Finding, ValueAt, curve, is_at, short};
use crate::figure::PanelData;

pub(super) fn at(panel: &PanelData, test: &ValueAt) -> Finding {
    let curve = curve(panel, &test.series)?;
    let datum = curve.data.iter().find(|datum| is_at(datum, &test.x));
    let datum = datum.ok_or_else(|| format!("nothing was measured at {}", test.x))?;
    let off = (datum.y.mean - test.expected).abs();
    let holds = off <= test.tolerance / 100.0 * test.expected.abs();
    let (low, high) = datum.y.interval();
    let interval = datum.y.ci95.map(|half| format!(" ± {}", short(half))).unwrap_or_default();
    let mut words =
        format!("{}{interval} at {}; stated {}", short(datum.y.mean), test.x, short(test.expected));
    if datum.y.ci95.is_some() && (low..=high).contains(&test.expected) {
        words += ", inside the 95 % interval";
    }
    Ok((holds, words))
}
