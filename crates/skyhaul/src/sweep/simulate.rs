//! `skyhaul simulate FILE`.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use skyhaul_sim::scenario::{File, MAX_FILE_BYTES, ScenarioError};
use skyhaul_sim::sweep::Sweep;

use super::args::SimulateArgs;
use super::{plot, shown, work};
use crate::failure::Failure;
use crate::output::note;
use crate::signals::stop_requested;

/// `skyhaul simulate`.
pub(crate) async fn run(args: SimulateArgs) -> Result<ExitCode, Failure> {
    let file = File::load(&args.file.display().to_string(), &text_of(&args.file)?, &args.overrides());
    let file = file.map_err(|error| bad_scenario(&error))?;
    plot::check(&file, &args.plot)?;
    let sweep = Sweep::new(file)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (args, seen) = (Arc::new(args), Arc::clone(&stop));
    let for_work = Arc::clone(&args);
    let mut work = tokio::task::spawn_blocking(move || work::work(&sweep, &for_work, &seen));
    let result = tokio::select! {
        result = &mut work => result,
        () = stop_requested() => {
            stop.store(true, Ordering::Relaxed);
            note("stopping when the runs that are under way are done; once more stops at once");
            tokio::select! {
                result = &mut work => result,
                // Finished runs are on the disk already, if there is a folder for them.
                () = stop_requested() => std::process::exit(1),
            }
        }
    };
    let done = result.map_err(|error| Failure::new(format!("a defect: {error}")))??;
    shown::show(&done.results, args.shown)?;
    if let Some(out) = args.out.as_ref().filter(|_| !args.plot.is_empty() && done.is_complete()) {
        plot::write(out, &done.results, &args.plot)?;
    }
    Ok(done.conclude(&args))
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
