//! Scenario files in virtual time, with your parameters and controllers.
//!
//! A scenario is a TOML file: hosts, links, flows. Here it is read, given your [`Config`] where you like, and
//! run as fast as the machine can compute; one seed, one result, on every machine.
//! [`crate::manual::simulate`] has the keys.
//!
//! Needs the feature `sim`, which is on unless you turn it off.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, io};

#[doc(inline)]
pub use skyhaul_scenario::ScenarioError;
use skyhaul_scenario::did_you_mean;
#[doc(inline)]
pub use skyhaul_sim::{Ended, RunError};
use skyhaul_sim::{SCPS_TP, SEALED_STP, STP, STPP, TCP};

use crate::Config;

/// Scenario, ready to run: the first point of a file's sweep.
#[derive(Clone, Debug)]
pub struct Scenario(skyhaul_scenario::Scenario);

/// Outcome of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Way in which the run ended.
    pub ended: Ended,
    /// Metrics by name, like `goodput_bps` or `flows.NAME.goodput_bps`; one that does not apply is absent.
    pub metrics: BTreeMap<String, f64>,
}

/// Failure to get a scenario, or to run it.
#[derive(Debug)]
pub enum SimulateError {
    /// The file cannot be read.
    Read(std::path::PathBuf, io::Error),
    /// The file makes no sense: which line, what is allowed.
    Scenario(ScenarioError),
    /// There is no flow of this name that carries STP; the flows that do.
    NoFlow(String, Vec<String>),
    /// The run could not begin.
    Run(RunError),
}

impl fmt::Display for SimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read the scenario {}: {error}", path.display()),
            Self::Scenario(error) => error.fmt(f),
            Self::NoFlow(name, flows) => {
                let hint = did_you_mean(name, flows.iter().map(String::as_str));
                write!(
                    f,
                    "the scenario has no flow '{name}' that carries STP{hint}; those that do: {}",
                    flows.join(", ")
                )
            }
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SimulateError {}

impl From<ScenarioError> for SimulateError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl Scenario {
    /// Scenario of this text. `name` stands for it in messages; files that it names are sought beside `name`.
    /// `overrides` change keys, like `("links.space.forward.rate", "2Mbit/s")`.
    ///
    /// # Errors
    /// The text makes no sense.
    pub fn parse(name: &str, text: &str, overrides: &[(&str, &str)]) -> Result<Self, SimulateError> {
        let overrides: Vec<_> =
            overrides.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
        let register = skyhaul_scenario::Register::new(&[&STP, &TCP, &STPP, &SCPS_TP, &SEALED_STP]);
        let file = skyhaul_scenario::File::load(&register, name, text, &overrides)?;
        Ok(Self(file.first_scenario()?))
    }

    /// Scenario of the file at `path`, with keys changed as by [`Self::parse`].
    ///
    /// # Errors
    /// The file cannot be read, or makes no sense.
    pub fn load(path: impl AsRef<Path>, overrides: &[(&str, &str)]) -> Result<Self, SimulateError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| SimulateError::Read(path.into(), error))?;
        Self::parse(&path.display().to_string(), &text, overrides)
    }

    /// Gives a flow these parameters at the end that opens its connections: that end sends a bulk flow's
    /// data, and has its controller.
    ///
    /// # Errors
    /// There is no flow of this name, or it carries something else than STP.
    pub fn set_opener(&mut self, flow: &str, config: Config) -> Result<(), SimulateError> {
        self.flow(flow)?.opener = STP.end(skyhaul_stp::Config::from(config));
        Ok(())
    }

    /// Gives a flow these parameters at the end that accepts its connections. All flows that end at one host
    /// must have the same ones.
    ///
    /// # Errors
    /// As [`Self::set_opener`].
    pub fn set_acceptor(&mut self, flow: &str, config: Config) -> Result<(), SimulateError> {
        self.flow(flow)?.acceptor = STP.end(skyhaul_stp::Config::from(config));
        Ok(())
    }

    /// Parameters that a flow has at the end that opens its connections.
    ///
    /// # Errors
    /// As [`Self::set_opener`].
    pub fn opener(&self, flow: &str) -> Result<Config, SimulateError> {
        let found = self.0.flows.iter().find(|found| found.name == flow);
        let config = found.and_then(|found| found.transport.opener.get::<skyhaul_stp::Config>());
        config.cloned().map(Config::from).ok_or_else(|| self.no_flow(flow))
    }

    fn flow(&mut self, name: &str) -> Result<&mut skyhaul_scenario::Transport, SimulateError> {
        let found = self.0.flows.iter().position(|flow| flow.name == name && carries_stp(flow));
        let index = found.ok_or_else(|| self.no_flow(name))?;
        Ok(&mut self.0.flows[index].transport)
    }

    fn no_flow(&self, name: &str) -> SimulateError {
        let flows = self.0.flows.iter().filter(|flow| carries_stp(flow)).map(|flow| flow.name.clone());
        SimulateError::NoFlow(name.to_string(), flows.collect())
    }

    /// Runs it once. Everything random follows from `seed`.
    ///
    /// # Errors
    /// The run cannot begin: too many flows.
    pub fn run(&self, seed: u64) -> Result<RunResult, SimulateError> {
        let measured = skyhaul_sim::simulate(&self.0, seed).map_err(SimulateError::Run)?;
        Ok(RunResult { ended: measured.ended, metrics: measured.metrics })
    }
}

fn carries_stp(flow: &skyhaul_scenario::Flow) -> bool {
    flow.transport.opener.get::<skyhaul_stp::Config>().is_some()
}

impl RunResult {
    /// Metric of this name.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_that_is_not_there_is_told_those_that_are() {
        let text = include_str!("../../../scenarios/geo.toml");
        let mut scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
        let error = scenario.set_opener("fiel", Config::standard()).unwrap_err().to_string();
        assert!(error.contains("did you mean `file`?") && error.ends_with("those that do: file"), "{error}");
        assert!(scenario.set_opener("file", Config::standard()).is_ok());
    }
}
