//! Scoreboard: everybody on every ready scenario.
//!
//! A [`BoardOrder`] makes a [`Board`], which says what a run is; [`run_simulated`] or [`run_live`] does the
//! runs of a [`SweepBacklog`](crate::sweep::SweepBacklog); [`tables`] and [`report`] show the results.

mod board;
mod cases;
mod contestants;
mod error;
mod measured;
mod page;
mod ready;
mod run;
mod sheet;

pub use board::{Board, BoardOrder};
pub use cases::{CASES, Case, CaseName};
pub use contestants::{Contestant, ContestantName, contestants};
pub use error::BoardError;
pub use page::{introduction, notes, report};
pub use run::{run_live, run_simulated};
pub use sheet::tables;
