//! Remarks on runs: what is there already, what failed, what is missing.

use std::path::Path;
use std::process::ExitCode;

use skyhaul_lab::sweep::{SweepBacklog, SweepOutcome};
use skyhaul_report::Results;
use skyhaul_report::results::Run;

use crate::output::note;

/// Failed runs that are told one by one.
const TOLD_PROBLEMS: usize = 10;

/// Says what is finished already, if something is.
pub(crate) fn tell_found(backlog: &SweepBacklog) {
    if let Some((there, folder)) = backlog.found() {
        note(&format!("{there} of {} runs are in '{}' already", backlog.asked(), folder.display()));
    }
}

/// Says what is missing or failed, unless all is well; the exit code.
pub(crate) fn conclude(outcome: &SweepOutcome, out: Option<&Path>, quiet: bool) -> ExitCode {
    let code = tell_problems(&outcome.results, quiet);
    if outcome.missing == 0 {
        return code;
    }
    tell_interrupted(outcome, out);
    ExitCode::FAILURE
}

/// Says what there is of runs that were asked for.
pub(crate) fn tell_interrupted(outcome: &SweepOutcome, out: Option<&Path>) {
    let kept = match out {
        Some(out) => format!("they are kept in '{}': the same command goes on", out.display()),
        None => "with --out DIR they would be kept, to go on later".to_string(),
    };
    let (there, asked) = (outcome.asked - outcome.missing, outcome.asked);
    note(&format!("interrupted: {there} of {asked} runs are finished; {kept}"));
}

/// Says which runs failed, the first ones one by one; the exit code.
pub(crate) fn tell_problems(results: &Results, quiet: bool) -> ExitCode {
    let failed: Vec<_> = results.failed().map(|run| (run, run.error.as_deref())).collect();
    tell(&failed, quiet, &format!("of {} runs failed; they count nowhere", results.runs.len()))
}

/// Says in which runs that count a flow did not work, the first ones one by one; the exit code. The time of
/// a run that is over, and a transfer that it cuts off, are results.
pub(super) fn tell_troubles(results: &Results, quiet: bool) -> ExitCode {
    let troubled: Vec<_> = results.troubled().map(|run| (run, run.trouble.as_deref())).collect();
    let runs = results.runs.len();
    tell(&troubled, quiet, &format!("of {runs} runs have flows that did not work; what they measured counts"))
}

/// Says of each of these runs why, and how many they are; the exit code.
fn tell(runs: &[(&Run, Option<&str>)], quiet: bool, all: &str) -> ExitCode {
    if runs.is_empty() {
        return ExitCode::SUCCESS;
    }
    let shown = if quiet { 0 } else { TOLD_PROBLEMS };
    for (run, why) in runs.iter().take(shown) {
        let why = why.unwrap_or_default();
        note(&format!("point {} replication {} (seed {}): {why}", run.point, run.replication, run.seed));
    }
    note(&format!("skyhaul: {} {all}", runs.len()));
    ExitCode::FAILURE
}

/// The exit code of both: that of the first unless it has none.
pub(super) fn either(first: ExitCode, second: ExitCode) -> ExitCode {
    if first == ExitCode::SUCCESS { second } else { first }
}
