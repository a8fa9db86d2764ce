//! Which runs a sweep has, and which of them fall to a shard.

use std::fmt;
use std::str::FromStr;

use super::{Header, RunId, SweepError};
use skyhaul_scenario::{File, Point, Scenario, ScenarioError};

/// Runs of a sweep at most.
pub const MAX_RUNS: usize = 1_000_000;
/// Parts that a sweep can be divided into at most.
pub const MAX_SHARDS: u32 = 10_000;

/// One of several parts of a sweep that can be run apart, on several machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    number: u32,
    of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some((number, of)) if number >= 1 && number <= of && of <= MAX_SHARDS => Ok(Self { number, of }),
            Some(_) => Err(format!("write it like 1/{MAX_SHARDS}: the first number from 1 to the second")),
            None => Err("write it like 2/3: the second of three parts".to_string()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// True if run number `index` falls to it: runs are dealt out in turn.
    fn takes(self, index: usize) -> bool {
        index % self.of as usize == (self.number - 1) as usize
    }
}

/// A scenario file with all that is needed to run it.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub(super) file: File,
    pub(super) points: Vec<Point>,
    header: Header,
}

impl Sweep {
    /// All runs of `file`.
    ///
    /// # Errors
    /// More than [`MAX_RUNS`].
    pub fn new(file: File) -> Result<Self, SweepError> {
        let (points, replications) = (file.points().collect::<Vec<_>>(), file.settings().replications);
        let runs = points.len().saturating_mul(replications as usize);
        if runs > MAX_RUNS {
            return Err(SweepError(format!(
                "{} points with {replications} replications each are {runs} runs; at most {MAX_RUNS}: sweep fewer \
                 values, or several times with other ones",
                points.len()
            )));
        }
        let header = Header::of(&file, points.len())?;
        Ok(Self { file, points, header })
    }

    /// The first line of its result file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file that it runs.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Scenario of a point.
    ///
    /// # Errors
    /// The values of the point do not fit the file.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn scenario(&self, point: usize) -> Result<Scenario, ScenarioError> {
        self.file.scenario_at(&self.points[point])
    }

    /// The runs that fall to `shard`, in order.
    pub fn runs(&self, shard: Option<Shard>) -> impl Iterator<Item = RunId> {
        let all = self.header.runs().enumerate();
        all.filter(move |(index, _)| shard.is_none_or(|shard| shard.takes(*index))).map(|(_, id)| id)
    }
}
