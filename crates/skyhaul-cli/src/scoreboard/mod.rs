//! `skyhaul scoreboard`: everybody on every ready scenario.

mod args;
mod table;

use std::process::ExitCode;

use skyhaul_lab::scoreboard::{Board, report, run_live, run_simulated};
use skyhaul_lab::sweep::{SweepBacklog, SweepOutcome, place_of};
use skyhaul_report::{Results, check_report_folder, write_report};

pub(crate) use args::ScoreboardArgs;

use crate::failure::Failure;
use crate::output::{note, print};
use crate::progress::RunsBar;
use crate::race::{end_command, tell, warn_of_busy_machine};
use crate::signals::stop_requested;
use crate::sweep::{show, stoppable, tell_found, tell_interrupted, tell_problems};

pub(crate) async fn run(args: ScoreboardArgs) -> Result<ExitCode, Failure> {
    let board = Board::new(&args.order()?)?;
    args.out.as_deref().map_or(Ok(()), check_report_folder)?;
    let backlog = SweepBacklog::open(&board.header, board.header.runs().collect(), args.out.as_deref())?;
    tell_found(&backlog);
    let bar = RunsBar::of_races(backlog.todo().len(), args.shown.json || args.shown.csv);
    let (board, backlog) = if args.real {
        in_real_time(board, backlog, &bar).await?
    } else {
        in_virtual_time(board, backlog, bar).await?
    };
    conclude(&args, &board, &backlog.conclude(&place_of(args.out.as_deref()))?)
}

async fn in_virtual_time(
    board: Board,
    mut backlog: SweepBacklog,
    bar: RunsBar,
) -> Result<(Board, SweepBacklog), Failure> {
    stoppable(move |stop| {
        run_simulated(&board, &mut backlog, stop, &bar)?;
        Ok((board, backlog))
    })
    .await
}

async fn in_real_time(
    board: Board,
    mut backlog: SweepBacklog,
    bar: &RunsBar,
) -> Result<(Board, SweepBacklog), Failure> {
    warn_of_busy_machine();
    let (warnings, result) = run_live(&board, &mut backlog, end_command, stop_requested(), bar).await;
    tell(&warnings);
    result?;
    Ok((board, backlog))
}

fn conclude(args: &ScoreboardArgs, board: &Board, outcome: &SweepOutcome) -> Result<ExitCode, Failure> {
    let (out, results) = (args.out.as_deref(), &outcome.results);
    if let Some(out) = out.filter(|_| outcome.missing == 0) {
        note(&format!("report: {}", write_report(out, &report(board, results)?)?.display()));
    }
    show_all(args, board, results)?;
    let code = tell_problems(results, false);
    if outcome.missing > 0 {
        tell_interrupted(outcome, out);
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
