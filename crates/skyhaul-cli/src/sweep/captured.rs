//! `simulate --capture`: the packets of one run of a sweep.

use skyhaul_lab::sweep::SweepBacklog;
use skyhaul_sim::RunCapture;
use skyhaul_sim::sweep::{Finished, RunId, Sweep, SweepError, run_one};

use super::args::SimulateArgs;
use crate::failure::Failure;
use crate::output::note;

/// Does the runs that are to do by way of `run`, and captures the first of all. One that was finished before
/// is done again for it.
pub(super) fn simulate(
    backlog: &mut SweepBacklog,
    sweep: &Sweep,
    args: &SimulateArgs,
    run: impl FnOnce(&mut SweepBacklog, &(dyn Fn(RunId) -> Finished + Sync)) -> Result<(), SweepError>,
) -> Result<(), Failure> {
    let Some(first) = sweep.runs(args.shard).next() else { return Ok(()) };
    let scenario = sweep.scenario(first.point).map_err(|error| Failure::new(error.to_string()))?;
    let (capture, interfaces) = args.capture.start("skyhaul simulate", &scenario)?;
    let inlet = capture.inlet();
    let one = |id: RunId| {
        run_one(sweep, id, |simulation| {
            if let Some(inlet) = inlet.clone().filter(|_| id == first) {
                simulation.set_capture(RunCapture::new(inlet, interfaces.clone()));
            }
        })
    };
    if backlog.asked() > 1 && !args.quiet {
        let (point, seed) = (first.point, sweep.header().seed_of(first));
        note(&format!("the capture is of the first run alone: point {point}, seed {seed}"));
    }
    if !backlog.todo().contains(&first) {
        one(first);
    }
    let done = run(backlog, &one);
    capture.finish();
    Ok(done?)
}
