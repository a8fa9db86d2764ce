//! `skyhaul race FILE`: the same transfer over several transports, one after the other.

mod args;
mod bottleneck;
mod end;
mod files;
mod judge;
mod lab;
mod limit;
mod live;
mod mode;
mod object;
mod outcome;
mod plan;
mod progress;
mod racer;
mod scoreboard;
mod simulated;
mod table;
mod transports;

use std::process::ExitCode;

pub(crate) use args::RaceArgs;
pub(crate) use end::{EndArgs, run as run_end};
use mode::Mode;
use outcome::Row;
use plan::Plan;
use progress::Progress;
pub(crate) use scoreboard::{ScoreboardArgs, run as run_scoreboard};

use crate::failure::Failure;
use crate::output::{note, print};
use crate::scenario_file::load;
use crate::sweep::stoppable;
use crate::wrap::wrapped;

pub(crate) async fn run(args: RaceArgs) -> Result<ExitCode, Failure> {
    let plan = Plan::new(&args, &load(&args.file, &args.overrides())?)?;
    let progress = Progress::new(plan.racers.len() * plan.runs as usize, args.json);
    let (rows, mode) = if args.simulated {
        (simulated(&plan, progress).await?, Mode::Simulated)
    } else {
        let raced = live::race(&plan, &args, &progress).await?;
        drop(progress);
        tell(&raced.warnings);
        (raced.rows, Mode::real_time())
    };
    show(&args, &plan, &rows, &mode)
}

async fn simulated(plan: &Plan, progress: Progress) -> Result<Vec<Row>, Failure> {
    let plan = plan.clone();
    stoppable(move |stop| Ok(simulated::race(&plan, stop, &|| progress.advance()))).await
}

/// Warnings about the machine that are told one by one.
const TOLD_WARNINGS: usize = 5;

fn tell(warnings: &[String]) {
    for warning in warnings.iter().take(TOLD_WARNINGS) {
        note(&wrapped(&format!("WARNING: {warning}"), 0));
    }
    if let Some(more) = warnings.len().checked_sub(TOLD_WARNINGS).filter(|&more| more > 0) {
        note(&format!("... and {more} more runs in which this machine did not keep up"));
    }
}

fn show(args: &RaceArgs, plan: &Plan, rows: &[Row], mode: &Mode) -> Result<ExitCode, Failure> {
    if let Some(out) = &args.out {
        files::write(out, plan, rows, mode)?;
    }
    print(&if args.json { object::object(plan, rows, mode) } else { table::text(plan, rows, mode) })?;
    let (over, all) = (rows.iter().map(|row| row.runs.len()).sum::<usize>(), rows.len() * plan.runs as usize);
    if over < all {
        note(&format!("interrupted: {over} of {all} runs"));
    }
    let failed =
        rows.iter().flat_map(|row| &row.runs).any(|run| run.error.is_some() || run.exchange_error.is_some());
    Ok(if failed || over < all { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
