//! The obvious pictures of a sweep.

use std::path::Path;

use skyhaul_report::{Figure, ReportPage, Results, Table, obvious_figures, write_report};
use skyhaul_scenario::File;
use skyhaul_sim::is_metric;

use super::shown::{headline, shown_metrics};
use crate::failure::Failure;
use crate::output::note;

/// Refuses what is known to have no picture before anything runs.
pub(super) fn check(file: &File, metrics: &[String]) -> Result<(), Failure> {
    let Some(metric) = metrics.first() else { return Ok(()) };
    if file.axes().iter().all(|axis| axis.labels().len() < 2) {
        return Err(Failure::usage(format!(
            "--plot {metric}: the sweep has one point, and that makes no picture; give it an axis, in the scenario's \
             [sweep] or like --set 'sweep.\"links.NAME.forward.loss\"=[0, 0.01]'"
        )));
    }
    if let Some(metric) = metrics.iter().find(|metric| !is_metric(metric)) {
        return Err(Failure::usage(format!(
            "--plot {metric}: there is no such metric; docs/guide/metrics.md lists them all"
        )));
    }
    match metrics.iter().find(|metric| !file.settings().wanted.matches(metric)) {
        Some(metric) => Err(Failure::usage(format!(
            "--plot {metric}: the scenario does not want this metric; add it to 'wanted' in [metrics]"
        ))),
        None => Ok(()),
    }
}

/// Figures of each metric.
pub(super) fn figures(results: &Results, metrics: &[String]) -> Result<Vec<Figure>, Failure> {
    let mut all = Vec::new();
    for metric in metrics {
        all.extend(obvious_figures(results, metric)?);
    }
    Ok(all)
}

/// A report page with them.
pub(super) fn write(out: &Path, results: &Results, metrics: &[String]) -> Result<(), Failure> {
    let report = ReportPage {
        title: results.header.title.clone(),
        introduction: vec![headline(results)],
        figures: figures(results, metrics)?,
        tables: vec![("Measured".to_string(), Table::of_statistics(results, &shown_metrics(results)))],
        ..ReportPage::default()
    };
    let page = write_report(out, &report)?;
    note(&format!("figures: {}", page.display()));
    Ok(())
}
