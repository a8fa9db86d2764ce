//! All runs of all cells.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::arguments::Plan;
use crate::cells::Cell;
use crate::emulated::{Course, emulated};
use crate::outcome::{Outcome, Simulated, simulated};
use crate::row::{Row, Run, SHIFT_NS, percent};

/// One seed of one cell, simulated already.
struct Job<'a> {
    cell: &'a Cell,
    seed: u64,
    simulated: Simulated,
    shifted: Outcome,
}

/// Simulates everything first, so that it disturbs nothing, then emulates.
pub(crate) fn run(plan: &Plan) -> Result<Vec<Row>, String> {
    let jobs: Vec<Job<'_>> = plan.cells.iter().flat_map(jobs).collect::<Result<_, _>>()?;
    let mut runs = emulate(&jobs, plan)?.into_iter();
    let row = |cell: &Cell| Row {
        name: cell.name.clone(),
        bound: cell.bound,
        runs: runs.by_ref().take(cell.seeds as usize).collect(),
    };
    Ok(plan.cells.iter().map(row).collect())
}

fn jobs(cell: &Cell) -> impl Iterator<Item = Result<Job<'_>, String>> {
    let seeds = (0..u64::from(cell.seeds)).map(|run| cell.seed.wrapping_add(run));
    let slower = cell.slower(SHIFT_NS);
    seeds.map(move |seed| {
        let shifted = simulated(&slower, seed)?.outcome;
        Ok(Job { cell, seed, simulated: simulated(cell, seed)?, shifted })
    })
}

/// A few at a time; the results are in the order of the jobs.
fn emulate(jobs: &[Job<'_>], plan: &Plan) -> Result<Vec<Run>, String> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some((place, job)) = take(jobs, &next) {
            let run = job.run(plan.patience);
            let failed = run.is_err();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, run));
            if failed {
                next.store(jobs.len(), Ordering::Relaxed); // nobody begins another one
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..plan.together {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, run)| run).collect()
}

fn take<'a, 'b>(jobs: &'a [Job<'b>], next: &AtomicUsize) -> Option<(usize, &'a Job<'b>)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(place).map(|job| (place, job))
}

impl Job<'_> {
    /// Runs until the machine is no excuse for the difference, or patience is at its end.
    fn run(&self, patience: u32) -> Result<Run, String> {
        let mut repeats = 0;
        loop {
            let emulated = emulated(self.cell, self.seed)?;
            self.tell(&emulated);
            let run = Run {
                seed: self.seed,
                simulated: self.simulated.outcome,
                length: self.simulated.round_trips,
                shifted: self.shifted,
                emulated,
                repeats,
            };
            let has_excuse =
                run.emulated.disturbance.is_some() && self.cell.bound.is_broken_by(run.difference());
            if !has_excuse || repeats == patience {
                return Ok(run);
            }
            repeats += 1;
        }
    }

    fn tell(&self, course: &Course) {
        let [simulated, emulated] = [&self.simulated.outcome, &course.outcome].map(Outcome::goodput_bps);
        let disturbed =
            course.disturbance.as_ref().map_or_else(String::new, |why| format!("; disturbed: {why}"));
        eprintln!(
            "{} seed {}: simulated {:.4}, emulated {:.4} Mbit/s, {:+.3} %{disturbed}",
            self.cell.name,
            self.seed,
            simulated / 1e6,
            emulated / 1e6,
            percent(simulated, emulated),
        );
    }
}
