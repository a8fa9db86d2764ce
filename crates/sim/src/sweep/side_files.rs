//! Files beside the results: time series, packets for ladder diagrams; one of each for a run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::RunId;
use super::save::json_line;
use crate::measure::Sample;
use crate::simulate::Measured;
use skyhaul_scenario::Scenario;

/// Folder of time series.
pub const SERIES: &str = "series";
/// Folder of packets for ladder diagrams.
pub const LADDERS: &str = "ladders";

/// File that a run leaves beside its line.
#[derive(Clone, Debug)]
pub struct SideFile {
    /// [`SERIES`] or [`LADDERS`].
    pub folder: &'static str,
    /// JSON lines.
    pub text: String,
}

/// Files that the scenario wants.
pub(super) fn of_run(id: RunId, scenario: &Scenario, measured: &Measured) -> Vec<SideFile> {
    let wants = &scenario.metrics;
    let series = wants.series_ns.map(|_| SideFile { folder: SERIES, text: samples(id, &measured.series) });
    let ladder = || measured.ladder.iter().map(json_line).collect();
    let ladder = wants.ladder.then(|| SideFile { folder: LADDERS, text: ladder() });
    series.into_iter().chain(ladder).collect()
}

#[derive(Serialize)]
struct Line<'a> {
    point: usize,
    replication: u32,
    t_s: f64,
    metrics: &'a BTreeMap<String, f64>,
}

/// Samples of a run: `{"point":0,"replication":0,"t_s":0.1,"metrics":{"NAME":VALUE}}`.
fn samples(id: RunId, samples: &[Sample]) -> String {
    let RunId { point, replication } = id;
    let mut text = String::new();
    for sample in samples {
        let line = Line { point, replication, t_s: sample.at_s, metrics: &sample.values };
        text.push_str(&json_line(&line));
    }
    text
}

/// Name of a file of this run.
pub(super) fn file_name(id: RunId) -> String {
    format!("point-{}-replication-{}.jsonl", id.point, id.replication)
}
