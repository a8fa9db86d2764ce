//! `skyhaul simulate FILE`.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use skyhaul_report::Results;
use skyhaul_sim::scenario::{File, MAX_FILE_BYTES, ScenarioError, Wanted};
use skyhaul_sim::sweep::Sweep;

use super::args::SimulateArgs;
use super::stoppable::stoppable;
use super::{plot, shown, work};
use crate::failure::Failure;
use crate::output::note;

/// `skyhaul simulate`.
pub(crate) async fn run(args: SimulateArgs) -> Result<ExitCode, Failure> {
    let file = File::load(&args.file.display().to_string(), &text_of(&args.file)?, &args.overrides());
    let file = file.map_err(|error| bad_scenario(&error))?;
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

fn text_of(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let file = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text));
    match file {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::new(format!("cannot read the scenario '{}': {error}", path.display()))),
    }
}

fn bad_scenario(error: &ScenarioError) -> Failure {
    let message = error.to_string();
    if error.place.starts_with("--set ") { Failure::usage(message) } else { Failure::new(message) }
}
