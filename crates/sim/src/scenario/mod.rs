//! Scenarios: what one run simulates, and the files that users write them in.

mod check;
mod error;
mod file;
mod keys;
mod kinds;
mod model;
mod nearest;
mod path;
mod reference;
mod resolve;
mod sweep;
mod tables;
mod trace;
mod tree;
mod wanted;
mod way;

#[cfg(test)]
mod error_tests;
#[cfg(test)]
mod extremes_tests;
#[cfg(test)]
mod fields_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod ready_tests;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod robust_tests;

pub use error::ScenarioError;
pub use file::{File, MAX_FILE_BYTES, MAX_POINTS, Point, Settings};
pub use model::{
    Carrier, DEFAULT_MAX_EVENTS, DEFAULT_MAX_MEMORY_BYTES, Flow, LinkBetween, Metrics, Node, NodeKind, Route,
    Scenario, Stop, Transport, WebLoad, Workload,
};
pub use nearest::did_you_mean;
pub use reference::reference;
pub use sweep::{Axis, Label};
pub use trace::{MAX_TRACE_BYTES, MAX_TRACE_ROWS};
pub use wanted::Wanted;
