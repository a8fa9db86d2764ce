//! The first line of a result file: which sweep it belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SweepError;
use super::save::json_line;
use skyhaul_scenario::{File, Label};

/// Run of a sweep: its point, and which replication of that it is. In this order they stand in result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId {
    /// The point, from 0.
    pub point: usize,
    /// The replication, from 0.
    pub replication: u32,
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "point {} replication {}", self.point, self.replication)
    }
}

/// Version of the format of result files.
pub const FORMAT: u32 = 1;

/// The sweep that a result file belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub skyhaul_results: u32,
    /// Version of skyhaul: another one may come to other results.
    pub version: String,
    /// Name of the scenario file, without folder and ending.
    pub scenario: String,
    /// Title, in a line.
    pub title: String,
    /// Hash of all that decides about the results, see [`File::digest`].
    pub digest: String,
    /// Which metrics the runs have, as the scenario says it; empty: all.
    pub wanted: Vec<String>,
    /// The axes; the last one varies fastest.
    pub axes: Vec<HeaderAxis>,
    /// How many points the sweep has.
    pub points: usize,
    /// How many runs each point has.
    pub replications: u32,
    /// Replication r has this seed plus r.
    pub seed: u64,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderAxis {
    /// The key that it varies, or the name of an axis of several keys.
    pub key: String,
    /// Labels of its values.
    pub values: Vec<Value>,
}

impl Header {
    pub(super) fn of(file: &File, points: usize) -> Result<Self, SweepError> {
        let axes = file.axes().iter().map(|axis| HeaderAxis {
            key: axis.name().to_string(),
            values: axis.labels().iter().map(json).collect(),
        });
        let settings = file.settings();
        Ok(Self {
            skyhaul_results: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_string(),
            scenario: file.name().to_string(),
            title: settings.title.clone(),
            digest: file.digest().map_err(|error| SweepError(error.to_string()))?,
            wanted: settings.wanted.patterns().to_vec(),
            axes: axes.collect(),
            points,
            replications: settings.replications,
            seed: settings.seed,
        })
    }

    /// As it stands in the file, with the end of the line.
    pub fn line(&self) -> String {
        json_line(self)
    }

    /// Reads a line, if it is a header of this format.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let header: Self = serde_json::from_str(line).ok()?;
        let product = header.axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.values.len()));
        (header.skyhaul_results == FORMAT && header.points > 0 && product == Some(header.points))
            .then_some(header)
    }

    /// Keys that a point sets, by the names of the axes in their order.
    pub fn set_at(&self, point: usize) -> impl Iterator<Item = (&str, &Value)> {
        let mut faster: usize = self.axes.iter().map(|axis| axis.values.len()).product();
        self.axes.iter().map(move |axis| {
            faster /= axis.values.len();
            (axis.key.as_str(), &axis.values[point / faster % axis.values.len()])
        })
    }

    /// All runs of the sweep, in order.
    pub fn runs(&self) -> impl Iterator<Item = RunId> {
        let replications = self.replications;
        (0..self.points)
            .flat_map(move |point| (0..replications).map(move |replication| RunId { point, replication }))
    }

    /// The seed of a run.
    pub fn seed_of(&self, id: RunId) -> u64 {
        self.seed.wrapping_add(u64::from(id.replication))
    }

    /// True if this is one of them.
    pub(super) fn has(&self, id: RunId) -> bool {
        id.point < self.points && id.replication < self.replications
    }

    /// True if runs under a header with this `line` are runs of this sweep, too: nothing that decides about
    /// them differs. Compared as text, since what was read need not be the same to the last bit.
    pub(super) fn shares_runs_with(&self, line: &str) -> bool {
        let Some(other) = Self::parse(line) else { return false };
        let Self { scenario, title, replications, .. } = other;
        Self { scenario, title, replications, ..self.clone() }.line() == line
    }

    /// In what `other` differs, in words.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let mut all = Vec::new();
        let mut note = |what: &str, own: String, others: String| {
            if own != others {
                all.push(format!("{what} ({others} there, {own} here)"));
            }
        };
        note("version of skyhaul", self.version.clone(), other.version.clone());
        note("scenario", self.scenario.clone(), other.scenario.clone());
        note("title", format!("{:?}", self.title), format!("{:?}", other.title));
        note("metrics", self.wanted.join(" "), other.wanted.join(" "));
        note("axes", self.axes_in_words(), other.axes_in_words());
        note("replications", self.replications.to_string(), other.replications.to_string());
        note("first seed", self.seed.to_string(), other.seed.to_string());
        if all.is_empty() && self.digest != other.digest {
            all.push("what the scenario says (digest)".to_string());
        }
        all
    }

    fn axes_in_words(&self) -> String {
        let axis = |axis: &HeaderAxis| {
            let values: Vec<String> = axis.values.iter().take(20).map(Value::to_string).collect();
            format!("{} = {}{}", axis.key, values.join(" "), if axis.values.len() > 20 { " ..." } else { "" })
        };
        match self.axes.len() {
            0 => "none".to_string(),
            _ => self.axes.iter().map(axis).collect::<Vec<_>>().join("; "),
        }
    }
}

/// A label as a result file has it.
fn json(label: &Label) -> Value {
    match label {
        Label::Integer(number) => (*number).into(),
        Label::Number(number) => (*number).into(),
        Label::Text(text) => text.clone().into(),
        Label::Switch(on) => (*on).into(),
    }
}
