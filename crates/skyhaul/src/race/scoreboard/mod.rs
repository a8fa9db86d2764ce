//! `skyhaul scoreboard`: everybody on every ready scenario.

mod args;
mod board;
mod cases;
mod contestants;
mod files;
mod measured;
mod ready;
mod real;
mod sheet;
mod table;

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use skyhaul_report::Results;
use skyhaul_sim::sweep::{RESULTS, RunId, Runs, run_by};

pub(crate) use args::ScoreboardArgs;
use board::Board;

use super::progress::Progress;
use crate::failure::Failure;
use crate::output::{note, print};
use crate::sweep::{
    Kept, parsed, processors, save_summary, show, stoppable, tell_interrupted, tell_problems,
};

pub(crate) async fn run(args: ScoreboardArgs) -> Result<ExitCode, Failure> {
    let board = Board::new(&args)?;
    let asked: Vec<RunId> = board.header.runs().collect();
    let kept = Kept::open(args.out.as_deref(), &board.header)?;
    let todo = kept.missing(&asked, false);
    let progress = Progress::new(todo.len(), args.shown.json || args.shown.csv);
    let (board, kept) = if args.real {
        real::run(board, kept, &todo, &progress).await?
    } else {
        stoppable(move |stop| simulated(board, kept, &todo, &progress, stop)).await?
    };
    conclude(&args, &board, &kept.conclude(&asked)?, asked.len())
}

/// All of it, on all processors: what comes out does not depend on how many there are.
fn simulated(
    board: Board,
    mut kept: Kept,
    todo: &[RunId],
    progress: &Progress,
    stop: &AtomicBool,
) -> Result<(Board, Kept), Failure> {
    run_by(
        |id| measured::in_virtual_time(&board, id),
        todo,
        processors(),
        stop,
        |batch| {
            for _ in &batch {
                progress.advance();
            }
            kept.add(batch)
        },
    )?;
    Ok((board, kept))
}

fn conclude(args: &ScoreboardArgs, board: &Board, runs: &Runs, asked: usize) -> Result<ExitCode, Failure> {
    let out = args.out.as_deref();
    let place = out.map_or_else(|| RESULTS.into(), |out| out.join(RESULTS));
    let results = parsed(&board.header, runs, &place)?;
    let is_complete = runs.len() == asked;
    if let Some(out) = out.filter(|_| is_complete) {
        save_summary(out, &results)?;
        note(&format!("report: {}", files::write(out, board, &results)?.display()));
    }
    show_all(args, board, &results)?;
    let code = tell_problems(&results, false);
    if !is_complete {
        tell_interrupted(runs.len(), asked, out);
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
}

fn show_all(args: &ScoreboardArgs, board: &Board, results: &Results) -> Result<(), Failure> {
    if args.shown.json || args.shown.csv {
        return show(results, args.shown);
    }
    print(&table::text(board, results))
}
