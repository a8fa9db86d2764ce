//! Failures of races.

use std::io;
use std::path::PathBuf;

use skyhaul_emulator::TestbedError;
use skyhaul_report::ReportError;
use skyhaul_scenario::ScenarioError;
use skyhaul_sim::sweep::SweepError;
use thiserror::Error;

/// Reason why a race cannot be planned, run in real time, or written down. Failures of single runs are part
/// of their results.
#[derive(Debug, Error)]
pub enum RaceError {
    /// The first point of the file's sweep is no scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The file's sweep is empty.
    #[error("the scenario has no point")]
    NoPoint,
    /// Both hosts of the flow are not connected.
    #[error("no way leads to the other host")]
    NoWay,
    /// There is no flow that could be raced.
    #[error(
        "'{}' has no bulk flow, and that is what races: add [flows.NAME] with workload = {{ kind = \"bulk\", \
         size = \"10MB\" }}", file.display()
    )]
    NoBulkFlow {
        /// Scenario file.
        file: PathBuf,
    },
    /// The size that was asked for is 0.
    #[error("nothing would be sent")]
    NothingToSend,
    /// Neither the flow nor the order says how much is sent.
    #[error("flow '{flow}' has no size")]
    NoSize {
        /// Name of the flow.
        flow: String,
    },
    /// A racer is to be told a rate, and neither the order nor the flow nor a link has one.
    #[error("no link on the way has a rate that could be declared")]
    NoRate,
    /// Nothing carries this racer's bytes in real time.
    #[error("{0} cannot race in real time: neither the kernel nor an endpoint of skyhaul's own plays it")]
    NotInRealTime(&'static str),
    /// There can be no emulation on this machine.
    #[error(transparent)]
    Emulation(#[from] TestbedError),
    /// A host of an emulation failed.
    #[error("a host of the emulation has failed: {0}")]
    Host(io::Error),
    /// A host of an emulation has no address.
    #[error("host {0} has no address")]
    NoAddress(String),
    /// No folder for the signs of a run's ends.
    #[error("cannot make a folder: {0}")]
    Signs(io::Error),
    /// No folder for the results.
    #[error("cannot make the folder '{}': {error}", folder.display())]
    Out {
        /// The folder.
        folder: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// The folder has results of something else.
    #[error("'{}': there are other results already; choose another --out, or remove the folder to begin anew",
        folder.display())]
    OtherResults {
        /// The folder.
        folder: PathBuf,
    },
    /// Results cannot be written.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// Results make no picture.
    #[error(transparent)]
    Report(#[from] ReportError),
}
