//! The Satellite Transport Protocol \[STP\] with XSTP's general behaviour [XSTP 3] as a state machine:
//! time and segments go in; segments, events and the next deadline come out.
//!
//! - [`Endpoint`]: all connections behind one carrier; [`manual::driving`] says how it is driven.
//! - [`Config`]: parameters of a connection, of use today ([`Config::standard`]) and of the papers
//!   ([`Config::paper`]).
//! - [`segment`]: the wire format.
//! - [`manual::protocol`]: the protocol in one page. [`manual::bounds`]: what is kept, and how much of it.
//!
//! Programs use the crate `skyhaul`, which has streams for tokio, and this engine with parameters in groups.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod allowance;
mod call;
mod coding;
mod config;
#[cfg(test)]
mod config_doc_tests;
mod connection;
mod endpoint;
pub mod manual;
mod probing;
mod receive;
mod retry;
pub mod segment;
mod send;

pub use config::{Config, RetransmitRule, Spread};
pub use connection::{Origin, State, TIMERS, TRANSITIONS, Transition};
pub use endpoint::{Endpoint, EndpointConfig, EndpointStats, MtuSearch};
pub use probing::{Baseline, ProbingConfig};
pub use skyhaul_congestion::ControllerKind;
pub use skyhaul_congestion::memory::{SavedPath, Unfit};
