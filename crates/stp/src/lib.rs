//! The Satellite Transport Protocol \[STP\] with XSTP's general behaviour [XSTP 3] as a state machine:
//! time and segments go in; segments, events and the next deadline come out. The wire format and
//! the state tables are in `docs/spec/stp.md`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod coding;
mod config;
#[cfg(test)]
mod config_doc_tests;
mod connection;
mod endpoint;
mod probing;
mod receive;
pub mod segment;
mod send;

pub use config::{Config, RetransmitRule, Spread};
pub use connection::State;
pub use endpoint::{Endpoint, EndpointConfig, EndpointStats};
pub use probing::{Baseline, ProbingConfig};
pub use skyhaul_congestion::ControllerKind;
pub use skyhaul_congestion::memory::{SavedPath, Unfit};
