//! Arguments of `scoreboard`.

use std::path::PathBuf;

use skyhaul_core::units::{parse_bytes, parse_time_ns};
use skyhaul_lab::race::RaceMode;
use skyhaul_lab::scoreboard::{BoardOrder, CASES, Case, CaseName, Contestant, ContestantName, contestants};
use skyhaul_lab::{UnknownName, standard};

use crate::failure::Failure;
use crate::sweep::ShownArgs;

/// Runs of each contestant on each scenario in virtual time.
const SIMULATED_RUNS: u32 = 20;
/// Runs of each contestant on each scenario in real time.
const REAL_RUNS: u32 = 3;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ScoreboardArgs {
    /// In virtual time, with TCP as skyhaul has it: what happens without --real
    #[arg(long, conflicts_with = "real")]
    simulated: bool,
    /// In real time, with the kernel's TCP, one run after the other: hours, as a whole. Needs what `race`
    /// needs
    #[arg(long)]
    pub(super) real: bool,
    /// Ready scenarios [default: all; --real: those with a single flow]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = case_name)]
    scenarios: Vec<CaseName>,
    /// Who is measured: skyhaul (without any option), xstp-declared (with the path's rate), xstp, stp,
    /// skyhaul-xcp and skyhaul-p-xcp (by routers, which its links become), tcp-cubic, tcp-bbr, tcp-reno,
    /// scps-tp, scps-tp-declared, and, but for --real, tcp-xcp, tcp-p-xcp, tcp-peach-plus [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = contestant)]
    with: Vec<ContestantName>,
    /// Runs of each on each scenario, with seeds that count up from the first [default: 20; --real: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How much is sent where a single flow has the path to itself [default: 20 MB, or what the scenario
    /// needs]
    #[arg(long, value_parser = parse_bytes)]
    size: Option<u64>,
    /// End a transfer that takes longer [default: a minute and 10 times what the link needs, 10 min at most]
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    time_limit: Option<u64>,
    /// Folder for tables, pictures (SVG and PNG) and all numbers (CSV, JSON lines), made if need be. Where it
    /// was interrupted, the same command goes on
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

impl ScoreboardArgs {
    /// Order that these arguments make.
    pub(super) fn order(&self) -> Result<BoardOrder, Failure> {
        let (mode, usual_runs) = if self.real {
            (RaceMode::real_time(), REAL_RUNS)
        } else {
            (RaceMode::Simulated, SIMULATED_RUNS)
        };
        Ok(BoardOrder {
            mode,
            cases: self.cases()?,
            contestants: self.contestants(),
            runs: self.runs.unwrap_or(usual_runs),
            seed: self.seed,
            size_bytes: self.size,
            time_limit_ns: self.time_limit,
        })
    }

    /// Whoever is named, else all that can take part.
    fn contestants(&self) -> Vec<Contestant> {
        let mut all = contestants(&standard(), &self.with);
        all.retain(|one| !self.real || !self.with.is_empty() || !one.racer.is_simulated_alone());
        all
    }

    /// Scenarios, each once, in the order of the tables.
    fn cases(&self) -> Result<Vec<&'static Case>, Failure> {
        let is_named = |case: &Case| self.scenarios.iter().any(|name| name.means(case));
        if let Some(case) = CASES.iter().find(|case| self.real && is_named(case) && !case.is_single()) {
            return Err(Failure::usage(format!(
                "--real runs single flows, and '{}' has several: leave it out, or run it with --simulated",
                case.name
            )));
        }
        let is_chosen = |case: &&Case| {
            if self.scenarios.is_empty() { !self.real || case.is_single() } else { is_named(case) }
        };
        Ok(CASES.iter().filter(is_chosen).collect())
    }
}

fn case_name(text: &str) -> Result<CaseName, String> {
    text.parse().map_err(|error: UnknownName| format!("{error}. Files of your own: `skyhaul race`"))
}

fn contestant(name: &str) -> Result<ContestantName, UnknownName> {
    ContestantName::find(&standard(), name)
}
