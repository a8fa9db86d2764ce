//! The papers that the binary knows: their files in `papers/`, as they are.

use serde::Deserialize;

/// A paper's files.
#[derive(Debug)]
pub(super) struct Paper {
    /// As on the command line.
    pub(super) name: &'static str,
    /// What is said about it.
    about: &'static str,
    /// Figure definitions.
    pub(super) figures: &'static str,
    /// Claims.
    pub(super) claims: &'static str,
    /// Scenario files by name; the results of NAME go to the folder NAME.
    pub(super) scenarios: &'static [(&'static str, &'static str)],
}

/// `paper.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    /// Of the report.
    pub(super) title: String,
    /// Runs of each point with `--quick`.
    pub(super) quick_replications: u32,
    /// Paragraphs in front of the report.
    pub(super) introduction: Vec<String>,
    /// Contradictions, and how they were decided.
    pub(super) notes: Vec<String>,
}

/// A file of a paper.
macro_rules! file {
    ($paper:literal, $file:literal) => {
        include_str!(concat!("../../../../papers/", $paper, "/", $file, ".toml"))
    };
}

/// A paper with the scenarios of these names.
macro_rules! paper {
    ($paper:literal, [$($scenario:literal),* $(,)?]) => {
        Paper {
            name: $paper,
            about: file!($paper, "paper"),
            figures: file!($paper, "figures"),
            claims: file!($paper, "claims"),
            scenarios: &[$(($scenario, file!($paper, $scenario))),*],
        }
    };
}

/// All of them.
pub(super) static PAPERS: &[Paper] = &[
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
        ]
    ),
    paper!("stp", ["rate-mode"]),
];

impl Paper {
    /// What `paper.toml` says.
    pub(super) fn about(&self) -> Result<About, String> {
        toml::from_str(self.about).map_err(|error| format!("papers/{}/paper.toml: {error}", self.name))
    }
}
