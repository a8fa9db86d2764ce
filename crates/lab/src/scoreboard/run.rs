//! Runs of the board.

use std::future::Future;
use std::sync::atomic::AtomicBool;

use skyhaul_sim::sweep::SweepError;

use super::board::Board;
use super::measured::{in_virtual_time, transfer};
use crate::Progress;
use crate::race::{EndCommand, LiveRace, RaceError, check_real_time};
use crate::sweep::{SweepBacklog, processors};

/// Does what is to do in virtual time, on all processors, until all is done or `stop` is set. Results do not
/// depend on the number of processors.
///
/// # Errors
/// Finished runs cannot be kept.
pub fn run_simulated(
    board: &Board,
    backlog: &mut SweepBacklog,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<(), SweepError> {
    backlog.run_by(|id| in_virtual_time(board, id), processors(), stop, progress)
}

/// Does what is to do in real time, one run after the other, until all is done or `stop` resolves. Returns
/// remarks about the machine, a line each.
///
/// # Errors
/// There can be no emulation here; somebody cannot race in real time; finished runs cannot be kept. Then
/// there are remarks, too.
pub async fn run_live(
    board: &Board,
    backlog: &mut SweepBacklog,
    end_command: EndCommand,
    stop: impl Future<Output = ()>,
    progress: &dyn Progress,
) -> (Vec<String>, Result<(), RaceError>) {
    let mut warnings = Vec::new();
    let all = async {
        for id in backlog.todo() {
            let (trial, contestant) = board.at(*id);
            check_real_time(&trial.plan, contestant.racer)?;
        }
        for id in backlog.todo().to_vec() {
            let (trial, contestant) = board.at(id);
            let seed = board.header.seed_of(id);
            progress.begun(&format!("{}: {} with seed {seed}", trial.case.name, contestant.name));
            let race = LiveRace { plan: &trial.plan, order: &trial.order, end_command };
            let run = race.run((contestant.racer, seed), &mut warnings).await?;
            backlog.add(transfer(&board.header, id, &run), progress)?;
        }
        Ok(())
    };
    let result = tokio::select! {
        result = all => result,
        () = stop => Ok(()),
    };
    (warnings, result)
}
