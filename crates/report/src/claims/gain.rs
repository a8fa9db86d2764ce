//! Relative gains of one series over another.

use super::{Finding, GainAt, GainBetween, curve, gain_percent, is_at, pairs, percent, short};
use crate::figure::{Datum, PanelData};
use crate::results::AxisValue;

/// (name of the place, gain in percent) wherever both series have a value.
pub(super) fn gains(
    panel: &PanelData,
    series: &str,
    over: &str,
    except: &[AxisValue],
) -> Result<Vec<(String, f64)>, String> {
    let (own, other) = (curve(panel, series)?, curve(panel, over)?);
    let counts = |datum: &Datum| !except.iter().any(|x| is_at(datum, x));
    let gains: Vec<(String, f64)> = pairs(own, other)
        .into_iter()
        .filter(|(datum, _)| counts(datum))
        .filter_map(|pair| Some((pair.0.name.clone(), gain_percent(pair)?)))
        .collect();
    if gains.is_empty() { Err(format!("'{series}' and '{over}' have no place in common")) } else { Ok(gains) }
}

pub(super) fn between(panel: &PanelData, test: &GainBetween) -> Finding {
    let gains = gains(panel, &test.series, &test.over, &test.except)?;
    let by_gain = |a: &&(String, f64), b: &&(String, f64)| a.1.total_cmp(&b.1);
    let (Some(low), Some(high)) = (gains.iter().min_by(by_gain), gains.iter().max_by(by_gain)) else {
        return Err("there is no gain".to_owned());
    };
    let inside = low.1 >= test.low - test.tolerance && high.1 <= test.high + test.tolerance;
    let near = |measured: f64, stated: f64| test.reach.is_none_or(|reach| (measured - stated).abs() <= reach);
    let reached = near(low.1, test.low) && near(high.1, test.high);
    let mut words = format!(
        "gain {} (at {}) to {} (at {}); stated {} to {}",
        percent(low.1),
        low.0,
        percent(high.1),
        high.0,
        percent(test.low),
        percent(test.high)
    );
    if inside && !reached {
        words += "; inside the range, but its ends are not reached";
    }
    Ok((inside && reached, words))
}

pub(super) fn at(panel: &PanelData, test: &GainAt) -> Finding {
    let (own, other) = (curve(panel, &test.series)?, curve(panel, &test.over)?);
    let pair = pairs(own, other).into_iter().find(|(datum, _)| is_at(datum, &test.x));
    let pair = pair.ok_or_else(|| format!("nothing was measured at {}", test.x))?;
    let gain = gain_percent(pair).ok_or_else(|| format!("'{}' is 0 at {}", test.over, test.x))?;
    let holds = (gain - test.expected).abs() <= test.tolerance;
    let (a, b) = (short(pair.0.y.mean), short(pair.1.y.mean));
    Ok((
        holds,
        format!("{} at {} ({a} against {b}); stated {}", percent(gain), test.x, percent(test.expected)),
    ))
}
