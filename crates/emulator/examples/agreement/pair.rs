//! Pairs of cells whose goodput in real time is to be alike.

use std::fmt;

use crate::cells::PAIRS;
use crate::row::{Row, Verdict, percent};

/// Comparison of two cells.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    names: [String; 2],
    /// Of the first, in percent of the second.
    difference: f64,
    most: f64,
    pub(crate) verdict: Verdict,
}

/// Pairs of which both cells were run.
pub(crate) fn pairs(rows: &[Row]) -> Vec<Pair> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let pair = |&(one, other, most): &(&str, &str, f64)| Some(Pair::new([row(one)?, row(other)?], most));
    PAIRS.iter().filter_map(pair).collect()
}

impl Pair {
    fn new(rows: [&Row; 2], most: f64) -> Self {
        let [one, other] = rows.map(|row| row.median(|run| run.emulated.outcome.goodput_bps()));
        let difference = percent(other, one);
        let is_disturbed = rows.iter().any(|row| 2 * row.disturbed() >= row.runs.len());
        let verdict = match difference.abs() <= most {
            true => Verdict::Agrees,
            false if is_disturbed => Verdict::Unknown,
            false => Verdict::Differs,
        };
        Self { names: rows.map(|row| row.name.clone()), difference, most, verdict }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.names;
        write!(f, "{one}, emulated: {:+.2} % of {other}, allowed is {}", self.difference, self.most)?;
        match self.verdict {
            Verdict::Agrees => Ok(()),
            Verdict::Differs => write!(f, ": DIFFERS"),
            Verdict::Unknown => write!(f, ": the machine was too busy to tell"),
        }
    }
}
