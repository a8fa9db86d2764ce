//! Runs on several threads.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{Finished, RunId, Sweep};
use crate::fabric::RunError;
use crate::simulate::{Measured, Simulation, simulate_prepared};
use skyhaul_scenario::Scenario;

/// Runs that finished at about the same time.
pub type Batch = Vec<Finished>;

/// Finished runs of each thread that may wait to be taken.
const WAITING_RUNS: usize = 4;

/// Runs `todo` on `jobs` threads and hands over what is finished, in any order, to `each` on this thread.
/// Begins no more runs once `stop` is set or `each` fails; those under way are completed and, in the first
/// case, handed over.
///
/// Memory: the networks of `jobs` runs, and what `each` keeps.
pub fn run<E>(
    sweep: &Sweep,
    todo: &[RunId],
    jobs: NonZeroUsize,
    stop: &AtomicBool,
    each: impl FnMut(Batch) -> Result<(), E>,
) -> Result<(), E> {
    run_by(|id| run_one(sweep, id, |_| {}), todo, jobs, stop, each)
}

/// Runs a sweep of runs that are no simulations of a scenario file alone: `one` does a run.
pub fn run_by<E>(
    one: impl Fn(RunId) -> Finished + Sync,
    todo: &[RunId],
    jobs: NonZeroUsize,
    stop: &AtomicBool,
    mut each: impl FnMut(Batch) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let given_up = AtomicBool::new(false);
    let (sender, receiver) = sync_channel(jobs.get() * WAITING_RUNS);
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(todo.len()) {
            let sender = sender.clone();
            let (one, next, given_up) = (&one, &next, &given_up);
            scope.spawn(move || {
                let ends = || stop.load(Ordering::Relaxed) || given_up.load(Ordering::Relaxed);
                work(
                    one,
                    || if ends() { None } else { todo.get(next.fetch_add(1, Ordering::Relaxed)) },
                    &sender,
                );
            });
        }
        drop(sender);
        let result = collect(&receiver, &mut each);
        given_up.store(result.is_err(), Ordering::Relaxed);
        // A thread that waits to hand over a run shall not wait for ever.
        drop(receiver);
        result
    })
}

fn collect<E>(receiver: &Receiver<Finished>, each: &mut impl FnMut(Batch) -> Result<(), E>) -> Result<(), E> {
    while let Ok(first) = receiver.recv() {
        let mut batch = vec![first];
        batch.extend(receiver.try_iter());
        each(batch)?;
    }
    Ok(())
}

fn work<'a>(
    one: &impl Fn(RunId) -> Finished,
    mut next: impl FnMut() -> Option<&'a RunId>,
    sender: &SyncSender<Finished>,
) {
    while let Some(&id) = next() {
        if sender.send(one(id)).is_err() {
            return;
        }
    }
}

/// Does a run of a sweep, after `prepare` was at it: what that adds must not change its results.
pub fn run_one(sweep: &Sweep, id: RunId, prepare: impl FnOnce(&mut Simulation<'_>)) -> Finished {
    let result = caught(|| once(sweep, id, prepare));
    Finished::new(sweep, id, &result)
}

/// Result of a run; a panic is an error of this run alone.
///
/// # Errors
/// Those of `run`, and a panic.
pub fn caught<T>(run: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    // What panics is a network that nobody sees again.
    let result = catch_unwind(AssertUnwindSafe(run));
    result.unwrap_or_else(|panic| Err(RunError(defect(panic.as_ref()))))
}

fn once(
    sweep: &Sweep,
    id: RunId,
    prepare: impl FnOnce(&mut Simulation<'_>),
) -> Result<(Scenario, Measured), RunError> {
    let scenario = sweep.scenario(id.point).map_err(|error| RunError(error.to_string()))?;
    let measured = simulate_prepared(&scenario, sweep.header().seed_of(id), prepare)?;
    Ok((scenario, measured))
}

fn defect(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("a defect of the simulator: {said}")
}
