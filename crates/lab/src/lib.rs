//! The laboratory: transports set beside each other, with skyhaul's own measure for all of them.
//!
//! - [`race`]: one transfer of a scenario, carried by several transports, in virtual or in real time.
//! - [`scoreboard`]: every transport on every ready scenario.
//! - [`papers`]: the figures of a paper drawn anew, its claims beside what was measured.
//! - [`map`]: the controller of a measured rate beside others, in some hundred cells.
//! - [`sweep`]: what is missing of a sweep, run; what is finished, kept and read.
//! - [`Acquaintance`]: keys that are made for one run, sealed.
//! - [`transfer`]: the parts of a transfer's result that every command names in the same way.
//!
//! [`standard`] is the register of the protocol families that ship: what carries flows, and who races, is
//! known by a register alone.
//!
//! Everything here is data: plans, runs, verdicts, tables. Arguments and texts for a terminal are the command
//! line's. Rooms use each other in one direction: `papers` and `scoreboard` use `race` and `sweep`, `map`
//! uses `sweep`; those use `transfer`.
#![forbid(unsafe_code)]

mod acquaintance;
mod load;
pub mod map;
mod names;
pub mod papers;
mod progress;
pub mod race;
mod ready;
mod register;
pub mod scoreboard;
pub mod sweep;
pub mod transfer;

pub use acquaintance::{Acquaintance, MODE};
pub use load::{LoadError, load};
pub use names::UnknownName;
pub use progress::Progress;
pub use ready::ready_names;
pub use register::standard;
