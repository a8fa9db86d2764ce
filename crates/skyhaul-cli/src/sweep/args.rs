//! Arguments of `simulate`, `merge` and `report`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use skyhaul_sim::sweep::Shard;

use crate::args::MORE;
use crate::capture::LinkCaptureArgs;

/// Exit codes of `simulate` and `merge`, below their help.
const EXIT_CODES: &str = "\
Exit code: 0 if every run is finished and every flow worked, also where the time of the run was over;
1 if a run failed or is missing, a flow ended with an error (it was refused, or gave up), or nothing
arrived of a flow that had begun; 2 for wrong usage.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SimulateArgs {
    /// Scenario file, or the name of a ready scenario, like geo
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Folder for results, made if need be. A sweep that was interrupted goes on where it was. Without it
    /// nothing is written
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Change a key of the file, like links.space.forward.rate=2Mbit/s; may be given several times. An axis:
    /// 'sweep."links.space.forward.loss"=[0, 0.01]'
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Runs of each point, with seeds that count up from the first [default: what the file says]
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<u32>,
    /// Draw this metric over the axes of the sweep into DIR/figures, with a report page; may be given several
    /// times
    #[arg(long, value_name = "METRIC", requires = "out", conflicts_with = "shard")]
    pub(crate) plot: Vec<String>,
    /// First seed [default: what the file says]
    #[arg(long, value_name = "N", help_heading = MORE)]
    pub(crate) seed: Option<u64>,
    /// Runs at the same time; the results do not depend on it [default: one for each processor]
    #[arg(long, value_name = "N", help_heading = MORE)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Run only the i-th of n parts, for several machines; `skyhaul merge` joins them
    #[arg(long, value_name = "I/N", requires = "out", help_heading = MORE)]
    pub(crate) shard: Option<Shard>,
    /// End a run that is not over after so many events (packets delivered by links, wake-ups of hosts)
    #[arg(long, value_name = "N", help_heading = MORE)]
    pub(crate) max_events: Option<u64>,
    #[command(flatten)]
    pub(crate) capture: LinkCaptureArgs,
    /// Neither progress nor remarks
    #[arg(long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct MergeArgs {
    /// Folders of all shards of a sweep
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Folder for the results of the whole sweep
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Folder of results, or a result file
    #[arg(value_name = "DIR|FILE")]
    pub(crate) from: PathBuf,
    /// Figure definitions (docs/guide/figures.md); the result files that they name are sought in DIR
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(crate) figures: Option<PathBuf>,
    /// Claims to judge by these figures
    #[arg(long, value_name = "FILE", requires = "figures")]
    pub(crate) claims: Option<PathBuf>,
    /// Draw this metric over the axes of the sweep; may be given several times
    #[arg(long, value_name = "METRIC", requires = "out")]
    pub(crate) plot: Vec<String>,
    /// Folder for the report: report.html, report.md, claims.csv, figures/
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the table in Markdown
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// Form in which results are shown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ShownArgs {
    /// Print the result as one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print all metrics as CSV, with all digits
    #[arg(long)]
    pub(crate) csv: bool,
}

impl SimulateArgs {
    /// Keys of the file that are changed.
    pub(super) fn overrides(&self) -> Vec<(String, String)> {
        let own = |key: &str, value: Option<u64>| Some((key.to_string(), value?.to_string()));
        let own = [
            own("run.replications", self.replications.map(u64::from)),
            own("run.seed", self.seed),
            own("run.max_events", self.max_events),
        ];
        self.set.iter().cloned().chain(own.into_iter().flatten()).collect()
    }
}

/// Value of `--set`.
pub(crate) fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_string(), value.to_string())),
        _ => Err("write it like links.space.forward.rate=2Mbit/s".to_string()),
    }
}
