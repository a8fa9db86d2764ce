//! The obvious picture of a sweep: the axis with the most numbers to the right, the next as curves, others as
//! panels.

use std::collections::BTreeMap;

use crate::ReportError;
use crate::error::listed;
use crate::figure::definition::{
    FigureDefinition, FigureKind, MAX_PANELS, PanelDefinition, SeriesDefinition, XDefinition, YDefinition,
};
use crate::figure::{Figure, MAX_CURVES};
use crate::results::{Axis, AxisValue, Results};
use crate::stats::Statistic;
use crate::words::{label, words};

/// The most figures that are drawn unasked.
const MAX_FIGURES: usize = 8;

/// The obvious figures of `metric`: the axis with the most numbers lies to the right (bars over the first
/// axis if none has two numbers), the next axis makes the curves, each combination of the others is a panel.
///
/// # Errors
/// A sweep without axes; a metric that no run has; more panels than can be drawn: write a definition with a
/// filter then.
pub fn obvious_figures(results: &Results, metric: &str) -> Result<Vec<Figure>, ReportError> {
    let wrong = |message: String| ReportError::item(&format!("a figure of {metric}"), message);
    let axes: Vec<&Axis> = results.header.axes.iter().filter(|axis| axis.values.len() > 1).collect();
    let Some(x) = horizontal(&axes) else {
        return Err(wrong("a sweep of one point has no obvious figure: give it an axis".to_owned()));
    };
    if !results.metrics().contains(metric) {
        return Err(wrong(format!("no run has it; there is {}", listed(results.metrics()))));
    }
    let fits = |axis: &&&Axis| axis.key != x.key && axis.values.len() <= MAX_CURVES;
    let series = axes.iter().find(fits).copied();
    let others =
        axes.iter().filter(|axis| axis.key != x.key && series.is_none_or(|series| series.key != axis.key));
    let mut filters: Vec<BTreeMap<String, AxisValue>> = vec![BTreeMap::new()];
    for axis in others {
        filters = filters.iter().flat_map(|filter| with_each(filter, axis)).collect();
        if filters.len() > MAX_PANELS * MAX_FIGURES {
            let message =
                format!("more than {} panels; write a definition with a filter", MAX_PANELS * MAX_FIGURES);
            return Err(wrong(message));
        }
    }
    let kind = if numbers(x) > 1 { FigureKind::Line } else { FigureKind::Bar };
    let panels: Vec<PanelDefinition> =
        filters.iter().map(|filter| panel(results, metric, x, series, filter)).collect();
    let groups: Vec<&[PanelDefinition]> = panels.chunks(MAX_PANELS).collect();
    let figure = |(i, panels): (usize, &&[PanelDefinition])| {
        let part = if groups.len() > 1 { format!("-{}", i + 1) } else { String::new() };
        let definition = FigureDefinition {
            id: file_name(&format!("{metric}{part}")),
            title: format!("{}: {}", title(results), words(metric)),
            kind,
            caption: None,
            panel: None,
            panels: panels.to_vec(),
            ladder: None,
            drawing: None,
        };
        Figure::from_results(&definition, results)
    };
    groups.iter().enumerate().map(figure).collect()
}

fn numbers(axis: &Axis) -> usize {
    axis.values.iter().filter(|value| value.number().is_some()).count()
}

/// The first of the axes with the most numbers; the first axis if none has two.
fn horizontal<'a>(axes: &[&'a Axis]) -> Option<&'a Axis> {
    let most = axes.iter().map(|axis| numbers(axis)).max()?;
    let whole = |axis: &&&Axis| numbers(axis) == most && most > 1 && most == axis.values.len();
    axes.iter().find(whole).or(axes.first()).copied()
}

fn with_each(filter: &BTreeMap<String, AxisValue>, axis: &Axis) -> Vec<BTreeMap<String, AxisValue>> {
    let with = |value: &AxisValue| {
        let mut filter = filter.clone();
        filter.insert(axis.key.clone(), value.clone());
        filter
    };
    axis.values.iter().map(with).collect()
}

fn panel(
    results: &Results,
    metric: &str,
    x: &Axis,
    series: Option<&Axis>,
    filter: &BTreeMap<String, AxisValue>,
) -> PanelDefinition {
    let fixed: Vec<String> = filter.iter().map(|(key, value)| format!("{} = {value}", words(key))).collect();
    PanelDefinition {
        title: (!fixed.is_empty()).then(|| fixed.join(", ")),
        results: results.place.clone(),
        x: XDefinition {
            only: Vec::new(),
            axis: Some(x.key.clone()),
            label: label(&x.key),
            unit: unit_of(x).map(str::to_owned),
            scale: 1.0,
            log: spans_decades(x),
            from: None,
            to: None,
            names: BTreeMap::new(),
        },
        y: vertical(results, metric),
        series: series
            .map(|axis| SeriesDefinition { axis: Some(axis.key.clone()), ..SeriesDefinition::default() }),
        filter: filter.clone(),
        marks: Vec::new(),
        reference: Vec::new(),
    }
}

/// The base unit of an axis of quantities, told by how its first value is written.
fn unit_of(axis: &Axis) -> Option<&'static str> {
    match axis.values.first()? {
        AxisValue::Text(text) if text.ends_with("bit/s") => Some("bit/s"),
        AxisValue::Text(text) if text.ends_with('B') => Some("B"),
        AxisValue::Text(text) if text.ends_with('s') && !text.ends_with("packets") => Some("s"),
        _ => None,
    }
}

/// Numbers above 0 over two decades and more are read on a logarithmic axis.
fn spans_decades(axis: &Axis) -> bool {
    let values = || axis.values.iter().filter_map(AxisValue::number);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    numbers(axis) == axis.values.len() && low > 0.0 && high >= 99.0 * low
}

/// The unit is the end of a metric's name; rates and sizes are shown in thousands or millions.
fn vertical(results: &Results, metric: &str) -> YDefinition {
    let means = (0..results.points()).filter_map(|point| results.summary(point, metric));
    let largest = means.map(|summary| summary.mean.abs()).fold(0.0, f64::max);
    let prefixed = |units: [&'static str; 3]| match largest {
        size if size >= 1e6 => (units[2], 1e-6),
        size if size >= 1e3 => (units[1], 1e-3),
        _ => (units[0], 1.0),
    };
    let has = |part: &str| metric.ends_with(part) || metric.contains(&format!("{part}."));
    let (unit, scale) = if has("_bps") {
        prefixed(["bit/s", "kbit/s", "Mbit/s"])
    } else if has("bytes") {
        prefixed(["B", "kB", "MB"])
    } else if has("_percent") {
        ("%", 1.0)
    } else if has("_ms") {
        ("ms", 1.0)
    } else if has("_s") {
        ("s", 1.0)
    } else {
        ("", 1.0)
    };
    YDefinition {
        metric: Some(metric.to_owned()),
        divided_by: None,
        times_x: false,
        label: label(metric),
        unit: (!unit.is_empty()).then(|| unit.to_owned()),
        scale,
        statistic: Statistic::Mean,
        log: false,
        from: None,
        to: None,
    }
}

fn title(results: &Results) -> &str {
    let header = &results.header;
    if header.title.is_empty() { &header.scenario } else { &header.title }
}

fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.trim_start_matches('.').chars().map(safe).take(64).collect()
}

#[cfg(test)]
mod obvious_tests;
