//! Runs what is missing of a sweep, and keeps what came of it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use skyhaul_report::{Results, Table};
use skyhaul_sim::sweep::{self, Folder, RESULTS, RunId, Runs, Sweep, SweepError, save};

use super::args::SimulateArgs;
use super::bar::Bar;
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
    let runs = match &args.out {
        Some(out) => in_folder(sweep, &asked, args, out, stop)?,
        None => in_memory(sweep, &asked, args, stop)?,
    };
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

fn in_memory(
    sweep: &Sweep,
    asked: &[RunId],
    args: &SimulateArgs,
    stop: &AtomicBool,
) -> Result<Runs, SweepError> {
    let mut runs = Runs::default();
    let bar = Bar::new(asked.len(), args);
    sweep::run(sweep, asked, jobs(args), stop, |batch| {
        bar.advance(batch.len());
        for finished in batch {
            runs.add(finished);
        }
        Ok(())
    })?;
    Ok(runs)
}

fn in_folder(
    sweep: &Sweep,
    asked: &[RunId],
    args: &SimulateArgs,
    out: &Path,
    stop: &AtomicBool,
) -> Result<Runs, SweepError> {
    let mut folder = Folder::open(out, sweep.header())?;
    let todo: Vec<RunId> = asked.iter().copied().filter(|id| !folder.runs().contains(*id)).collect();
    if todo.len() < asked.len() && !args.quiet {
        note(&format!(
            "{} of {} runs are in '{}' already",
            asked.len() - todo.len(),
            asked.len(),
            out.display()
        ));
    }
    let bar = Bar::new(todo.len(), args);
    sweep::run(sweep, &todo, jobs(args), stop, |batch| {
        bar.advance(batch.len());
        folder.add(batch)
    })?;
    if asked.iter().all(|id| folder.runs().contains(*id)) {
        folder.complete()?;
    }
    Ok(folder.runs().clone())
}

fn jobs(args: &SimulateArgs) -> NonZeroUsize {
    let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    args.jobs.unwrap_or_else(processors)
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
        let there = self.asked - self.missing;
        let kept = match &args.out {
            Some(out) => format!("they are kept in '{}': the same command goes on", out.display()),
            None => "with --out DIR they would be kept, to go on later".to_string(),
        };
        note(&format!("interrupted: {there} of {} runs are finished; {kept}", self.asked));
        ExitCode::FAILURE
    }
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
