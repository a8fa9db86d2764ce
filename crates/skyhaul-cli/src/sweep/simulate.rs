//! `skyhaul simulate FILE`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use skyhaul_lab::sweep::{SweepBacklog, SweepOutcome, processors};
use skyhaul_lab::{load, standard};
use skyhaul_report::{Results, check_report_folder};
use skyhaul_scenario::Wanted;
use skyhaul_sim::sweep::{RESULTS, Sweep};

use super::args::SimulateArgs;
use super::stoppable::stoppable;
use super::told::{conclude, either, tell_found, tell_troubles};
use super::{captured, plot, shown};
use crate::failure::Failure;
use crate::output::note;
use crate::progress::RunsBar;

/// `skyhaul simulate`.
pub(crate) async fn run(args: SimulateArgs) -> Result<ExitCode, Failure> {
    let file = load(&standard(), &args.file, &args.overrides())?;
    plot::check(&file, &args.plot)?;
    if !args.plot.is_empty() {
        args.out.as_deref().map_or(Ok(()), check_report_folder)?;
    }
    let sweep = Sweep::new(file)?;
    let args = Arc::new(args);
    let for_work = Arc::clone(&args);
    let outcome = stoppable(move |stop| simulate(&sweep, &for_work, stop)).await?;
    let (results, out) = (&outcome.results, args.out.as_deref());
    tell_unmet(results, args.quiet);
    shown::show(results, args.shown)?;
    if let Some(out) = out.filter(|_| !args.plot.is_empty() && outcome.missing == 0) {
        plot::write(out, results, &args.plot)?;
    }
    let troubles = tell_troubles(results, args.quiet);
    Ok(either(troubles, conclude(&outcome, out, args.quiet)))
}

fn simulate(sweep: &Sweep, args: &SimulateArgs, stop: &AtomicBool) -> Result<SweepOutcome, Failure> {
    let mut backlog =
        SweepBacklog::open(sweep.header(), sweep.runs(args.shard).collect(), args.out.as_deref())?;
    if !args.quiet {
        tell_found(&backlog);
    }
    let bar = RunsBar::of_sweep(backlog.todo().len(), args.quiet || args.shown.json);
    let jobs = args.jobs.unwrap_or_else(processors);
    if args.capture.is_wanted() {
        captured::simulate(&mut backlog, sweep, args, |backlog, one| backlog.run_by(one, jobs, stop, &bar))?;
    } else {
        backlog.simulate(sweep, jobs, stop, &bar)?;
    }
    let place = args.out.as_ref().map_or_else(|| args.file.clone(), |out| out.join(RESULTS));
    Ok(backlog.conclude(&place)?)
}

/// Says which names of `metrics.wanted` fit no metric of any run: they may be misspelt.
fn tell_unmet(results: &Results, quiet: bool) {
    let there = results.metrics();
    let finished = results.runs.iter().any(|run| run.error.is_none());
    for pattern in results.header.wanted.iter().filter(|_| finished && !quiet) {
        let wanted = Wanted::new(vec![pattern.clone()]);
        if !there.iter().any(|metric| wanted.matches(metric)) {
            note(&format!(
                "metrics.wanted: no run has a metric '{pattern}'; docs/guide/metrics.md lists them all"
            ));
        }
    }
}
