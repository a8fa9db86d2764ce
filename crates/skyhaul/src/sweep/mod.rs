//! `skyhaul simulate`, `merge` and `report`: sweeps and what comes of them.

mod args;
mod bar;
mod kept;
mod merge;
mod object;
mod plot;
mod report;
mod shown;
mod simulate;
mod stoppable;
mod work;

pub(crate) use args::{MergeArgs, ReportArgs, ShownArgs, SimulateArgs};
pub(crate) use kept::Kept;
pub(crate) use merge::run as merge;
pub(crate) use report::run as report;
pub(crate) use shown::{parsed, show};
pub(crate) use simulate::run as simulate;
pub(crate) use stoppable::stoppable;
pub(crate) use work::work as finish;
pub(crate) use work::{processors, save_summary, tell_interrupted, tell_problems};
