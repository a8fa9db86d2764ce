//! `skyhaul race FILE`: the same transfer over several transports, one after the other.

mod args;
mod files;
mod judge;
mod limit;
mod object;
mod outcome;
mod plan;
mod progress;
mod racer;
mod simulated;
mod table;

use std::process::ExitCode;

pub(crate) use args::RaceArgs;
use outcome::Row;
use plan::Plan;
use progress::Progress;

use crate::failure::Failure;
use crate::output::print;
use crate::scenario_file::load;
use crate::sweep::stoppable;

pub(crate) async fn run(args: RaceArgs) -> Result<ExitCode, Failure> {
    if !args.simulated {
        return Err(Failure::usage("races in real time are not there yet: add --simulated"));
    }
    let plan = Plan::new(&args, &load(&args.file, &args.overrides())?)?;
    let racing = plan.clone();
    let progress = Progress::new(plan.racers.len() * plan.runs as usize, args.json);
    let rows = stoppable(move |stop| {
        let rows = simulated::race(&racing, stop, &|| progress.advance());
        rows.ok_or_else(|| Failure::new("interrupted: a race that is not over has no result"))
    });
    show(&args, &plan, &rows.await?)
}

fn show(args: &RaceArgs, plan: &Plan, rows: &[Row]) -> Result<ExitCode, Failure> {
    let how = "in virtual time, TCP by skyhaul's own engine";
    if let Some(out) = &args.out {
        files::write(out, plan, rows, how)?;
    }
    print(&if args.json { object::object(plan, rows, "simulated") } else { table::text(plan, rows, how) })?;
    let failed = rows.iter().flat_map(|row| &row.runs).any(|run| run.error.is_some());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
