//! Tables of a sweep.

use super::{Column, Table};
use crate::results::Results;
use crate::stats::Summary;

impl Table {
    /// Every number of a sweep, for programs: a row for each point and metric, in base units, with all
    /// digits.
    ///
    /// Columns: `point`, the axes, `metric`, `n`, `mean`, `sd`, `ci95`, `min`, `max`, `median`. What one run
    /// alone cannot tell is empty. `metrics` chooses and orders; empty means all.
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

    /// The statistics of a sweep, for people: a row for each point and metric with the mean, half of its 95 %
    /// interval, the deviation and the number of runs, in as many digits as have a meaning. The axes stand in
    /// the first row of a point.
    pub fn of_statistics(results: &Results, metrics: &[String]) -> Self {
        let metrics = chosen(results, metrics);
        let mut columns = axes(results);
        columns.push(Column { title: "metric".to_owned(), numeric: false });
        let titles = ["mean", "± 95 %", "sd", "runs"];
        columns.extend(titles.map(|title| Column { title: title.to_owned(), numeric: true }));
        let mut table = Self { columns, rows: Vec::new() };
        for point in 0..results.points() {
            let mut row = coordinates(results, point);
            for metric in &metrics {
                let Some(summary) = results.summary(point, metric) else {
                    continue;
                };
                row.push(metric.clone());
                row.extend(rounded(&summary));
                table.push(std::mem::replace(&mut row, vec![String::new(); results.header.axes.len()]));
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
    ["n", "mean", "sd", "ci95", "min", "max", "median"]
        .into_iter()
        .map(|title| Column { title: title.to_owned(), numeric: true })
}

/// The cells of [`number_columns`], with all digits.
pub(super) fn numbers(summary: &Summary) -> [String; 7] {
    let known = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let Summary { n, mean, sd, ci95, min, max, median } = summary;
    let [mean, min, max, median] = [mean, min, max, median].map(ToString::to_string);
    [n.to_string(), mean, known(*sd), known(*ci95), min, max, median]
}

/// `mean ± ci95` with as many digits as the interval has a meaning for: two of the interval, four of a mean
/// without one.
pub(crate) fn with_interval(summary: &Summary) -> String {
    match rounded(summary) {
        [mean, half, _, _] if half.is_empty() || summary.ci95 == Some(0.0) => mean,
        [mean, half, _, _] => format!("{mean} ± {half}"),
    }
}

/// Mean, half of the interval, deviation, number of values: two digits of the interval and what stands above
/// them of the others, four digits of a mean without an interval; whole numbers that are always the same are
/// written as such.
fn rounded(summary: &Summary) -> [String; 4] {
    let Summary { n, mean, sd, ci95, .. } = *summary;
    let last =
        |value: f64, digits: f64| (digits - 1.0 - libm::floor(libm::log10(value.abs()))).clamp(0.0, 12.0);
    let decimals = match ci95 {
        Some(half) if half > 0.0 && half.is_finite() => last(half, 2.0),
        _ if mean.fract() == 0.0 || !mean.is_finite() => 0.0,
        _ => last(mean, 4.0),
    } as usize;
    let show = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.decimals$}") };
    let known = |value: Option<f64>| value.map(show).unwrap_or_default();
    [if mean.is_finite() { show(mean) } else { mean.to_string() }, known(ci95), known(sd), n.to_string()]
}
