//! Sweeps: every point of a scenario file, several times each, and the result files that hold what came of
//! it.
//!
//! A run is known by its point and its replication, and its line in the result file depends on nothing else.
//! So the file is the same for any number of threads, for any division into shards, and for a sweep that was
//! resumed.

mod error;
mod folder;
mod header;
mod line;
mod merge;
mod plan;
mod pool;
mod runs;
mod save;
mod side_files;

#[cfg(test)]
mod folder_tests;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod problem_tests;
#[cfg(test)]
mod sweep_tests;

pub use error::SweepError;
pub use folder::{Folder, PARTIAL, RESULTS};
pub use header::{FORMAT, Header, HeaderAxis, RunId};
pub use line::Finished;
pub use merge::merge;
pub use plan::{MAX_RUNS, MAX_SHARDS, Shard, Sweep};
pub use pool::{Batch, caught, run, run_by, run_one};
pub use runs::Runs;
pub use save::save;
pub use side_files::{LADDERS, SERIES, SideFile};
