//! Board: every contestant on every case, once with each seed.

use skyhaul_scenario::Scenario;
use skyhaul_sim::sweep::{FORMAT, Header, HeaderAxis, RunId};
use tempfile::TempDir;

use super::cases::{Case, Load};
use super::contestants::Contestant;
use super::error::BoardError;
use super::ready::unpacked;
use crate::race::{RaceError, RaceMode, RaceOrder, RacePlan, Racer, Work};
use crate::{load, standard};

/// Axis of results: the cases.
pub(super) const SCENARIO: &str = "scenario";
/// Axis of results: the contestants.
pub(super) const TRANSPORT: &str = "transport";

/// Order of a board.
#[derive(Clone, Debug)]
pub struct BoardOrder {
    /// Time in which it is run. In real time there are only cases with a single flow.
    pub mode: RaceMode,
    /// Cases, in the order of the tables.
    pub cases: Vec<&'static Case>,
    /// Contestants, in the order of the tables.
    pub contestants: Vec<Contestant>,
    /// Runs of each contestant on each case, with seeds that count up from the first.
    pub runs: u32,
    /// First seed.
    pub seed: u64,
    /// Payload of transfers that have the path to themselves; `None`: as the case has it.
    pub size_bytes: Option<u64>,
    /// Time after which a transfer is ended; `None`: by what the links need.
    pub time_limit_ns: Option<u64>,
}

/// Board of trials and contestants.
#[derive(Debug)]
pub struct Board {
    pub(super) trials: Vec<Trial>,
    pub(super) contestants: Vec<Contestant>,
    /// Header of the results.
    pub header: Header,
    /// Folder of the scenario files.
    _folder: TempDir,
}

/// Case, ready to run.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) case: &'static Case,
    pub(super) plan: RacePlan,
    pub(super) order: RaceOrder,
    /// All flows of the file, of a case that has several.
    flows: Option<Scenario>,
}

impl Board {
    /// Board that this order asks for.
    ///
    /// # Errors
    /// The ready scenarios cannot be unpacked; a rate must be declared, and there is none.
    pub fn new(order: &BoardOrder) -> Result<Self, BoardError> {
        let folder = unpacked()?;
        let trial = |&case| Trial::new(case, order, &folder);
        let trials = order.cases.iter().map(trial).collect::<Result<Vec<_>, _>>()?;
        let header = header(order, &trials);
        Ok(Self { trials, contestants: order.contestants.clone(), header, _folder: folder })
    }

    /// Trial and contestant of a run.
    pub(super) fn at(&self, id: RunId) -> (&Trial, Contestant) {
        let all = self.contestants.len();
        (&self.trials[id.point / all], self.contestants[id.point % all])
    }
}

impl Trial {
    fn new(case: &'static Case, order: &BoardOrder, folder: &TempDir) -> Result<Self, BoardError> {
        let path = folder.path().join(format!("{}.toml", case.file));
        let set = case.set.iter().map(|&(key, value)| (key.to_string(), value.to_string()));
        let seed = ("run.seed".to_string(), order.seed.to_string());
        let race = RaceOrder {
            file: path,
            set: set.chain([seed]).collect(),
            racers: Vec::new(), // whoever is told when a run begins
            runs: order.runs,
            size_bytes: Some(match case.load {
                Load::Transfer { bytes } => order.size_bytes.unwrap_or(bytes),
                Load::Flows { .. } => u64::MAX, // they have no end
            }),
            rate_bps: None,
            requests: 0,
            time_limit_ns: order.time_limit_ns,
        };
        let file = load(&standard(), &race.file, &race.set)?;
        let plan = RacePlan::new(&race, &file)?;
        let flows = match case.load {
            Load::Transfer { .. } => None,
            Load::Flows { .. } => Some(file.first_scenario().map_err(RaceError::Scenario)?),
        };
        let mut trial = Self { case, plan, order: race, flows };
        if let Some(part) = trial.fair_part_bps() {
            trial.plan.rate_bps = Some(part);
        }
        Ok(trial)
    }

    /// Rate that one path of the contestant's should get, which is declared where there are several flows.
    /// Those of a group have one path, and share what is declared for it.
    fn fair_part_bps(&self) -> Option<u64> {
        let flows = &self.flows.as_ref()?.flows;
        let own = flows.iter().find(|flow| self.is_of_contestant(&flow.name))?;
        let all: u64 = flows.iter().map(|flow| u64::from(flow.count)).sum();
        Some(self.plan.lowest_rate_bps()?.saturating_mul(own.count.into()) / all.max(1))
    }

    /// Scenario where there are several flows: the file's, with this racer in the place of the contestant's.
    pub(super) fn flows_with(&self, racer: Racer) -> Option<Scenario> {
        let mut scenario = self.flows.clone()?;
        for flow in scenario.flows.iter_mut().filter(|flow| self.is_of_contestant(&flow.name)) {
            flow.transport = self.plan.transport(racer);
        }
        Some(self.plan.with_routers(scenario, racer))
    }

    pub(super) fn is_of_contestant(&self, flow: &str) -> bool {
        matches!(self.case.load, Load::Flows { of_contestant } if of_contestant.contains(&flow))
    }

    /// All that decides about the runs of a racer, but the seed.
    fn decides(&self, racer: Racer) -> String {
        let alone = || self.plan.scenario(racer, Work::Bulk, self.order.time_limit_ns.unwrap_or(0));
        format!("{} {:?}", self.case.name, self.flows_with(racer).unwrap_or_else(alone))
    }
}

fn header(order: &BoardOrder, trials: &[Trial]) -> Header {
    let BoardOrder { mode, contestants, runs, seed, .. } = order;
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
        replications: *runs,
        seed: *seed,
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
