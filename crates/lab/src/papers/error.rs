//! Failures of reproductions.

use std::path::PathBuf;

use skyhaul_report::ReportError;
use skyhaul_scenario::ScenarioError;
use skyhaul_sim::sweep::SweepError;
use thiserror::Error;

use crate::sweep::ResultsError;

/// Reason why a paper cannot be reproduced.
#[derive(Debug, Error)]
pub enum PaperError {
    /// The paper has no such item.
    #[error("{paper} has no item '{item}'; its items are {known}")]
    UnknownItem {
        /// Name of the paper.
        paper: &'static str,
        /// Name that means nothing.
        item: String,
        /// Names that mean something.
        known: String,
    },
    /// The text about the paper is damaged.
    #[error("papers/{paper}/paper.toml: {error}")]
    About {
        /// Name of the paper.
        paper: &'static str,
        /// Place and cause.
        error: toml::de::Error,
    },
    /// No item of the paper runs in real time.
    #[error("{0} has nothing that runs in real time; leave --real out")]
    NotInRealTime(&'static str),
    /// The definition of its runs in real time is damaged.
    #[error("papers/{paper}/real.toml: {error}")]
    Real {
        /// Name of the paper.
        paper: &'static str,
        /// Place and cause.
        error: toml::de::Error,
    },
    /// Its scenarios have no folder, where ends of runs would find them.
    #[error("the scenarios of {paper} cannot be written down: {error}")]
    Unpack {
        /// Name of the paper.
        paper: &'static str,
        /// Cause.
        error: std::io::Error,
    },
    /// Nobody is called so who is to run.
    #[error(transparent)]
    Racer(crate::UnknownName),
    /// Runs in real time are not possible.
    #[error(transparent)]
    Race(crate::race::RaceError),
    /// A scenario of the paper makes no sense.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A scenario of the paper makes no sweep, or its runs cannot be kept.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// Results of a formula have no folder.
    #[error("{}: {error}", folder.display())]
    Formula {
        /// The folder.
        folder: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// Results cannot be kept or read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// Results make no figure, or claims no sense.
    #[error(transparent)]
    Report(#[from] ReportError),
}
