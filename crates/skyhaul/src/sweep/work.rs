//! Runs what is missing of a sweep, and keeps what came of it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use skyhaul_report::{Results, Table};
use skyhaul_sim::sweep::{self, RESULTS, RunId, Runs, Sweep, SweepError, save};

use super::args::SimulateArgs;
use super::bar::Bar;
use super::kept::Kept;
use super::shown::parsed;
use crate::failure::Failure;
use crate::output::note;

/// Means, deviations and intervals, in a folder of results.
pub(crate) const SUMMARY: &str = "summary.csv";
/// Failed runs that are told one by one.
const TOLD_PROBLEMS: usize = 10;

/// A sweep, or what there is of it.
pub(crate) struct Done {
    pub(crate) results: Results,
    /// Runs that were asked for and are not finished.
    missing: usize,
    asked: usize,
}

/// Runs what is missing until all is done or `stop` is set.
pub(crate) fn work(sweep: &Sweep, args: &SimulateArgs, stop: &AtomicBool) -> Result<Done, Failure> {
    let asked: Vec<RunId> = sweep.runs(args.shard).collect();
    let runs = run_missing(sweep, &asked, args, stop)?;
    let missing = asked.iter().filter(|id| !runs.contains(**id)).count();
    let place = args.out.as_ref().map_or_else(|| args.file.clone(), |out| out.join(RESULTS));
    let results = parsed(sweep.header(), &runs, &place)?;
    if let Some(out) = args.out.as_ref().filter(|_| missing == 0) {
        save_summary(out, &results)?;
    }
    Ok(Done { results, missing, asked: asked.len() })
}

/// Writes [`SUMMARY`].
pub(crate) fn save_summary(out: &Path, results: &Results) -> Result<(), SweepError> {
    save(&out.join(SUMMARY), Table::of_summaries(results, &[]).to_csv().as_bytes())
}

fn run_missing(
    sweep: &Sweep,
    asked: &[RunId],
    args: &SimulateArgs,
    stop: &AtomicBool,
) -> Result<Runs, SweepError> {
    let mut kept = Kept::open(args.out.as_deref(), sweep.header())?;
    let todo = kept.missing(asked, args.quiet);
    let bar = Bar::new(todo.len(), args);
    sweep::run(sweep, &todo, jobs(args), stop, |batch| {
        bar.advance(batch.len());
        kept.add(batch)
    })?;
    kept.conclude(asked)
}

fn jobs(args: &SimulateArgs) -> NonZeroUsize {
    args.jobs.unwrap_or_else(processors)
}

/// How many runs go on at the same time unless somebody says otherwise.
pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl Done {
    pub(crate) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Says what is missing or failed; the exit code.
    pub(crate) fn conclude(&self, args: &SimulateArgs) -> ExitCode {
        let code = tell_problems(&self.results, args.quiet);
        if self.is_complete() {
            return code;
        }
        tell_interrupted(self.asked - self.missing, self.asked, args.out.as_deref());
        ExitCode::FAILURE
    }
}

/// Says what there is of runs that were asked for.
pub(crate) fn tell_interrupted(there: usize, asked: usize, out: Option<&Path>) {
    let kept = match out {
        Some(out) => format!("they are kept in '{}': the same command goes on", out.display()),
        None => "with --out DIR they would be kept, to go on later".to_string(),
    };
    note(&format!("interrupted: {there} of {asked} runs are finished; {kept}"));
}

/// Says which runs failed, the first ones one by one; the exit code.
pub(crate) fn tell_problems(results: &Results, quiet: bool) -> ExitCode {
    let failed: Vec<_> = results.failed().collect();
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    let shown = if quiet { 0 } else { TOLD_PROBLEMS };
    for run in failed.iter().take(shown) {
        let why = run.error.as_deref().unwrap_or_default();
        note(&format!("point {} replication {} (seed {}): {why}", run.point, run.replication, run.seed));
    }
    note(&format!("skyhaul: {} of {} runs failed; they count nowhere", failed.len(), results.runs.len()));
    ExitCode::FAILURE
}
