//! Definition of a paper's runs in real time: `real.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error as _;
use skyhaul_core::units::{parse_bytes, parse_time_ns};

/// Runs in real time of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition {
    /// Title of the page.
    pub(super) title: String,
    /// Paragraphs in front of it.
    pub(super) introduction: Vec<String>,
    /// Runs of a point.
    runs: u32,
    /// Time after which transfers of the kernel's are ended.
    #[serde(deserialize_with = "time_ns")]
    kernel_limit: u64,
    quick: Quick,
    /// Contestants, in the order of tables.
    pub(super) who: Vec<Who>,
    pub(super) items: Vec<Item>,
}

/// Amounts with `--quick`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    runs: u32,
    #[serde(deserialize_with = "time_ns")]
    kernel_limit: u64,
    #[serde(deserialize_with = "bytes")]
    size: u64,
}

/// Contestant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Who {
    /// Name in tables.
    pub(super) name: String,
    /// Name as a racer.
    pub(super) racer: String,
    /// In virtual time, for a comparison.
    #[serde(default)]
    pub(super) simulated: bool,
}

/// Item of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    /// Its name.
    pub(super) item: String,
    pub(super) title: String,
    /// Scenario of the paper whose points are run.
    pub(super) scenario: String,
    /// Axes of its sweep that keep one value.
    #[serde(default)]
    pub(super) pinned: BTreeMap<String, String>,
    /// Values of axes with `--quick`; an axis that is not named keeps all of its own.
    quick: BTreeMap<String, Vec<String>>,
}

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) runs: u32,
    pub(super) kernel_limit_ns: u64,
    /// Payload of a transfer; `None`: as the scenario has it.
    pub(super) size_bytes: Option<u64>,
}

impl Definition {
    pub(super) fn amount(&self, is_quick: bool) -> Amount {
        let Quick { runs, kernel_limit, size } = self.quick;
        if is_quick {
            return Amount { runs, kernel_limit_ns: kernel_limit, size_bytes: Some(size) };
        }
        Amount { runs: self.runs, kernel_limit_ns: self.kernel_limit, size_bytes: None }
    }
}

impl Item {
    /// True if a value of an axis is run.
    pub(super) fn wants(&self, axis: &str, label: &str, is_quick: bool) -> bool {
        let is_listed = |values: &Vec<String>| values.iter().any(|value| are_same(value, label));
        let is_pinned = self.pinned.get(axis).is_none_or(|value| are_same(value, label));
        is_pinned && (!is_quick || self.quick.get(axis).is_none_or(is_listed))
    }

    /// Names of axes that it speaks of.
    #[cfg(test)]
    pub(super) fn axes(&self) -> impl Iterator<Item = &String> {
        self.pinned.keys().chain(self.quick.keys())
    }
}

/// True if two labels are one, of numbers however they are written.
fn are_same(one: &str, other: &str) -> bool {
    let numbers = (one.parse::<f64>(), other.parse::<f64>());
    one == other || matches!(numbers, (Ok(one), Ok(other)) if one.total_cmp(&other).is_eq())
}

fn time_ns<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    parse_time_ns(&text).map_err(|_| D::Error::custom(format!("{text:?} is no time")))
}

fn bytes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    parse_bytes(&text).map_err(|_| D::Error::custom(format!("{text:?} is no size")))
}
