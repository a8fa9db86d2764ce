//! Runs of a sweep: what is missing is run, what is finished is kept and read as [`Results`].

mod kept;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use skyhaul_report::results::parse_results;
use skyhaul_report::{ReportError, Results, Table};
use skyhaul_sim::sweep::{
    Batch, Finished, Header, RESULTS, RunId, Runs, Sweep, SweepError, run, run_by, save,
};
use thiserror::Error;

use crate::Progress;
use kept::Kept;

/// File of means, deviations and intervals in a folder of results.
pub const SUMMARY: &str = "summary.csv";

/// Failure to keep results, or to read them.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// Their folder or their files.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// Their text.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// Runs that were asked for: those that are finished, and those that are to do.
pub struct SweepBacklog {
    header: Header,
    asked: Vec<RunId>,
    todo: Vec<RunId>,
    kept: Kept,
}

/// Results of a sweep, or of what there is of it.
#[derive(Debug)]
pub struct SweepOutcome {
    /// Finished runs, read.
    pub results: Results,
    /// Runs that were asked for.
    pub asked: usize,
    /// Those of them that are not finished.
    pub missing: usize,
}

impl SweepBacklog {
    /// Backlog of the runs `asked` of the sweep with this header. Finished runs are kept in the folder `out`,
    /// which may have some of an interrupted sweep; without one, in memory.
    ///
    /// # Errors
    /// The folder cannot be made or is in use, or holds another sweep.
    pub fn open(header: &Header, asked: Vec<RunId>, out: Option<&Path>) -> Result<Self, SweepError> {
        let kept = Kept::open(out, header)?;
        let todo = asked.iter().copied().filter(|id| !kept.runs().contains(*id)).collect();
        Ok(Self { header: header.clone(), asked, todo, kept })
    }

    /// Runs that are to do.
    pub fn todo(&self) -> &[RunId] {
        &self.todo
    }

    /// Number of runs that were asked for.
    pub fn asked(&self) -> usize {
        self.asked.len()
    }

    /// Folder that had finished runs when it was opened, and how many of those that are asked for.
    pub fn found(&self) -> Option<(usize, &Path)> {
        let there = self.asked.len() - self.todo.len();
        self.kept.folder().filter(|_| there > 0).map(|folder| (there, folder))
    }

    /// Simulates what is to do, `jobs` runs at the same time, until all is done or `stop` is set.
    ///
    /// # Errors
    /// Finished runs cannot be kept.
    pub fn simulate(
        &mut self,
        sweep: &Sweep,
        jobs: NonZeroUsize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<(), SweepError> {
        run(sweep, &self.todo, jobs, stop, |batch| keep(&mut self.kept, batch, progress))
    }

    /// Does what is to do by `one`, `jobs` runs at the same time, until all is done or `stop` is set.
    ///
    /// # Errors
    /// Finished runs cannot be kept.
    pub fn run_by(
        &mut self,
        one: impl Fn(RunId) -> Finished + Sync,
        jobs: NonZeroUsize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<(), SweepError> {
        run_by(one, &self.todo, jobs, stop, |batch| keep(&mut self.kept, batch, progress))
    }

    /// Keeps a run that somebody else has done.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn add(&mut self, finished: Finished, progress: &dyn Progress) -> Result<(), SweepError> {
        keep(&mut self.kept, vec![finished], progress)
    }

    /// Ends the work. If nothing is missing, a folder gets its result file, in order, and its [`SUMMARY`].
    /// `place` names the results in messages.
    ///
    /// # Errors
    /// The files cannot be written, or make no sense.
    pub fn conclude(self, place: &Path) -> Result<SweepOutcome, ResultsError> {
        let folder = self.kept.folder().map(PathBuf::from);
        let is_missing = |id: &&RunId| !self.kept.runs().contains(**id);
        let (asked, missing) = (self.asked.len(), self.asked.iter().filter(is_missing).count());
        let runs = self.kept.conclude(missing == 0)?;
        let results = read(&self.header, &runs, place)?;
        if let Some(folder) = folder.filter(|_| missing == 0) {
            save_summary(&folder, &results)?;
        }
        Ok(SweepOutcome { results, asked, missing })
    }
}

fn keep(kept: &mut Kept, batch: Batch, progress: &dyn Progress) -> Result<(), SweepError> {
    progress.finished(batch.len());
    kept.add(batch)
}

/// Finished runs as crate `report` has them, so that all statistics come from there. `place` names them in
/// messages.
///
/// # Errors
/// They make no sense.
pub fn read(header: &Header, runs: &Runs, place: &Path) -> Result<Results, ReportError> {
    parse_results(runs.text(header).as_bytes(), &place.display().to_string())
}

/// Writes [`SUMMARY`] into the folder `out`.
///
/// # Errors
/// It cannot be written.
pub fn save_summary(out: &Path, results: &Results) -> Result<(), SweepError> {
    save(&out.join(SUMMARY), Table::of_summaries(results, &[]).to_csv().as_bytes())
}

/// Result file in the folder `out`; without one, its name.
pub fn place_of(out: Option<&Path>) -> PathBuf {
    out.map_or_else(|| RESULTS.into(), |out| out.join(RESULTS))
}

/// Runs that go on at the same time unless somebody says otherwise: one for each processor.
pub fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
