//! Result files: what a sweep wrote, one line a run.

mod read;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

pub use read::{MAX_LINE_BYTES, MAX_RUNS, parse_results, read_results};
pub use value::AxisValue;

use crate::stats::Summary;

#[cfg(test)]
pub(crate) mod results_tests;

/// An axis of a sweep.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Axis {
    /// The key of the scenario that it varies, or the axis' name.
    pub key: String,
    /// Its values, in the order of the sweep.
    pub values: Vec<AxisValue>,
}

/// The first line of a result file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ResultsHeader {
    /// Version of the format; this crate reads 1.
    pub skyhaul_results: u32,
    /// Version of skyhaul that ran it.
    #[serde(default)]
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title.
    #[serde(default)]
    pub title: String,
    /// Digest of the resolved scenario.
    #[serde(default)]
    pub digest: String,
    /// Which metrics were asked for; empty: all.
    #[serde(default)]
    pub wanted: Vec<String>,
    /// The axes; the last one varies fastest.
    #[serde(default)]
    pub axes: Vec<Axis>,
    /// How many points the sweep has.
    pub points: usize,
    /// How many runs a point has.
    pub replications: usize,
    /// The first seed.
    #[serde(default)]
    pub seed: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Run {
    /// The point, from 0.
    pub point: usize,
    /// The replication, from 0.
    pub replication: usize,
    /// Its seed.
    pub seed: u64,
    /// Keys that the point sets.
    #[serde(default)]
    pub set: BTreeMap<String, AxisValue>,
    /// How the run ended.
    #[serde(default)]
    pub ended: Option<String>,
    /// Measured values; a metric that is absent or null did not apply.
    #[serde(default)]
    pub metrics: BTreeMap<String, Option<f64>>,
    /// Why the run failed, if it did.
    #[serde(default)]
    pub error: Option<String>,
    /// Why a flow of a run that counts did not work, if so.
    #[serde(default)]
    pub trouble: Option<String>,
}

impl Run {
    /// A metric of this run, unless it failed or the metric did not apply.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let value = self.metrics.get(name).copied().flatten();
        value.filter(|value| self.error.is_none() && value.is_finite())
    }
}

/// A result file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Where it came from, for messages.
    pub place: String,
    /// Its first line.
    pub header: ResultsHeader,
    /// Its runs by (point, replication), whatever their order in the file.
    pub runs: Vec<Run>,
    /// The line at which a file of an interrupted sweep breaks off; it was left out.
    pub torn_line: Option<usize>,
    /// Keys that each point sets, over the axes and over every key that a run names.
    coordinates: Vec<BTreeMap<String, AxisValue>>,
}

impl Results {
    /// How many points the sweep has.
    pub fn points(&self) -> usize {
        self.coordinates.len()
    }

    /// Keys that point `point` sets, by axis; empty for a point that does not exist.
    pub fn coordinates(&self, point: usize) -> &BTreeMap<String, AxisValue> {
        const NOTHING: &BTreeMap<String, AxisValue> = &BTreeMap::new();
        self.coordinates.get(point).unwrap_or(NOTHING)
    }

    /// The runs of one point, by replication.
    pub fn runs_of(&self, point: usize) -> &[Run] {
        let start = self.runs.partition_point(|run| run.point < point);
        let end = self.runs.partition_point(|run| run.point <= point);
        &self.runs[start..end]
    }

    /// A metric at one point over its replications; none if no run has it.
    pub fn summary(&self, point: usize, metric: &str) -> Option<Summary> {
        let values: Vec<f64> = self.runs_of(point).iter().filter_map(|run| run.metric(metric)).collect();
        Summary::of(&values)
    }

    /// Every key that a point sets: the axes in their order, then keys that only runs name.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = self.header.axes.iter().map(|axis| axis.key.as_str()).collect();
        let others: BTreeSet<&str> = self.coordinates.iter().flatten().map(|(key, _)| key.as_str()).collect();
        keys.extend(others.into_iter().filter(|key| !self.header.axes.iter().any(|axis| axis.key == *key)));
        keys
    }

    /// Every metric that some run has, by name.
    pub fn metrics(&self) -> BTreeSet<&str> {
        self.runs.iter().flat_map(|run| run.metrics.keys().map(String::as_str)).collect()
    }

    /// The runs that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.error.is_some())
    }

    /// The runs that count, and of which a flow did not work.
    pub fn troubled(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.error.is_none() && run.trouble.is_some())
    }

    /// How many runs the sweep has that the file has not.
    pub fn missing(&self) -> usize {
        self.header.points.saturating_mul(self.header.replications).saturating_sub(self.runs.len())
    }
}
