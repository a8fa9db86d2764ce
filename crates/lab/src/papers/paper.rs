//! Papers that the program knows: their files in `papers/`, as they are.

use serde::Deserialize;

use super::error::PaperError;
use super::formulas::{self, Formula};

/// Files of a paper.
#[derive(Debug)]
pub struct Paper {
    /// Name, as the folder's.
    pub name: &'static str,
    /// `paper.toml`.
    about: &'static str,
    /// Figure definitions.
    pub(super) figures: &'static str,
    /// Claims.
    pub(super) claims: &'static str,
    /// Scenario files by name; the results of NAME go to the folder NAME.
    pub(super) scenarios: &'static [(&'static str, &'static str)],
    /// `real.toml` and `real-figures.toml`: what runs in real time, if anything does.
    pub(super) real: Option<(&'static str, &'static str)>,
    /// Results of formulas, and drawings.
    pub(super) formulas: &'static [Formula],
}

/// Text about a paper: `paper.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    /// Title of the report.
    pub(super) title: String,
    /// Runs of each point with `--quick`.
    pub(super) quick_replications: u32,
    /// Paragraphs in front of the report.
    pub(super) introduction: Vec<String>,
    /// Contradictions, and how they were decided.
    pub(super) notes: Vec<String>,
}

/// File of a paper.
macro_rules! file {
    ($paper:literal, $file:literal) => {
        include_str!(concat!("../../../../papers/", $paper, "/", $file, ".toml"))
    };
}

/// Paper with the scenarios of these names, and formulas.
macro_rules! paper {
    ($paper:literal, [$($scenario:literal),* $(,)?], $formulas:expr) => {
        paper!($paper, [$($scenario),*], $formulas, None)
    };
    ($paper:literal, [$($scenario:literal),* $(,)?], $formulas:expr, $real:expr) => {
        Paper {
            name: $paper,
            about: file!($paper, "paper"),
            figures: file!($paper, "figures"),
            claims: file!($paper, "claims"),
            scenarios: &[$(($scenario, file!($paper, $scenario))),*],
            real: $real,
            formulas: $formulas,
        }
    };
}

/// All papers.
pub static PAPERS: &[Paper] = &[
    paper!(
        "xstp",
        [
            "connectivity-10s",
            "connectivity-5s",
            "connectivity-5s-polls",
            "corruption-10s",
            "corruption-1s",
            "corruption-both",
            "early-timeout",
            "false-timeout",
            "handoff-0.5s",
            "handoff-1s",
        ],
        &[]
    ),
    paper!(
        "stp",
        [
            "answer",
            "background-geo",
            "background-leo",
            "bulk-ladder",
            "commercial",
            "commercial-queues",
            "geo",
            "geo-today",
            "geo-variants",
            "leo",
            "leo-today",
            "leo-variants",
            "rate-mode",
            "short",
            "short-ladder",
            "split",
            "thin-return",
        ],
        formulas::STP
    ),
    paper!(
        "petra",
        [
            "buffer",
            "cycle",
            "forward-best",
            "forward-fixed",
            "idle-satellite",
            "plain-tcp",
            "repeating-link",
            "repeated-timeouts",
            "reverse",
            "round-trips",
            "wire-loss"
        ],
        formulas::PETRA
    ),
    paper!(
        "scps-tp",
        [
            "asymmetry",
            "bent-pipe",
            "bent-pipe-tcp",
            "corruption",
            "damage-ladder",
            "damage-end",
            "header",
            "large-segments",
            "on-board",
            "outage-ladder",
            "sequence",
            "signals",
        ],
        &[],
        Some((file!("scps-tp", "real"), file!("scps-tp", "real-figures")))
    ),
    paper!("p-xcp", ["asymmetry", "goodput", "groups", "pairs", "two-flows"], formulas::P_XCP),
];

impl Paper {
    /// Text about it.
    pub(super) fn about(&self) -> Result<About, PaperError> {
        toml::from_str(self.about).map_err(|error| PaperError::About { paper: self.name, error })
    }
}
