//! Relative gains of one series over another.

use std::fmt::Write as _;

use super::paired::{self, Decision};
use super::{Finding, GainAt, GainBetween, GainWithin, curve, is_at, pairs, percent, short};
use crate::figure::{Datum, PanelData};
use crate::results::AxisValue;
use crate::stats::Summary;

/// Gain at a place, in percent.
pub(super) struct Gain {
    /// Name of the place.
    pub(super) place: String,
    /// The gain of the means, with its interval by pairs of seeds.
    pub(super) percent: Summary,
}

/// The gain wherever both series have values of common seeds.
pub(super) fn gains(
    panel: &PanelData,
    series: &str,
    over: &str,
    except: &[AxisValue],
) -> Result<Vec<Gain>, String> {
    let (own, other) = (curve(panel, series)?, curve(panel, over)?);
    let counts = |datum: &Datum| !except.iter().any(|x| is_at(datum, x));
    let gain = |(a, b): (&Datum, &Datum)| Some(Gain { place: a.name.clone(), percent: paired::gain(a, b)? });
    let gains: Vec<Gain> =
        pairs(own, other).into_iter().filter(|(datum, _)| counts(datum)).filter_map(gain).collect();
    if gains.is_empty() { Err(format!("'{series}' and '{over}' have no place in common")) } else { Ok(gains) }
}

/// The finding over the places of all `panels`.
pub(super) fn between(panels: &[&PanelData], test: &GainBetween) -> Finding {
    let mut all = Vec::new();
    for panel in panels {
        all.extend(gains(panel, &test.series, &test.over, &test.except)?);
    }
    let by_gain = |a: &&Gain, b: &&Gain| a.percent.mean.total_cmp(&b.percent.mean);
    let (Some(low), Some(high)) = (all.iter().min_by(by_gain), all.iter().max_by(by_gain)) else {
        return Err("there is no gain".to_owned());
    };
    let (least, most) = (test.low - test.tolerance, test.high + test.tolerance);
    let inside = Decision::all(all.iter().map(|gain| Decision::mean_inside(&gain.percent, least, most)));
    let near = |gain: &Gain, stated: f64| match test.reach {
        Some(reach) => Decision::mean_inside(&gain.percent, stated - reach, stated + reach),
        None => Decision::Holds,
    };
    let reached = Decision::all([near(low, test.low), near(high, test.high)]);
    let mut words = format!(
        "gain {} to {}; stated {} to {}",
        said(low),
        said(high),
        percent(test.low),
        percent(test.high)
    );
    if inside == Decision::Holds && reached != Decision::Holds {
        words += "; inside the range, but its ends are not reached";
    }
    Ok((Decision::all([inside, reached]), words))
}

fn said(gain: &Gain) -> String {
    let half = gain.percent.ci95.map(|half| format!(" ± {}", short(half))).unwrap_or_default();
    format!("{}{half} (at {})", percent(gain.percent.mean), gain.place)
}

pub(super) fn at(panel: &PanelData, test: &GainAt) -> Finding {
    let (own, other) = (curve(panel, &test.series)?, curve(panel, &test.over)?);
    let pair = pairs(own, other).into_iter().find(|(datum, _)| is_at(datum, &test.x));
    let (a, b) = pair.ok_or_else(|| format!("nothing was measured at {}", test.x))?;
    let measured = paired::gain(a, b)
        .ok_or_else(|| format!("'{}' is 0 at {}, or no seed is common", test.over, test.x))?;
    let decision =
        Decision::inside(&measured, test.expected - test.tolerance, test.expected + test.tolerance);
    let gain = said(&Gain { place: test.x.to_string(), percent: measured });
    let (a, b) = (short(a.y.mean), short(b.y.mean));
    Ok((decision, format!("{gain}: {a} against {b}; stated {}", percent(test.expected))))
}

/// The finding at the places that the test names.
pub(super) fn within(panel: &PanelData, test: &GainWithin) -> Finding {
    let (own, other) = (curve(panel, &test.series)?, curve(panel, &test.over)?);
    let all = pairs(own, other);
    if let Some(missing) = test.at.iter().find(|x| !all.iter().any(|(datum, _)| is_at(datum, x))) {
        return Err(format!("nothing was measured at {missing}"));
    }
    let asked = |datum: &Datum| test.at.is_empty() || test.at.iter().any(|x| is_at(datum, x));
    let gain = |(a, b): (&Datum, &Datum)| Some(Gain { place: a.name.clone(), percent: paired::gain(a, b)? });
    let found: Vec<Gain> = all.into_iter().filter(|(datum, _)| asked(datum)).filter_map(gain).collect();
    if found.is_empty() {
        return Err(format!("'{}' is 0, or no seed is common", test.over));
    }
    let high = test.high.unwrap_or(f64::INFINITY);
    let decision = Decision::all(found.iter().map(|gain| Decision::inside(&gain.percent, test.low, high)));
    let mut words = format!("gain {}", found.iter().map(said).collect::<Vec<_>>().join(", "));
    if let Some(stated) = test.stated {
        let _ = write!(words, "; stated {}", percent(stated));
    }
    Ok((decision, words))
}
