//! Arguments of `scoreboard`.

use std::path::PathBuf;

use skyhaul_core::units::{parse_bytes, parse_time_ns};

use super::cases::{CASES, Case, Load, Named};
use super::contestants::Name;
use crate::failure::Failure;
use crate::sweep::ShownArgs;

/// Runs of each contestant on each scenario in virtual time.
const SIMULATED_RUNS: u32 = 20;
/// The same in real time.
const REAL_RUNS: u32 = 3;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ScoreboardArgs {
    /// In virtual time, with TCP as skyhaul has it: what happens without --real
    #[arg(long, conflicts_with = "real")]
    simulated: bool,
    /// In real time, with the kernel's TCP, one run after the other: hours, as a whole. Needs what `race` needs
    #[arg(long)]
    pub(super) real: bool,
    /// Ready scenarios [default: all; --real: those with a single flow]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    scenarios: Vec<Named>,
    /// Who is measured: skyhaul (without any option), xstp-declared (with the path's rate), xstp, stp, tcp-cubic,
    /// tcp-bbr, tcp-reno [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) with: Vec<Name>,
    /// Runs of each on each scenario, with seeds that count up from the first [default: 20; --real: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// How much is sent where a single flow has the path to itself [default: 20 MB, or what the scenario needs]
    #[arg(long, value_parser = parse_bytes)]
    pub(super) size: Option<u64>,
    /// End a transfer that takes longer [default: a minute and 10 times what the link needs, 10 min at most]
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    pub(super) time_limit: Option<u64>,
    /// Folder for tables, pictures (SVG and PNG) and all numbers (CSV, JSON lines), made if need be. Where it was
    /// interrupted, the same command goes on
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

impl ScoreboardArgs {
    pub(super) fn runs(&self) -> u32 {
        self.runs.unwrap_or(if self.real { REAL_RUNS } else { SIMULATED_RUNS })
    }

    /// The scenarios, each once, in the order of the tables.
    pub(super) fn cases(&self) -> Result<Vec<&'static Case>, Failure> {
        let is_single = |case: &Case| matches!(case.load, Load::Transfer { .. });
        let is_named = |case: &Case| self.scenarios.iter().any(|name| name.means(case));
        if let Some(case) = CASES.iter().find(|case| self.real && is_named(case) && !is_single(case)) {
            return Err(Failure::usage(format!(
                "--real runs single flows, and '{}' has several: leave it out, or run it with --simulated",
                case.name
            )));
        }
        let is_chosen = |case: &&Case| {
            if self.scenarios.is_empty() { !self.real || is_single(case) } else { is_named(case) }
        };
        Ok(CASES.iter().filter(is_chosen).collect())
    }
}
