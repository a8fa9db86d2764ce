//! `skyhaul simulate`, `merge` and `report`: sweeps and what comes of them.

mod args;
mod bar;
mod merge;
mod object;
mod plot;
mod report;
mod shown;
mod simulate;
mod stoppable;
mod work;

pub(crate) use args::{MergeArgs, ReportArgs, ShownArgs, SimulateArgs};
pub(crate) use merge::run as merge;
pub(crate) use report::run as report;
pub(crate) use simulate::run as simulate;
pub(crate) use stoppable::stoppable;
pub(crate) use work::save_summary;
pub(crate) use work::work as finish;
