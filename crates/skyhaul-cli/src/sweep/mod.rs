//! `skyhaul simulate`, `merge` and `report`: sweeps and what comes of them.

mod args;
mod captured;
mod merge;
mod object;
mod plot;
mod report;
mod shown;
mod simulate;
mod stoppable;
mod told;

pub(crate) use args::{MergeArgs, ReportArgs, ShownArgs, SimulateArgs, key_and_value};
pub(crate) use merge::run as merge;
pub(crate) use report::run as report;
pub(crate) use shown::show;
pub(crate) use simulate::run as simulate;
pub(crate) use stoppable::stoppable;
pub(crate) use told::{conclude, tell_found, tell_interrupted, tell_problems};
