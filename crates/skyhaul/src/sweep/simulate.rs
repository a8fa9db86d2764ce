//! `skyhaul simulate FILE`.

use std::process::ExitCode;
use std::sync::Arc;

use skyhaul_report::Results;
use skyhaul_sim::scenario::Wanted;
use skyhaul_sim::sweep::Sweep;

use super::args::SimulateArgs;
use super::stoppable::stoppable;
use super::{plot, shown, work};
use crate::failure::Failure;
use crate::output::note;
use crate::scenario_file::load;

/// `skyhaul simulate`.
pub(crate) async fn run(args: SimulateArgs) -> Result<ExitCode, Failure> {
    let file = load(&args.file, &args.overrides())?;
    plot::check(&file, &args.plot)?;
    let sweep = Sweep::new(file)?;
    let args = Arc::new(args);
    let for_work = Arc::clone(&args);
    let done = stoppable(move |stop| work::work(&sweep, &for_work, stop)).await?;
    tell_unmet(&done.results, args.quiet);
    shown::show(&done.results, args.shown)?;
    if let Some(out) = args.out.as_ref().filter(|_| !args.plot.is_empty() && done.is_complete()) {
        plot::write(out, &done.results, &args.plot)?;
    }
    Ok(done.conclude(&args))
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
