//! What is to be run: every contestant on every case, once with each seed.

use skyhaul_sim::scenario::Scenario;
use skyhaul_sim::sweep::{FORMAT, Header, HeaderAxis, RunId};
use tempfile::TempDir;

use super::args::ScoreboardArgs;
use super::cases::{Case, Load};
use super::contestants::{Contestant, chosen};
use super::ready::unpacked;
use crate::failure::Failure;
use crate::race::args::RaceArgs;
use crate::race::mode::Mode;
use crate::race::plan::{Plan, Work};
use crate::race::racer::Racer;
use crate::scenario_file::load;

/// Names of the axes that results have.
pub(super) const SCENARIO: &str = "scenario";
/// See [`SCENARIO`].
pub(super) const TRANSPORT: &str = "transport";

/// See the module.
pub(super) struct Board {
    pub(super) trials: Vec<Trial>,
    pub(super) contestants: Vec<&'static Contestant>,
    pub(super) header: Header,
    /// Where the scenario files are.
    _folder: TempDir,
}

/// A case, ready to run.
pub(super) struct Trial {
    pub(super) case: &'static Case,
    pub(super) plan: Plan,
    pub(super) args: RaceArgs,
    /// All flows of the file, of a case that has several.
    flows: Option<Scenario>,
}

impl Board {
    /// What these arguments ask for.
    pub(super) fn new(args: &ScoreboardArgs) -> Result<Self, Failure> {
        let folder = unpacked()?;
        let trial = |case| Trial::new(case, args, &folder);
        let trials = args.cases()?.into_iter().map(trial).collect::<Result<Vec<_>, _>>()?;
        let contestants = chosen(&args.with);
        let mode = if args.real { Mode::real_time() } else { Mode::Simulated };
        let header = header(args, &trials, &contestants, &mode);
        Ok(Self { trials, contestants, header, _folder: folder })
    }

    /// What a run is.
    pub(super) fn at(&self, id: RunId) -> (&Trial, &'static Contestant) {
        let all = self.contestants.len();
        (&self.trials[id.point / all], self.contestants[id.point % all])
    }
}

impl Trial {
    fn new(case: &'static Case, args: &ScoreboardArgs, folder: &TempDir) -> Result<Self, Failure> {
        let path = folder.path().join(format!("{}.toml", case.file));
        let set = case.set.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
        let mut race = RaceArgs::of_transfer(path, set, args.seed, args.runs());
        race.time_limit = args.time_limit;
        race.size = Some(match case.load {
            Load::Transfer { bytes } => args.size.unwrap_or(bytes),
            Load::Flows { .. } => u64::MAX, // they have no end
        });
        let file = load(&race.file, &race.overrides())?;
        let plan = Plan::new(&race, &file)?;
        let flows = match case.load {
            Load::Transfer { .. } => None,
            Load::Flows { .. } => {
                Some(file.first_scenario().map_err(|error| Failure::new(error.to_string()))?)
            }
        };
        let mut trial = Self { case, plan, args: race, flows };
        if let Some(part) = trial.fair_part_bps() {
            trial.plan.rate_bps = Some(part);
        }
        Ok(trial)
    }

    /// What one path of the contestant's should get, which is what is declared where there are several flows. Those
    /// of a group have one path, and share what is declared for it.
    fn fair_part_bps(&self) -> Option<u64> {
        let flows = &self.flows.as_ref()?.flows;
        let own = flows.iter().find(|flow| self.is_of_contestant(&flow.name))?;
        let all: u64 = flows.iter().map(|flow| u64::from(flow.count)).sum();
        Some(self.plan.lowest_rate_bps()?.saturating_mul(own.count.into()) / all.max(1))
    }

    /// What is simulated where there are several flows: the file's, and this one in the place of the contestant's.
    pub(super) fn flows_with(&self, racer: Racer) -> Option<Scenario> {
        let mut scenario = self.flows.clone()?;
        for flow in scenario.flows.iter_mut().filter(|flow| self.is_of_contestant(&flow.name)) {
            flow.transport = self.plan.transport(racer);
        }
        Some(scenario)
    }

    pub(super) fn is_of_contestant(&self, flow: &str) -> bool {
        matches!(self.case.load, Load::Flows { of_contestant } if of_contestant.contains(&flow))
    }

    /// All that decides about the runs of a racer, but the seed.
    fn decides(&self, racer: Racer) -> String {
        let alone = || self.plan.scenario(racer, Work::Bulk, self.plan.own_time_limit_ns().unwrap_or(0));
        format!("{} {:?}", self.case.name, self.flows_with(racer).unwrap_or_else(alone))
    }
}

fn header(args: &ScoreboardArgs, trials: &[Trial], contestants: &[&Contestant], mode: &Mode) -> Header {
    let axis = |key: &str, names: Vec<&str>| HeaderAxis {
        key: key.to_string(),
        values: names.into_iter().map(Into::into).collect(),
    };
    let mut digest = blake3::Hasher::new();
    digest.update(mode.words().as_bytes());
    for (trial, one) in trials.iter().flat_map(|trial| contestants.iter().map(move |one| (trial, one))) {
        digest.update(trial.decides(one.racer).as_bytes());
    }
    Header {
        skyhaul_results: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_string(),
        scenario: "scoreboard".to_string(),
        title: format!("Scoreboard, {}", mode.words()),
        digest: digest.finalize().to_hex().to_string(),
        wanted: Vec::new(),
        axes: vec![
            axis(SCENARIO, trials.iter().map(|trial| trial.case.name).collect()),
            axis(TRANSPORT, contestants.iter().map(|one| one.name).collect()),
        ],
        points: trials.len() * contestants.len(),
        replications: args.runs(),
        seed: args.seed,
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
