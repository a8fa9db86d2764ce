//! Tables of a sweep.

use super::{Column, Table};
use crate::results::Results;
use crate::stats::Summary;

impl Table {
    /// Every number of a sweep, for programs: a row for each point and metric, in base units, with all digits.
    ///
    /// Columns: `point`, the axes, `metric`, `n`, `mean`, `sd`, `ci95`, `min`, `max`. What one run alone cannot tell is
    /// empty. `metrics` chooses and orders; empty means all.
    pub fn of_summaries(results: &Results, metrics: &[String]) -> Self {
        let metrics = chosen(results, metrics);
        let mut columns = vec![Column { title: "point".to_owned(), numeric: true }];
        columns.extend(axes(results));
        columns.push(Column { title: "metric".to_owned(), numeric: false });
        columns.extend(number_columns());
        let mut table = Self { columns, rows: Vec::new() };
        for point in 0..results.points() {
            for metric in &metrics {
                let Some(summary) = results.summary(point, metric) else {
                    continue;
                };
                let mut row = vec![point.to_string()];
                row.extend(coordinates(results, point));
                row.push(metric.clone());
                row.extend(numbers(&summary));
                table.push(row);
            }
        }
        table
    }

    /// The means of a sweep, for people: a row for each point, a column `mean ± ci95` for each metric.
    pub fn of_means(results: &Results, metrics: &[String]) -> Self {
        let metrics = chosen(results, metrics);
        let mut columns = axes(results);
        columns.extend(metrics.iter().map(|metric| Column { title: metric.clone(), numeric: true }));
        let mut table = Self { columns, rows: Vec::new() };
        for point in 0..results.points() {
            let mut row = coordinates(results, point);
            let cell = |metric: &String| {
                results.summary(point, metric).map_or_else(String::new, |value| with_interval(&value))
            };
            row.extend(metrics.iter().map(cell));
            table.push(row);
        }
        table
    }
}

fn chosen(results: &Results, metrics: &[String]) -> Vec<String> {
    if metrics.is_empty() {
        results.metrics().into_iter().map(str::to_owned).collect()
    } else {
        metrics.to_vec()
    }
}

fn axes(results: &Results) -> Vec<Column> {
    let column = |axis: &crate::results::Axis| Column {
        title: axis.key.clone(),
        numeric: axis.values.iter().all(|value| value.number().is_some()),
    };
    results.header.axes.iter().map(column).collect()
}

fn coordinates(results: &Results, point: usize) -> Vec<String> {
    let at = results.coordinates(point);
    let cell = |axis: &crate::results::Axis| at.get(&axis.key).map(ToString::to_string).unwrap_or_default();
    results.header.axes.iter().map(cell).collect()
}

pub(super) fn number_columns() -> impl Iterator<Item = Column> {
    ["n", "mean", "sd", "ci95", "min", "max"]
        .into_iter()
        .map(|title| Column { title: title.to_owned(), numeric: true })
}

/// The cells of [`number_columns`], with all digits.
pub(super) fn numbers(summary: &Summary) -> [String; 6] {
    let known = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let Summary { n, mean, sd, ci95, min, max } = summary;
    [n.to_string(), mean.to_string(), known(*sd), known(*ci95), min.to_string(), max.to_string()]
}

/// `mean ± ci95` with as many digits as the interval has a meaning for: two of the interval, four of a mean without one.
pub(crate) fn with_interval(summary: &Summary) -> String {
    let (mean, digits) = (summary.mean, |value: f64| libm::floor(libm::log10(value.abs())));
    match summary.ci95 {
        Some(half) if half > 0.0 && half.is_finite() => {
            let decimals = (1.0 - digits(half)).clamp(0.0, 12.0) as usize;
            format!("{mean:.decimals$} ± {half:.decimals$}")
        }
        _ if mean == 0.0 || !mean.is_finite() => format!("{mean}"),
        _ => {
            let decimals = (3.0 - digits(mean)).clamp(0.0, 12.0) as usize;
            format!("{mean:.decimals$}")
        }
    }
}
