//! Takes out of the results what a panel shows. Claims judge the same numbers that a figure draws.

use super::definition::{FigureKind, MetricCurve, PanelDefinition, YDefinition};
use crate::ReportError;
use crate::error::listed;
use crate::results::{AxisValue, Results, Run};
use crate::stats::{Statistic, Summary};

/// The most curves of a panel.
pub const MAX_CURVES: usize = 16;
/// The most points of a curve.
pub const MAX_POINTS: usize = 2000;

/// A value of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Datum {
    /// Where on the horizontal axis, in the shown unit; the place in the list for words.
    pub x: f64,
    /// The value of the axis as people read it, in the shown unit.
    pub name: String,
    /// Values measured there, in the shown unit.
    pub y: Summary,
    /// The same values with the seeds of their runs, in the order of the runs; empty for a time series, whose
    /// values are one run's.
    pub runs: Vec<(u64, f64)>,
}

/// A curve, or the bars of one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend; empty if there is but one.
    pub name: String,
    /// Its values from left to right.
    pub data: Vec<Datum>,
}

/// Contents of a panel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PanelData {
    /// The curves in the order of the sweep.
    pub curves: Vec<Curve>,
    /// The names on a horizontal axis of words; empty if it has numbers.
    pub categories: Vec<String>,
    /// Statistic that is drawn of each sample.
    pub statistic: Statistic,
    /// Remarks: failed and missing runs, points without a value.
    pub notes: Vec<String>,
}

/// Selects what `panel` of figure `id`, of this kind, shows out of `results`. Bars and tables take the axis
/// as words even if it has numbers; dots may lie at one place.
pub(super) fn select(
    id: &str,
    panel: &PanelDefinition,
    results: &Results,
    kind: FigureKind,
) -> Result<PanelData, ReportError> {
    let in_words = matches!(kind, FigureKind::Bar | FigureKind::Table);
    let wrong = |message: String| ReportError::item(id, format!("{} ({})", message, results.place));
    let x_key = panel.x.axis.as_deref().ok_or_else(|| wrong("x.axis is missing".to_owned()))?;
    let series_key = panel.series.as_ref().and_then(|series| series.axis.as_deref());
    for key in [Some(x_key), series_key].into_iter().flatten().chain(panel.filter.keys().map(String::as_str))
    {
        if !results.keys().contains(&key) {
            return Err(wrong(format!(
                "'{key}' is no axis of the sweep; there is {}",
                listed(results.keys())
            )));
        }
    }
    let points: Vec<usize> = (0..results.points()).filter(|point| matches(panel, results, *point)).collect();
    if points.is_empty() {
        let filter = listed(panel.filter.iter().map(|(key, value)| format!("{key} = {value}")));
        return Err(wrong(format!("no point of the sweep has {filter}")));
    }
    let axis = XAxis::of(panel, results, &points, x_key, in_words).map_err(wrong)?;
    let (categories, statistic) = (axis.words.clone(), panel.y.statistic);
    let mut data = PanelData { categories, statistic, ..PanelData::default() };
    for curve in curves_of(panel, results, &points, series_key) {
        data.curves.push(fill((panel, kind), results, &axis, curve, &mut data.notes).map_err(wrong)?);
    }
    if data.curves.len() > MAX_CURVES {
        return Err(wrong(format!("{} curves; at most {MAX_CURVES} fit: filter an axis", data.curves.len())));
    }
    if data.curves.iter().all(|curve| curve.data.is_empty()) {
        return Err(wrong(format!("no run has the metric; there is {}", listed(results.metrics()))));
    }
    note_runs(results, &points, &mut data.notes);
    Ok(data)
}

fn matches(panel: &PanelDefinition, results: &Results, point: usize) -> bool {
    let at = results.coordinates(point);
    let is_drawn = |found: &AxisValue| panel.x.only.iter().any(|wanted| same(found, wanted));
    let x = panel.x.axis.as_deref().and_then(|key| at.get(key));
    (panel.x.only.is_empty() || x.is_some_and(is_drawn))
        && panel.filter.iter().all(|(key, value)| at.get(key).is_some_and(|found| same(found, value)))
}

/// Equal values, or equal quantities in other words: `0.1` and `"100ms"` on an axis of times.
fn same(found: &AxisValue, wanted: &AxisValue) -> bool {
    found == wanted
        || matches!((found.number(), wanted.number()), (Some(a), Some(b)) if a.total_cmp(&b).is_eq())
}

/// The horizontal axis: numbers, or words in the order of the sweep.
struct XAxis<'a> {
    key: &'a str,
    words: Vec<String>,
    values: Vec<AxisValue>,
    scale: f64,
}

impl<'a> XAxis<'a> {
    fn of(
        panel: &PanelDefinition,
        results: &Results,
        points: &[usize],
        key: &'a str,
        in_words: bool,
    ) -> Result<Self, String> {
        let mut values: Vec<AxisValue> = Vec::new();
        for value in points.iter().filter_map(|point| results.coordinates(*point).get(key)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
            if values.len() > MAX_POINTS {
                return Err(format!("'{key}' has more than {MAX_POINTS} values"));
            }
        }
        let numeric = values.iter().all(|value| value.number().is_some());
        let scale = panel.x.scale;
        let shown = |value: &AxisValue| match (panel.x.names.get(&value.to_string()), value.number()) {
            (Some(name), _) => name.clone(),
            (None, Some(number)) => super::ticks::plain(number * scale),
            (None, None) => value.to_string(),
        };
        let words = if numeric && !in_words { Vec::new() } else { values.iter().map(shown).collect() };
        if panel.x.log
            && (in_words || values.iter().any(|value| value.number().is_none_or(|x| x * scale <= 0.0)))
        {
            return Err(format!("'{key}' has values that a logarithmic axis cannot show"));
        }
        Ok(Self { key, words, values, scale })
    }

    fn place(&self, value: &AxisValue) -> Option<(f64, String)> {
        if self.words.is_empty() {
            let x = value.number()? * self.scale;
            return Some((x, super::ticks::plain(x)));
        }
        let place = self.values.iter().position(|known| known == value)?;
        Some((place as f64, self.words[place].clone()))
    }
}

/// A curve before its values are known.
struct CurveSource {
    name: String,
    metric: String,
    points: Vec<usize>,
}

fn curves_of(
    panel: &PanelDefinition,
    results: &Results,
    points: &[usize],
    key: Option<&str>,
) -> Vec<CurveSource> {
    let metric = panel.y.metric.clone().unwrap_or_default();
    let metrics = panel.series.iter().flat_map(|series| &series.metrics);
    let by_metric: Vec<CurveSource> = metrics
        .map(|MetricCurve { metric, name }| CurveSource {
            name: name.clone(),
            metric: metric.clone(),
            points: points.to_vec(),
        })
        .collect();
    if !by_metric.is_empty() {
        return by_metric;
    }
    let Some(key) = key else {
        return vec![CurveSource { name: String::new(), metric, points: points.to_vec() }];
    };
    let mut curves: Vec<(&AxisValue, CurveSource)> = Vec::new();
    for point in points {
        let drawn = |value: &&AxisValue| panel.series.as_ref().is_none_or(|series| series.draws(value));
        let Some(value) = results.coordinates(*point).get(key).filter(drawn) else {
            continue;
        };
        if let Some((_, curve)) = curves.iter_mut().find(|(known, _)| *known == value) {
            curve.points.push(*point);
        } else {
            let names = panel.series.as_ref().map(|series| &series.names);
            let word = value.to_string();
            let name = names.and_then(|names| names.get(&word)).cloned().unwrap_or(word);
            curves.push((value, CurveSource { name, metric: metric.clone(), points: vec![*point] }));
        }
    }
    curves.into_iter().map(|(_, curve)| curve).collect()
}

fn fill(
    (panel, kind): (&PanelDefinition, FigureKind),
    results: &Results,
    axis: &XAxis<'_>,
    source: CurveSource,
    notes: &mut Vec<String>,
) -> Result<Curve, String> {
    let mut data: Vec<Datum> = Vec::new();
    for point in &source.points {
        let coordinates = results.coordinates(*point);
        let Some((x, name)) = coordinates.get(axis.key).and_then(|value| axis.place(value)) else {
            continue;
        };
        if kind != FigureKind::Dots && data.iter().any(|datum| datum.x.total_cmp(&x).is_eq()) {
            return Err(format!(
                "several points of the sweep lie at {} = {name}{}; hold the other axes by a filter, or make one the series; \
                 there is {}",
                axis.key,
                if source.name.is_empty() { String::new() } else { format!(" of '{}'", source.name) },
                listed(results.keys())
            ));
        }
        let samples = samples(&panel.y, &source.metric, results.runs_of(*point));
        let values: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
        match Summary::of(&values) {
            Some(y) => {
                let scale = panel.y.scale * if panel.y.times_x { x } else { 1.0 };
                let runs = samples.into_iter().map(|(seed, value)| (seed, value * scale)).collect();
                data.push(Datum { x, name, y: y.scaled(scale), runs });
            }
            // A dot that is not there is no gap in a curve.
            None if kind == FigureKind::Dots => {}
            None => notes.push(format!("no value of {} at {} = {name}", source.metric, axis.key)),
        }
    }
    data.sort_by(|a, b| a.x.total_cmp(&b.x));
    Ok(Curve { name: source.name, data })
}

/// (seed, value) of every run that has a finite one.
fn samples(y: &YDefinition, metric: &str, runs: &[Run]) -> Vec<(u64, f64)> {
    let one = |run: &Run| {
        let value = run.metric(metric)?;
        match &y.divided_by {
            None => Some(value),
            Some(divisor) => {
                run.metric(divisor).filter(|divisor| *divisor != 0.0).map(|divisor| value / divisor)
            }
        }
    };
    let value = |run: &Run| Some((run.seed, one(run).filter(|value| value.is_finite())?));
    runs.iter().filter_map(value).collect()
}

fn note_runs(results: &Results, points: &[usize], notes: &mut Vec<String>) {
    let runs = || points.iter().flat_map(|point| results.runs_of(*point));
    let failed = runs().filter(|run| run.error.is_some()).count();
    if failed > 0 {
        notes.push(format!("runs that failed and are left out: {failed}"));
    }
    let wanted = points.len() * results.header.replications;
    let missing = wanted.saturating_sub(runs().count());
    if missing > 0 {
        notes.push(format!("runs that are missing, since the sweep is not complete: {missing} of {wanted}"));
    }
}
