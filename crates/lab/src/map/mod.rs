//! The controller of a measured rate beside others: cells of rates, round trips, queues and losses, drawn
//! from the axes of a file, each run with our connections and with TCPs in their place.
//!
//! A [`MapOrder`] makes a [`Map`], which says what a run is; [`run_map`] does the runs of a
//! [`SweepBacklog`](crate::sweep::SweepBacklog); [`CellOutcome`] judges what came of a cell; [`tables`] and
//! [`report`] show it.

mod cell;
mod definition;
mod error;
mod measured;
mod outcome;
mod page;
mod plan;
mod sample;

pub use cell::{Cell, Discipline, Hosts, Kind};
pub use definition::MAX_RUNS;
pub use error::MapError;
pub use measured::run_map;
pub use outcome::{CellOutcome, Verdict, outcomes};
pub use page::{cells_table, introduction, report, tables};
pub use plan::{Map, MapOrder};

#[cfg(test)]
mod map_tests;
