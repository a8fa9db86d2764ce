//! Time series: JSON lines `{"point":0,"replication":0,"t_s":0.1,"metrics":{"NAME":VALUE}}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::definition::PanelDefinition;
use super::select::{Curve, Datum, MAX_CURVES, MAX_POINTS, PanelData};
use crate::ReportError;
use crate::error::listed;
use crate::results::AxisValue;
use crate::stats::Summary;

/// The most samples of a file.
pub const MAX_SAMPLES: usize = 2_000_000;

/// One moment of one run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricSample {
    /// The point of the sweep.
    #[serde(default)]
    pub point: usize,
    /// The replication.
    #[serde(default)]
    pub replication: usize,
    /// The moment.
    pub t_s: f64,
    /// Values measured then.
    pub metrics: BTreeMap<String, Option<f64>>,
}

/// A file of time series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    place: String,
    all: Vec<MetricSample>,
}

impl Samples {
    /// Reads what `panel` may show of a file of time series, or of a folder of such files with a run each.
    ///
    /// # Errors
    /// Names file and line: not to be read, a line that is no sample, more than [`MAX_SAMPLES`].
    pub fn read(path: &Path, panel: &PanelDefinition) -> Result<Self, ReportError> {
        let place = path.display().to_string();
        if !path.is_dir() {
            let text = std::fs::read_to_string(path).map_err(|source| ReportError::read(path, source))?;
            return Self::parse(&text, &place);
        }
        let mut all = Vec::new();
        for file in files_in(path)? {
            let text = std::fs::read_to_string(&file).map_err(|source| ReportError::read(&file, source))?;
            let first = text.lines().next().and_then(|line| serde_json::from_str::<MetricSample>(line).ok());
            if first.is_some_and(|first| !chosen(panel, &first, (0, 0))) {
                continue;
            }
            all.extend(Self::parse(&text, &file.display().to_string())?.all);
            if all.len() > MAX_SAMPLES {
                return Err(ReportError::item(
                    &place,
                    format!("more than {MAX_SAMPLES} samples: filter a run"),
                ));
            }
        }
        Ok(Self { place, all })
    }

    /// Parses a text.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str, place: &str) -> Result<Self, ReportError> {
        let mut all = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |message: String| ReportError::line(place, i + 1, message);
            if all.len() >= MAX_SAMPLES {
                return Err(wrong(format!("more than {MAX_SAMPLES} samples")));
            }
            all.push(
                serde_json::from_str(line).map_err(|error| wrong(format!("this is no sample: {error}")))?,
            );
        }
        Ok(Self { place: place.to_owned(), all })
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let entries = std::fs::read_dir(folder).map_err(|source| ReportError::read(folder, source))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    Ok(files)
}

/// Contents of a panel out of a file of samples: one run's metrics, or one metric of several points or
/// replications.
pub(super) fn select(id: &str, panel: &PanelDefinition, samples: &Samples) -> Result<PanelData, ReportError> {
    let wrong = |message: String| ReportError::item(id, format!("{message} ({})", samples.place));
    let series = panel.series.clone().unwrap_or_default();
    let by = series.axis.as_deref();
    let keys = panel.filter.keys().map(String::as_str).chain(by);
    if let Some(key) = keys.into_iter().find(|key| !["point", "replication"].contains(key)) {
        return Err(wrong(format!("'{key}' is not in a time series; there is point, replication")));
    }
    let wanted: Vec<(&str, &str)> = match &panel.y.metric {
        Some(metric) => vec![(metric, "")],
        None => series.metrics.iter().map(|curve| (curve.metric.as_str(), curve.name.as_str())).collect(),
    };
    let mut curves: BTreeMap<(usize, usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let usual = samples.all.first().map_or((0, 0), |first| (first.point, first.replication));
    for sample in samples.all.iter().filter(|sample| chosen(panel, sample, usual)) {
        for (i, (metric, _)) in wanted.iter().enumerate() {
            let value = value(panel, sample, metric);
            let in_view =
                |x: f64| panel.x.from.is_none_or(|from| x >= from) && panel.x.to.is_none_or(|to| x <= to);
            let at = sample.t_s * panel.x.scale;
            if let Some(value) = value.filter(|value| value.is_finite() && in_view(at)) {
                let curve = curves.entry((i, sample.point, sample.replication)).or_default();
                curve.push((at, value * panel.y.scale));
            }
        }
    }
    if curves.is_empty() || curves.len() > MAX_CURVES {
        let names: std::collections::BTreeSet<&String> =
            samples.all.iter().flat_map(|one| one.metrics.keys()).collect();
        return Err(wrong(format!(
            "{} curves; 1 to {MAX_CURVES} can be drawn; there is {}",
            curves.len(),
            listed(names)
        )));
    }
    let name = |(i, point, replication): (usize, usize, usize)| {
        let number = if by == Some("point") { point } else { replication }.to_string();
        match by {
            Some(_) => series.names.get(&number).cloned().unwrap_or(number),
            None => wanted[i].1.to_owned(),
        }
    };
    let curves =
        curves.into_iter().map(|(key, points)| Curve { name: name(key), data: thinned(points) }).collect();
    Ok(PanelData { curves, ..PanelData::default() })
}

/// True if a sample is shown: of the run `usual`, unless a filter says otherwise or the runs make the series.
fn chosen(panel: &PanelDefinition, sample: &MetricSample, usual: (usize, usize)) -> bool {
    let draws = |value: &AxisValue| panel.series.as_ref().is_some_and(|series| series.draws(value));
    let fits = |key: &str, found: usize, usual: usize| match panel.filter.get(key) {
        Some(value) => value == &AxisValue::Number(found as f64),
        None if is_series(panel, key) => draws(&AxisValue::Number(found as f64)),
        None => found == usual,
    };
    fits("point", sample.point, usual.0) && fits("replication", sample.replication, usual.1)
}

fn is_series(panel: &PanelDefinition, key: &str) -> bool {
    panel.series.as_ref().is_some_and(|series| series.axis.as_deref() == Some(key))
}

fn value(panel: &PanelDefinition, sample: &MetricSample, metric: &str) -> Option<f64> {
    let value = sample.metrics.get(metric).copied().flatten()?;
    match &panel.y.divided_by {
        None => Some(value),
        Some(divisor) => Some(value / sample.metrics.get(divisor).copied().flatten()?),
    }
}

/// At most [`MAX_POINTS`]: of each stretch of a longer series its lowest and its highest value, so that no
/// peak is lost.
fn thinned(mut points: Vec<(f64, f64)>) -> Vec<Datum> {
    points.retain(|(x, _)| x.is_finite());
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let stretch = (points.len() * 2).div_ceil(MAX_POINTS).max(2);
    let kept: Vec<(f64, f64)> =
        if points.len() <= MAX_POINTS { points } else { points.chunks(stretch).flat_map(extremes).collect() };
    let datum = |(x, y): (f64, f64)| {
        Some(Datum { x, name: super::ticks::plain(x), y: Summary::of(&[y])?, runs: Vec::new() })
    };
    kept.into_iter().filter_map(datum).collect()
}

fn extremes(stretch: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let low = (0..stretch.len()).min_by(|a, b| stretch[*a].1.total_cmp(&stretch[*b].1));
    let high = (0..stretch.len()).max_by(|a, b| stretch[*a].1.total_cmp(&stretch[*b].1));
    let mut places: Vec<usize> = low.into_iter().chain(high).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|place| stretch[place]).collect()
}

#[cfg(test)]
mod samples_tests;
