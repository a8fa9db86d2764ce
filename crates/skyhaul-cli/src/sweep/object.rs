//! The object that `--json` prints (`docs/guide/json.md`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use skyhaul_report::results::{Axis, AxisValue, Run};
use skyhaul_report::{Results, Summary};

/// Runs that are listed of those that failed, and of those with flows that did not work.
const LISTED_FAILURES: usize = 256;

#[derive(Serialize)]
struct SweepObject<'a> {
    scenario: &'a str,
    title: &'a str,
    version: &'a str,
    digest: &'a str,
    seed: u64,
    replications: usize,
    runs: usize,
    missing_runs: usize,
    failed_runs: usize,
    failures: Vec<Failed<'a>>,
    troubled_runs: usize,
    troubles: Vec<Troubled<'a>>,
    axes: Vec<AxisObject<'a>>,
    points: Vec<PointObject<'a>>,
}

#[derive(Serialize)]
struct AxisObject<'a> {
    key: &'a str,
    values: Vec<Value>,
}

#[derive(Serialize)]
struct Failed<'a> {
    point: usize,
    replication: usize,
    seed: u64,
    error: &'a str,
}

#[derive(Serialize)]
struct Troubled<'a> {
    point: usize,
    replication: usize,
    seed: u64,
    trouble: &'a str,
}

#[derive(Serialize)]
struct PointObject<'a> {
    point: usize,
    set: BTreeMap<&'a str, Value>,
    metrics: BTreeMap<&'a str, Summary>,
}

/// One line.
pub(super) fn object(results: &Results) -> String {
    let header = &results.header;
    let failed = || results.failed();
    let metrics = results.metrics();
    let object = SweepObject {
        scenario: &header.scenario,
        title: &header.title,
        version: &header.version,
        digest: &header.digest,
        seed: header.seed,
        replications: header.replications,
        runs: results.runs.len(),
        missing_runs: results.missing(),
        failed_runs: failed().count(),
        failures: failed().take(LISTED_FAILURES).map(failure).collect(),
        troubled_runs: results.troubled().count(),
        troubles: results.troubled().take(LISTED_FAILURES).map(trouble).collect(),
        axes: header.axes.iter().map(axis).collect(),
        points: (0..header.points).map(|number| point(results, &metrics, number)).collect(),
    };
    serde_json::to_string(&object).unwrap_or_default() + "\n"
}

fn failure(run: &Run) -> Failed<'_> {
    let error = run.error.as_deref().unwrap_or_default();
    Failed { point: run.point, replication: run.replication, seed: run.seed, error }
}

fn trouble(run: &Run) -> Troubled<'_> {
    let trouble = run.trouble.as_deref().unwrap_or_default();
    Troubled { point: run.point, replication: run.replication, seed: run.seed, trouble }
}

fn point<'a>(results: &'a Results, metrics: &BTreeSet<&'a str>, point: usize) -> PointObject<'a> {
    let summary = |metric: &'a str| Some((metric, results.summary(point, metric)?));
    let set = results.coordinates(point).iter().map(|(key, found)| (key.as_str(), value(found)));
    let metrics = metrics.iter().copied().filter_map(summary).collect();
    PointObject { point, set: set.collect(), metrics }
}

fn axis(axis: &Axis) -> AxisObject<'_> {
    AxisObject { key: &axis.key, values: axis.values.iter().map(value).collect() }
}

/// Value as the result file has it: integers stay integers.
fn value(value: &AxisValue) -> Value {
    match value {
        AxisValue::Switch(on) => (*on).into(),
        AxisValue::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => (*number as i64).into(),
        AxisValue::Number(number) => (*number).into(),
        AxisValue::Text(text) => text.clone().into(),
        AxisValue::Other(other) => other.clone(),
    }
}
