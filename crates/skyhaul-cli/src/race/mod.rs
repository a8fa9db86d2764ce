//! `skyhaul race FILE`: the same transfer over several transports, one after the other.

mod args;
mod end;
mod object;
mod table;

use std::path::Path;
use std::process::ExitCode;

use skyhaul_lab::race::{
    LiveRace, RaceMode, RacePlan, RacerRuns, check_results, judge, race_simulated, report, write_results,
};
use skyhaul_lab::{load, standard};
use skyhaul_net::realtime::MachineTrial;
use skyhaul_report::{check_report_folder, write_report};

pub(crate) use args::RaceArgs;
pub(crate) use end::{EndArgs, end_command, run as run_end};

use crate::failure::Failure;
use crate::output::{note, print};
use crate::progress::RunsBar;
use crate::signals::stop_requested;
use crate::sweep::stoppable;
use crate::wrap::wrapped;

pub(crate) async fn run(args: RaceArgs) -> Result<ExitCode, Failure> {
    let order = args.order();
    args.out.as_deref().map_or(Ok(()), check_report_folder)?;
    let plan = RacePlan::new(&order, &load(&standard(), &order.file, &order.set)?)?;
    args.out.as_deref().map_or(Ok(()), |out| check_results(out, &plan))?;
    let bar = RunsBar::of_races(plan.racers.len() * plan.runs as usize, args.json);
    let (rows, mode) = if args.simulated {
        (simulated(&plan, bar).await?, RaceMode::Simulated)
    } else {
        warn_of_busy_machine();
        let race = LiveRace { plan: &plan, order: &order, end_command };
        let raced = race.race(stop_requested(), &bar).await?;
        drop(bar);
        tell(&raced.warnings);
        (raced.rows, RaceMode::real_time())
    };
    show(&args, &plan, &rows, &mode)
}

async fn simulated(plan: &RacePlan, bar: RunsBar) -> Result<Vec<RacerRuns>, Failure> {
    let plan = plan.clone();
    stoppable(move |stop| Ok(race_simulated(&plan, stop, &bar))).await
}

/// Most warnings about the machine that are told one by one.
const TOLD_WARNINGS: usize = 5;

/// Tells, before anything runs in real time, if this machine is too busy for it.
pub(crate) fn warn_of_busy_machine() {
    if let Some(warning) = MachineTrial::run().warning() {
        note(&wrapped(&format!("WARNING: {warning}"), 0));
    }
}

/// Tells what there is to say about the machine.
pub(crate) fn tell(warnings: &[String]) {
    for warning in warnings.iter().take(TOLD_WARNINGS) {
        note(&wrapped(&format!("WARNING: {warning}"), 0));
    }
    if let Some(more) = warnings.len().checked_sub(TOLD_WARNINGS).filter(|&more| more > 0) {
        note(&format!("... and {more} more runs in which this machine did not keep up"));
    }
}

fn show(args: &RaceArgs, plan: &RacePlan, rows: &[RacerRuns], mode: &RaceMode) -> Result<ExitCode, Failure> {
    if let Some(out) = &args.out {
        write(out, plan, rows, mode)?;
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

/// Numbers, pictures and page of a race, into the folder `out`.
fn write(out: &Path, plan: &RacePlan, rows: &[RacerRuns], mode: &RaceMode) -> Result<(), Failure> {
    let results = write_results(out, plan, rows)?;
    let mut report = report(plan, rows, &results, mode)?;
    report.introduction.extend(table::firsts(&judge(rows)).lines().map(String::from));
    note(&format!("report: {}", write_report(out, &report)?.display()));
    Ok(())
}
